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

/// The problem of one lane, whose sets are sets[num] with places start[num] in x.G, as problem i of
/// a queue.
template <class Real>
inline void copy_problem(const LaneScene& s,
                         const LaneParameters<Real>& parameters,
                         const LaneScratch<Real>& x,
                         const PackWork<Real>& w,
                         int lane,
                         const int* sets,
                         const int* start,
                         int num,
                         int i,
                         const DenseProblem<Real>& p) {
  constexpr int W = lane_width<Real>;
  const double* from = numbers(x.G) + lane;
  double* G = numbers(p.G) + i;
  const int stride = used_rows(s, w), rows = p.rows();
  double floor = 0.0;
  int row = 0;
  for (int a = 0; a < num; ++a) {
    const int set = sets[a], dim = set_dim(s, set), o = set_offset(s, set);
    for (int r = 0; r < dim; ++r, ++row) {
      const int at = row_of_set(dim, r);
      const double* own = from + (start[a] + at) * stride * W;
      int column = 0;
      for (int b = 0; b <= a; ++b) {
        const int cols = set_dim(s, sets[b]), last = b < a ? cols : r + 1;
        for (int c = 0; c < last; ++c, ++column)
          G[(row * rows + column) * W] = own[(start[b] + row_of_set(cols, c)) * W];
      }
      numbers(p.g)[row * W + i] = numbers(x.g)[(o + at) * W + lane];
      numbers(p.lambda)[row * W + i] = numbers(w.lambda)[(o + at) * W + lane];
    }
    const double own_floor = numbers(x.floor)[set * W + lane];
    floor = own_floor > floor ? own_floor : floor;
    if (set < s.num_slots) {
      numbers(p.mu)[a * W + i] = numbers(parameters.friction)[s.slots[set].pair * W + lane];
      continue;
    }
    const LaneRow& joint = s.rows[set - s.num_slots];
    const int j = a - p.cones;
    double lower = 0.0, upper = __builtin_inf();
    if (joint.kind == LaneRow::Kind::kDryFriction) {
      upper = s.rules.dt * numbers(parameters.dry_friction)[joint.dof * W + lane];
      lower = -upper;
    }
    numbers(p.lower)[j * W + i] = lower;
    numbers(p.upper)[j * W + i] = upper;
  }
  numbers(p.floor)[i] = floor;
  pad(p, row, i);
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
  const double* active = numbers(w.active);
  for (int lane = 0; lane < W; ++lane) {
    if (exit[lane] != LaneExit::kStepped) continue;
    int sets[kMaxLaneSets], start[kMaxLaneSets], cones = 0, scalars = 0;
    bool fits = true;
    for (int k = 0, row = 0; k < w.num_used && fits; row += set_dim(s, w.used[k++])) {
      const int set = w.used[k];
      if (!(active[set * W + lane] > 0.0)) continue;
      sets[cones + scalars] = set;
      start[cones + scalars] = row;
      ++(set < s.num_slots ? cones : scalars);
      fits = cones <= kMaxLaneCones && scalars <= kMaxLaneScalars && cones + scalars < kMaxLaneSets;
    }
    numbers(w.contacts)[lane] = cones;
    numbers(w.scalars)[lane] = scalars;
    numbers(w.relative)[lane] = 0.0;
    if (!fits) exit[lane] = LaneExit::kManyRows;
    if (!fits || cones + scalars == 0) continue;
    LaneQueue<Real>& q = queues[cones * most_classes(s) + scalar_class(scalars)];
    const int i = q.count++;
    q.pack[i] = index;
    q.lane[i] = lane;
    for (int k = 0; k < cones + scalars; ++k) q.sets[i * kMaxLaneSets + k] = sets[k];
    copy_problem(s, p, x, w, lane, sets, start, cones + scalars, i, q.problem);
    if (q.count == W) solve_queue(s, q, dense, packs);
  }
}

}  // namespace STICTION_ISA
}  // namespace stiction
