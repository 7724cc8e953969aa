#pragma once

#include "dynamics/tree_layout.hpp"
#include "solver/common/compliance_limit.hpp"
#include "solver/common/pgs_kernel.hpp"
#include "solver/dense/wide_rows.hpp"

namespace stiction {
inline namespace STICTION_ISA {

/// A number that is known to the compiler.
template <int N>
struct Count {
  constexpr operator int() const { return N; }
};

/// Largest problems: of packs, where the work grows with the cube of the rows though most of them
/// hold still, and of one world, where only those that move count.
inline constexpr int kMaxPackRows = 24, kMaxDenseRows = 64;

/// The course of dense_solve(): Newton steps from a good start, then the limit of vanishing
/// compliance, near it or by turns of sweeps and steps, then turns. What two turns have not solved
/// needs better starts: more sweeps.
inline constexpr int kDenseTurns = 5, kFirstTurns = 2, kSoftTurns = 2, kWarmSweeps = 4,
                     kWarmSteps = 2, kDenseSteps = 8, kStepsNear = 3, kRigidSteps = 3;
constexpr int sweeps_of_turn(int turn) { return turn < kFirstTurns ? 4 : 24; }
/// What it takes at most.
inline constexpr int kMostDenseSweeps = 1 + kWarmSweeps +
                                        (kSoftTurns + kFirstTurns) * sweeps_of_turn(0) +
                                        (kDenseTurns - kFirstTurns) * sweeps_of_turn(kFirstTurns),
                     kMostStiffSteps = kNumStiffShares * (1 + kRigidSteps), kMostLeastSteps = 2,
                     kMostDenseSteps = kWarmSteps + (1 + kSoftTurns + kDenseTurns) * kDenseSteps +
                                       2 * kMostLeastSteps +
                                       kNumStiffShares * (kStepsNear + kDenseSteps) +
                                       2 * kMostStiffSteps;

/// Row r of a set in a dense problem is this one of the set: [n t1 t2] of [t1 t2 n].
constexpr int row_of_set(int dim, int r) { return dim == 3 ? (r + 2) % 3 : r; }

/// Rows of one dimension are padded to a multiple, by rows of zeros.
inline constexpr int kScalarClass = 4;
constexpr int scalar_class(int scalars) { return (scalars + kScalarClass - 1) / kScalarClass; }

/// Rows of a problem with its padding, which a NaN makes move like others.
inline constexpr int kMostPaddedRows = kMaxDenseRows + kScalarClass - 1;

/// Whether a problem, with its padding, is never one of a pack.
constexpr bool is_never_packed(int rows) { return rows > kMaxPackRows + kScalarClass - 1; }

/// c = G lambda + g of `cones` contacts, three rows each, then `scalars` rows whose impulse lies
/// between two bounds; each lane a problem of its own. Rows of a contact are [n t1 t2], in the
/// order of elimination: the normal is never singular where the tangents of a sliding contact may
/// be.
template <class Real>
struct DenseProblem {
  int cones, scalars;
  Real* G;  ///< [rows x stride] symmetric, by columns; zero behind the last row
  Real* g;
  Real* mu;             ///< [cones]
  Real *lower, *upper;  ///< [scalars]
  Real* arm;            ///< [scalars] ConstraintSet::arm
  Real* lambda;         ///< in: warm start, out: solution
  Real* floor;          ///< [1] rounding of the velocities [m/s]
  Real* scale;          ///< [1] ContactProblem::velocity_scale
  Real* valid;          ///< [1] 1: the lane holds a problem
  Real* relative;       ///< [1] out: Residuals::relative of lambda
  int rows() const { return 3 * cones + scalars; }
  int stride() const { return dense_stride<Real>(rows()); }
};

template <class Real>
constexpr int dense_problem_size(int cones, int scalars) {
  const int rows = 3 * cones + scalars, stride = dense_stride<Real>(rows);
  return rows * stride + 2 * stride + cones + 3 * scalars + 4;
}

template <class Real>
inline DenseProblem<Real> take_dense_problem(int cones, int scalars, Arena<Real>& arena) {
  const int rows = 3 * cones + scalars, stride = dense_stride<Real>(rows);
  const auto take = [&](int n) { return arena.template take<Real>(n); };
  DenseProblem<Real> p;
  p.cones = cones;
  p.scalars = scalars;
  p.G = take(rows * stride);
  p.g = take(stride);
  p.lambda = take(stride);
  p.mu = take(cones);
  p.lower = take(scalars);
  p.upper = take(scalars);
  p.arm = take(scalars);
  p.floor = take(1);
  p.scale = take(1);
  p.valid = take(1);
  p.relative = take(1);
  return p;
}

/// Scratch of a solve.
template <class Real>
struct DenseWork {
  Real *D, *inverse_D;                                       ///< [rows] lambda = D l
  Real *c, *moved, *l, *trial, *held, *step, *best, *first;  ///< [rows]
  Real *matrix, *rhs;                                        ///< [rows x stride], [rows]
  Real* lower;            ///< [rows x stride] multipliers of the elimination, where they are kept
  Real* moving;           ///< [rows] D where the step may change lambda
  Real* factored;         ///< [rows] moving in the system that matrix has the triangle of
  Real* slides;           ///< [cones]
  ConeStep<Real>* cones;  ///< [cones]
  Real* inverse;          ///< [scalars] of the diagonal
  Real proximal{0.0};     ///< term of Newton's systems
  /// The proximal term of the triangle in matrix, where a large world may use it again; else 0.
  Real factored_proximal{0.0};
  double compliance = 0.0;            ///< R = compliance / D^2 beside G
  Real weakest{0.0};                  ///< largest inverse pivot of the last of Newton's systems
  Real settled{0.0};                  ///< 1: its modes are those at l, and nothing slides
  int num_sweeps = 0, num_steps = 0;  ///< of the pack in this solve
  bool velocity_known = false;        ///< c is that of the problem's lambda
  bool has_lower = false;             ///< `lower` belongs to the triangle in matrix
  /// R of a row; by D it is the same share of each set, in units in which cones are unit cones.
  Real compliance_of(int r) const { return Real(compliance) * inverse_D[r] * inverse_D[r]; }
};

template <class Real>
constexpr int dense_work_size(int cones, int scalars) {
  const int rows = 3 * cones + scalars, stride = dense_stride<Real>(rows);
  return 2 * rows * stride + 13 * stride + (1 + 11) * cones + scalars;
}

template <class Real>
inline DenseWork<Real> take_dense_work(int cones, int scalars, Arena<Real>& arena) {
  static_assert(reals_in<ConeStep<Real>, Real>() <= 11);
  const int rows = 3 * cones + scalars, stride = dense_stride<Real>(rows);
  const auto take = [&](int n) { return arena.template take<Real>(n); };
  DenseWork<Real> w;
  Real** const of_rows[] = {&w.D,
                            &w.inverse_D,
                            &w.c,
                            &w.moved,
                            &w.l,
                            &w.trial,
                            &w.held,
                            &w.step,
                            &w.best,
                            &w.first,
                            &w.rhs,
                            &w.moving,
                            &w.factored};
  for (Real** x : of_rows) *x = take(stride);
  w.matrix = take(rows * stride);
  w.lower = take(rows * stride);
  w.slides = take(cones);
  w.cones = arena.template take<ConeStep<Real>>(cones);
  w.inverse = take(scalars);
  return w;
}

/// Doubles of any problem of one world with its scratch.
constexpr int most_dense_doubles() {
  int most = 0;
  for (int cones = 0; 3 * cones <= kMaxDenseRows; ++cones) {
    const int scalars = kScalarClass * scalar_class(kMaxDenseRows - 3 * cones);
    const int size =
        dense_problem_size<double>(cones, scalars) + dense_work_size<double>(cones, scalars);
    most = size > most ? size : most;
  }
  return most;
}

/// The numbers of a problem that are known to the compiler: Cones contacts and nothing else, or
/// (-1) any.
template <class Real, int Cones>
struct DenseShape {
  const DenseProblem<Real>& p;
  int cones() const { return Cones >= 0 ? Cones : p.cones; }
  int scalars() const { return Cones >= 0 ? 0 : p.scalars; }
  int rows() const { return 3 * cones() + scalars(); }
  int stride() const { return dense_stride<Real>(rows()); }
};

/// c = G lambda + g.
template <class Real, int Cones>
inline void dense_velocity(const DenseShape<Real, Cones>& s, const Real* lambda, Real* c) {
  const int rows = s.rows(), cones = s.cones();
  if constexpr (lane_width<Real> == 1) {
    add_wide_columns(rows, s.stride(), s.p.G, lambda, s.p.g, c);
    return;
  }
  const auto add = [&](int first, auto count) {
    const Real* G = s.p.G + first * rows;
    Real sum[count];
    for (int r = 0; r < count; ++r) sum[r] = s.p.g[first + r];
    for (int k = 0; k < rows; ++k) {
      for (int r = 0; r < count; ++r) sum[r] += G[r * rows + k] * lambda[k];
    }
    for (int r = 0; r < count; ++r) c[first + r] = sum[r];
  };
  for (int i = 0; i < cones; ++i) add(3 * i, Count<3>{});
  for (int r = 3 * cones; r < rows; r += 4) add(r, Count<4>{});
}

/// The velocity with the compliance of w: c = (G + R) lambda + g.
template <class Real, int Cones>
inline void compliant_velocity(const DenseShape<Real, Cones>& s,
                               const DenseWork<Real>& w,
                               const Real* lambda,
                               Real* c) {
  dense_velocity(s, lambda, c);
  if (w.compliance == 0.0) return;
  for (int r = 0; r < s.rows(); ++r) c[r] += w.compliance_of(r) * lambda[r];
}

}  // namespace STICTION_ISA
}  // namespace stiction
