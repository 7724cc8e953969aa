#pragma once

#include "simulator/lanes/lane_impacts.hpp"
#include "simulator/lanes/lane_rows.hpp"
#include "solver/dense/dense_outcome.hpp"
#include "solver/dense/dense_solve.hpp"

// Problems of the same size from any worlds of a chunk are solved together. A world's problem holds
// exactly its own active sets, padded to a class of scalar rows: which worlds share its pack
// changes nothing. Problems of many rows, most of which hold still, are solved world by world.

namespace stiction {
inline namespace STICTION_ISA {

inline constexpr int kMaxLaneSets = kMaxLaneCones + kMaxLaneScalars;

/// Contacts of problems for packs, and classes of their scalar rows: 0, 1 .. 4, 5 .. 8 and so on.
inline constexpr int kMaxPackCones = kMaxPackRows / 3;
constexpr int most_cones(const LaneScene& s) {
  return num_cones(s) < kMaxPackCones ? num_cones(s) : kMaxPackCones;
}
constexpr int most_classes(const LaneScene& s) {
  const int most = s.num_rows < kMaxPackRows ? s.num_rows : kMaxPackRows;
  return scalar_class(most) + 1;
}
/// Whether problems of so many contacts and such a class of rows are for packs.
constexpr bool has_queue(int cones, int scalars) {
  return 3 * cones + kScalarClass * (scalars - 1) < kMaxPackRows;
}
/// Doubles for a problem that is not.
template <class Real>
constexpr int doubles_alone(const LaneScene& s) {
  const bool some = lane_width<Real> == 1 || 3 * most_cones(s) + s.num_rows > kMaxPackRows;
  return some ? most_dense_doubles() : 0;
}
/// One world alone has none.
template <class Real>
constexpr int num_queues(const LaneScene& s) {
  return lane_width<Real> == 1 ? 0 : (most_cones(s) + 1) * most_classes(s);
}

template <class Real>
inline void take_queues(const LaneScene& s,
                        Arena<Real>& arena,
                        int*& indices,
                        LaneQueue<Real>* queues) {
  constexpr int W = lane_width<Real>;
  if constexpr (W == 1) return;
  for (int n = 0; n <= most_cones(s); ++n) {
    for (int c = 0; c < most_classes(s); ++c) {
      LaneQueue<Real>& q = queues[n * most_classes(s) + c];
      q.count = 0;
      if (!has_queue(n, c)) continue;
      q.problem = take_dense_problem(n, kScalarClass * c, arena);
      q.pack = indices;
      q.lane = q.pack + W;
      q.sets = q.lane + W;
      indices = q.sets + W * kMaxLaneSets;
    }
  }
}

/// Solution i of a problem goes back to a lane of its world.
template <class To, class Real>
inline void take_solution(const LaneScene& s,
                          const DenseProblem<To>& p,
                          int i,
                          const int* sets,
                          int lane,
                          PackWork<Real>& w) {
  constexpr int W = lane_width<Real>, T = lane_width<To>;
  const double* lambda = numbers(p.lambda);
  double* out = numbers(w.lambda);
  const int num = p.cones + static_cast<int>(numbers(w.scalars)[lane]);
  for (int k = 0, row = 0; k < num; ++k) {
    const int o = set_offset(s, sets[k]), dim = set_dim(s, sets[k]);
    for (int r = 0; r < dim; ++r, ++row)
      out[(o + row_of_set(dim, r)) * W + lane] = lambda[row * T + i];
  }
  numbers(w.relative)[lane] = numbers(p.relative)[i];
}

/// Keeps the solution of a world alone.
inline void record_solution(const LaneScene& s,
                            const int* sets,
                            const DenseProblem<double>& p,
                            const DenseWork<double>& dense,
                            LaneRecord& record) {
  record.solved = dense_outcome(p, s.rules.tolerance, dense);
  for (int k = 0, row = 0; k < record.num_used; ++k) {
    const int o = set_offset(s, sets[k]), dim = set_dim(s, sets[k]);
    for (int r = 0; r < dim; ++r, ++row) {
      record.impulse[o + row_of_set(dim, r)] = p.lambda[row];
      record.velocity[o + row_of_set(dim, r)] = dense.c[row];
    }
  }
}

/// The upper triangle from the lower one, and what lies behind the last row.
template <class Real>
inline void complete_matrix(const DenseProblem<Real>& p) {
  const int rows = p.rows(), stride = p.stride();
  for (int r = 0; r < rows; ++r) {
    for (int k = r + 1; k < rows; ++k) p.G[r * stride + k] = p.G[k * stride + r];
    for (int k = rows; k < stride; ++k) p.G[r * stride + k] = Real(0.0);
  }
}

/// Impulses and certificates go back to the worlds, the queue is empty.
template <class Real>
inline void solve_queue(const LaneScene& s,
                        LaneQueue<Real>& q,
                        DenseWork<Real>& dense,
                        PackWork<Real>* packs) {
  constexpr int W = lane_width<Real>;
  const DenseProblem<Real>& p = q.problem;
  for (int i = 0; i < W; ++i) numbers(p.valid)[i] = i < q.count ? 1.0 : 0.0;
  complete_matrix(p);
  dense_solve(p, s.rules.tolerance, dense);
  bool impacts = false;
  for (int i = 0; i < q.count; ++i) {
    PackWork<Real>& w = packs[q.pack[i]];
    take_solution(s, p, i, q.sets + i * kMaxLaneSets, q.lane[i], w);
    impacts = impacts || is_judged(s, q.lane[i], w);
  }
  if (impacts) {
    dense_velocity(DenseShape<Real, -1>{p}, p.lambda, dense.c);
    for (int i = 0; i < q.count; ++i)
      judge_impacts(s, p, dense.c, i, q.sets + i * kMaxLaneSets, q.lane[i], packs[q.pack[i]]);
  }
  q.count = 0;
}

/// Rows that no set has: nothing moves them, and residuals do not see them.
template <class Real>
inline void pad(const DenseProblem<Real>& p, int first, int i) {
  constexpr int W = lane_width<Real>;
  double *G = numbers(p.G), *g = numbers(p.g), *lambda = numbers(p.lambda),
         *lower = numbers(p.lower), *upper = numbers(p.upper), *arm = numbers(p.arm);
  for (int r = first; r < p.rows(); ++r) {
    for (int k = 0; k <= r; ++k) G[(r * p.stride() + k) * W + i] = 0.0;
    const int j = r - 3 * p.cones;
    g[r * W + i] = lambda[r * W + i] = lower[j * W + i] = upper[j * W + i] = 0.0;
    arm[j * W + i] = 1.0;
  }
}

/// Where the numbers of one lane lie: its sets, and their first rows in x.G.
struct LaneSets {
  int lane, cones, scalars;
  int set[kMaxLaneSets], start[kMaxLaneSets];
};

/// A block of G of two sets, RowDim x ColDim, in the order of a dense problem; the entries of one
/// world are W, and there T apart.
template <int RowDim, int ColDim, int W, int T>
inline void copy_block(const double* from, int from_stride, double* to, int to_stride) {
  for (int r = 0; r < RowDim; ++r) {
    for (int c = 0; c < ColDim; ++c)
      to[(r * to_stride + c) * T] =
          from[(row_of_set(RowDim, r) * from_stride + row_of_set(ColDim, c)) * W];
  }
}

/// The lower blocks of G of one lane, as problem i.
template <class To, class Real>
inline void copy_delassus(const LaneScratch<Real>& x,
                          const PackWork<Real>& w,
                          const LaneSets& sets,
                          int i,
                          const DenseProblem<To>& p) {
  constexpr int W = lane_width<Real>, T = lane_width<To>;
  const int stride = w.stride, out = p.stride(), scalar = 3 * sets.cones;
  const auto from = [&](int a, int b) {
    return numbers(x.G) + (sets.start[a] * stride + sets.start[b]) * W + sets.lane;
  };
  const auto to = [&](int r, int c) { return numbers(p.G) + (r * out + c) * T + i; };
  for (int a = 0; a < sets.cones; ++a) {
    for (int b = 0; b <= a; ++b) copy_block<3, 3, W, T>(from(a, b), stride, to(3 * a, 3 * b), out);
  }
  for (int j = 0; j < sets.scalars; ++j) {
    const int a = sets.cones + j;
    for (int b = 0; b < sets.cones; ++b)
      copy_block<1, 3, W, T>(from(a, b), stride, to(scalar + j, 3 * b), out);
    for (int k = 0; k <= j; ++k) *to(scalar + j, scalar + k) = *from(a, sets.cones + k);
  }
}

/// Bounds of the impulse of a joint's row.
struct LaneBounds {
  double lower, upper;
};
template <class Real>
inline LaneBounds bounds_of(const LaneScene& s,
                            const LaneParameters<Real>& p,
                            const LaneRow& row,
                            int lane) {
  if (row.kind != LaneRow::Kind::kDryFriction) return {0.0, __builtin_inf()};
  const double most = s.rules.dt * numbers(p.dry_friction)[row.dof * lane_width<Real> + lane];
  return {-most, most};
}

/// The problem of one lane as problem i of a pack, or of one world.
template <class To, class Real>
inline void copy_problem(const LaneScene& s,
                         const LaneParameters<Real>& parameters,
                         const LaneScratch<Real>& x,
                         const PackWork<Real>& w,
                         const LaneSets& sets,
                         int i,
                         const DenseProblem<To>& p) {
  constexpr int W = lane_width<Real>, T = lane_width<To>;
  const double *g = numbers(x.g) + sets.lane, *lambda = numbers(w.lambda) + sets.lane;
  double floor = 0.0;
  int row = 0;
  for (int a = 0; a < sets.cones + sets.scalars; ++a) {
    const int set = sets.set[a], dim = a < sets.cones ? 3 : 1, o = set_offset(s, set);
    for (int r = 0; r < dim; ++r, ++row) {
      numbers(p.g)[row * T + i] = g[(o + row_of_set(dim, r)) * W];
      numbers(p.lambda)[row * T + i] = lambda[(o + row_of_set(dim, r)) * W];
    }
    const double own_floor = numbers(x.floor)[set * W + sets.lane];
    floor = own_floor > floor ? own_floor : floor;
    if (a < sets.cones) {
      numbers(p.mu)[a * T + i] =
          numbers(parameters.friction)[material_of(s, set, w) * W + sets.lane];
      continue;
    }
    const LaneBounds bounds = bounds_of(s, parameters, joint_row(s, set), sets.lane);
    const int j = a - sets.cones;
    numbers(p.arm)[j * T + i] = numbers(w.arm)[(set - num_cones(s)) * W + sets.lane];
    numbers(p.lower)[j * T + i] = bounds.lower;
    numbers(p.upper)[j * T + i] = bounds.upper;
  }
  numbers(p.floor)[i] = floor;
  numbers(p.scale)[i] = numbers(w.scale)[sets.lane];
  pad(p, row, i);
  for (int r = p.rows(); r < p.stride(); ++r) numbers(p.g)[r * T + i] = 0.0;
}

/// The problem of one lane by the instance of one world, in `memory`.
template <class Real>
inline void solve_alone(const LaneScene& s,
                        const LaneParameters<Real>& parameters,
                        const LaneScratch<Real>& x,
                        const LaneSets& sets,
                        double* memory,
                        PackWork<Real>& w) {
  Arena<double> arena{memory};
  const int scalars = kScalarClass * scalar_class(sets.scalars);
  DenseProblem<double> p = take_dense_problem(sets.cones, scalars, arena);
  DenseWork<double> dense = take_dense_work(sets.cones, scalars, arena);
  copy_problem(s, parameters, x, w, sets, 0, p);
  p.valid[0] = 1.0;
  if constexpr (lane_width<Real> == 1) {
    p.G = x.G;
  } else {
    copy_delassus(x, w, sets, 0, p);
    complete_matrix(p);
  }
  dense_solve(p, s.rules.tolerance, dense);
  if constexpr (lane_width<Real> == 1) {
    if (w.record != nullptr) record_solution(s, sets.set, p, dense, *w.record);
  }
  take_solution(s, p, 0, sets.set, sets.lane, w);
  if (!is_judged(s, sets.lane, w)) return;
  dense_velocity(DenseShape<double, -1>{p}, p.lambda, dense.c);
  judge_impacts(s, p, dense.c, 0, sets.set, sets.lane, w);
}

/// The active sets of a lane; false if they are too many.
template <class Real>
inline bool find_sets(const LaneScene& s, const PackWork<Real>& w, LaneSets& out) {
  constexpr int W = lane_width<Real>;
  const double* active = numbers(w.active) + out.lane;
  out.cones = out.scalars = 0;
  for (int k = 0, row = 0; k < w.num_used; ++k) {
    const int set = w.used[k], at = out.cones + out.scalars;
    const bool cone = is_cone(s, set);
    if (active[set * W] > 0.0) {
      if (cone ? out.cones == kMaxLaneCones : out.scalars == kMaxLaneScalars) return false;
      out.set[at] = set;
      out.start[at] = row;
      ++(cone ? out.cones : out.scalars);
    }
    row += cone ? 3 : 1;
  }
  return true;
}

/// Gives the problems of a pack's lanes that are still stepped to their queues, and solves those
/// that are full; those of many rows at once.
template <class Real>
inline void enqueue(const LaneScene& s,
                    const LaneParameters<Real>& p,
                    LaneScratch<Real>& x,
                    int index,
                    LaneExit* exit,
                    PackWork<Real>* packs,
                    LaneQueue<Real>* queues,
                    DenseWork<Real>& dense,
                    double* alone) {
  constexpr int W = lane_width<Real>;
  PackWork<Real>& w = packs[index];
  for (int lane = 0; lane < W; ++lane) {
    if (exit[lane] != LaneExit::kStepped) continue;
    LaneSets sets;
    sets.lane = lane;
    if (!find_sets(s, w, sets)) {
      exit[lane] = LaneExit::kManyRows;
      continue;
    }
    numbers(w.contacts)[lane] = sets.cones;
    numbers(w.scalars)[lane] = sets.scalars;
    const int num = sets.cones + sets.scalars;
    if (num == 0) continue;
    if (W == 1 || 3 * sets.cones + sets.scalars > kMaxPackRows) {
      solve_alone(s, p, x, sets, alone, w);
      continue;
    }
    LaneQueue<Real>& q = queues[sets.cones * most_classes(s) + scalar_class(sets.scalars)];
    const int i = q.count++;
    q.pack[i] = index;
    q.lane[i] = lane;
    for (int k = 0; k < num; ++k) q.sets[i * kMaxLaneSets + k] = sets.set[k];
    copy_problem(s, p, x, w, sets, i, q.problem);
    copy_delassus(x, w, sets, i, q.problem);
    if (q.count == W) solve_queue(s, q, dense, packs);
  }
}

}  // namespace STICTION_ISA
}  // namespace stiction
