#pragma once

#include "batch/dense_solve.hpp"
#include "batch/lane_rows.hpp"

// Problems of the same size from any worlds of a chunk are solved together. A world's problem holds
// exactly its own active sets, padded to a class of scalar rows: which worlds share its pack
// changes nothing.

namespace stiction {
inline namespace STICTION_ISA {

inline constexpr int kMaxLaneSets = kMaxLaneCones + kMaxLaneScalars;

/// Classes of scalar rows of a scene: 0, 1 .. 4, 5 .. 8 and so on.
constexpr int most_cones(const LaneScene& s) {
  return s.num_slots < kMaxLaneCones ? s.num_slots : kMaxLaneCones;
}
constexpr int scalar_class(int scalars) { return (scalars + kScalarClass - 1) / kScalarClass; }
constexpr int most_classes(const LaneScene& s) {
  const int most = s.num_rows < kMaxLaneScalars ? s.num_rows : kMaxLaneScalars;
  return scalar_class(most) + 1;
}
constexpr int num_queues(const LaneScene& s) { return (most_cones(s) + 1) * most_classes(s); }

template <class Real>
inline void take_queues(const LaneScene& s,
                        Arena<Real>& arena,
                        int*& indices,
                        LaneQueue<Real>* queues) {
  constexpr int W = lane_width<Real>;
  for (int n = 0; n <= most_cones(s); ++n) {
    for (int c = 0; c < most_classes(s); ++c) {
      LaneQueue<Real>& q = queues[n * most_classes(s) + c];
      q.problem = take_dense_problem(n, kScalarClass * c, arena);
      q.count = 0;
      q.pack = indices;
      q.lane = q.pack + W;
      q.sets = q.lane + W;
      indices = q.sets + W * kMaxLaneSets;
    }
  }
}

/// Row r of a set in a dense problem is this one of the set: [n t1 t2] of [t1 t2 n].
constexpr int row_of_set(int dim, int r) { return dim == 3 ? (r + 2) % 3 : r; }

/// Impulses and certificates go back to the worlds, the queue is empty.
template <class Real>
inline void scatter(const LaneScene& s, LaneQueue<Real>& q, PackWork<Real>* packs) {
  constexpr int W = lane_width<Real>;
  const double* lambda = numbers(q.problem.lambda);
  const double* relative = numbers(q.problem.relative);
  for (int i = 0; i < q.count; ++i) {
    PackWork<Real>& w = packs[q.pack[i]];
    const int lane = q.lane[i];
    const int* sets = q.sets + i * kMaxLaneSets;
    double* out = numbers(w.lambda);
    const int num = q.problem.cones + static_cast<int>(numbers(w.scalars)[lane]);
    int row = 0;
    for (int k = 0; k < num; ++k) {
      const int o = set_offset(s, sets[k]), dim = set_dim(s, sets[k]);
      for (int r = 0; r < dim; ++r, ++row)
        out[(o + row_of_set(dim, r)) * W + lane] = lambda[row * W + i];
    }
    numbers(w.relative)[lane] = relative[i];
  }
  q.count = 0;
}

template <class Real>
inline void solve_queue(const LaneScene& s,
                        LaneQueue<Real>& q,
                        DenseWork<Real>& dense,
                        PackWork<Real>* packs) {
  constexpr int W = lane_width<Real>;
  const DenseProblem<Real>& p = q.problem;
  const int rows = p.rows();
  for (int i = 0; i < W; ++i) numbers(p.valid)[i] = i < q.count ? 1.0 : 0.0;
  for (int r = 0; r < rows; ++r) {
    for (int k = r + 1; k < rows; ++k) p.G[r * rows + k] = p.G[k * rows + r];
  }
  dense_solve(p, s.rules.tolerance, dense);
  scatter(s, q, packs);
}

/// Rows that no set has: they stay zero.
template <class Real>
inline void pad(const DenseProblem<Real>& p, int first, int i) {
  constexpr int W = lane_width<Real>;
  double *G = numbers(p.G), *g = numbers(p.g), *lambda = numbers(p.lambda),
         *lower = numbers(p.lower), *upper = numbers(p.upper);
  const int rows = p.rows();
  for (int r = first; r < rows; ++r) {
    for (int k = 0; k <= r; ++k) G[(r * rows + k) * W + i] = r == k ? 1.0 : 0.0;
    const int j = r - 3 * p.cones;
    g[r * W + i] = lambda[r * W + i] = lower[j * W + i] = upper[j * W + i] = 0.0;
  }
}

/// Where the numbers of one lane lie: its sets, and their first rows in x.G.
struct LaneSets {
  int lane, cones, scalars;
  int set[kMaxLaneSets], start[kMaxLaneSets];
};

/// A block of G of two sets, RowDim x ColDim, in the order of a dense problem.
template <int RowDim, int ColDim, int W>
inline void copy_block(const double* from, int from_stride, double* to, int to_stride) {
  for (int r = 0; r < RowDim; ++r) {
    for (int c = 0; c < ColDim; ++c)
      to[(r * to_stride + c) * W] =
          from[(row_of_set(RowDim, r) * from_stride + row_of_set(ColDim, c)) * W];
  }
}

/// The lower blocks of G of one lane, as problem i.
template <class Real>
inline void copy_delassus(const LaneScratch<Real>& x,
                          const PackWork<Real>& w,
                          const LaneSets& sets,
                          int i,
                          const DenseProblem<Real>& p) {
  constexpr int W = lane_width<Real>;
  const int stride = w.num_rows, rows = p.rows(), scalar = 3 * sets.cones;
  const auto from = [&](int a, int b) {
    return numbers(x.G) + (sets.start[a] * stride + sets.start[b]) * W + sets.lane;
  };
  const auto to = [&](int r, int c) { return numbers(p.G) + (r * rows + c) * W + i; };
  for (int a = 0; a < sets.cones; ++a) {
    for (int b = 0; b <= a; ++b) copy_block<3, 3, W>(from(a, b), stride, to(3 * a, 3 * b), rows);
  }
  for (int j = 0; j < sets.scalars; ++j) {
    const int a = sets.cones + j;
    for (int b = 0; b < sets.cones; ++b)
      copy_block<1, 3, W>(from(a, b), stride, to(scalar + j, 3 * b), rows);
    for (int k = 0; k <= j; ++k) *to(scalar + j, scalar + k) = *from(a, sets.cones + k);
  }
}

/// The problem of one lane as problem i of a queue.
template <class Real>
inline void copy_problem(const LaneScene& s,
                         const LaneParameters<Real>& parameters,
                         const LaneScratch<Real>& x,
                         const PackWork<Real>& w,
                         const LaneSets& sets,
                         int i,
                         const DenseProblem<Real>& p) {
  constexpr int W = lane_width<Real>;
  const double *g = numbers(x.g) + sets.lane, *lambda = numbers(w.lambda) + sets.lane;
  double floor = 0.0;
  int row = 0;
  copy_delassus(x, w, sets, i, p);
  for (int a = 0; a < sets.cones + sets.scalars; ++a) {
    const int set = sets.set[a], dim = a < sets.cones ? 3 : 1, o = set_offset(s, set);
    for (int r = 0; r < dim; ++r, ++row) {
      numbers(p.g)[row * W + i] = g[(o + row_of_set(dim, r)) * W];
      numbers(p.lambda)[row * W + i] = lambda[(o + row_of_set(dim, r)) * W];
    }
    const double own_floor = numbers(x.floor)[set * W + sets.lane];
    floor = own_floor > floor ? own_floor : floor;
    if (a < sets.cones) {
      numbers(p.mu)[a * W + i] = numbers(parameters.friction)[s.slots[set].pair * W + sets.lane];
      continue;
    }
    const LaneRow& joint = s.rows[set - s.num_slots];
    const int j = a - sets.cones;
    double lower = 0.0, upper = __builtin_inf();
    if (joint.kind == LaneRow::Kind::kDryFriction) {
      upper = s.rules.dt * numbers(parameters.dry_friction)[joint.dof * W + sets.lane];
      lower = -upper;
    }
    numbers(p.lower)[j * W + i] = lower;
    numbers(p.upper)[j * W + i] = upper;
  }
  numbers(p.floor)[i] = floor;
  pad(p, row, i);
}

/// The active sets of a lane; false if they are too many.
template <class Real>
inline bool find_sets(const LaneScene& s, const PackWork<Real>& w, LaneSets& out) {
  constexpr int W = lane_width<Real>;
  const double* active = numbers(w.active) + out.lane;
  out.cones = out.scalars = 0;
  for (int k = 0, row = 0; k < w.num_used; ++k) {
    const int set = w.used[k], at = out.cones + out.scalars;
    const bool cone = set < s.num_slots;
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
/// that are full.
template <class Real>
inline void enqueue(const LaneScene& s,
                    const LaneParameters<Real>& p,
                    LaneScratch<Real>& x,
                    int index,
                    LaneExit* exit,
                    PackWork<Real>* packs,
                    LaneQueue<Real>* queues,
                    DenseWork<Real>& dense) {
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
    LaneQueue<Real>& q = queues[sets.cones * most_classes(s) + scalar_class(sets.scalars)];
    const int i = q.count++;
    q.pack[i] = index;
    q.lane[i] = lane;
    for (int k = 0; k < num; ++k) q.sets[i * kMaxLaneSets + k] = sets.set[k];
    copy_problem(s, p, x, w, sets, i, q.problem);
    if (q.count == W) solve_queue(s, q, dense, packs);
  }
}

}  // namespace STICTION_ISA
}  // namespace stiction
