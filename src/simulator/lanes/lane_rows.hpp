#pragma once

#include "simulator/lanes/lane_place_rows.hpp"

// Rows of the sets that any lane has, Y = D^-1/2 L^-T J^T, G = Y^T Y and g, in the order of sums of
// contact/rows_by_dof.cpp.

namespace stiction {
inline namespace STICTION_ISA {

/// 1 of a lower limit and dry friction, -1 of an upper limit.
inline double sign_of(const LaneRow& row) { return row.kind == LaneRow::Kind::kUpper ? -1.0 : 1.0; }
template <class Real>
inline Real limit_of(const LaneParameters<Real>& p, const LaneRow& row) {
  return row.kind == LaneRow::Kind::kLower ? p.lower[row.dof] : p.upper[row.dof];
}

/// Which limits are within reach and which joints have dry friction, with their gaps. Returns the
/// lanes in which a joint is far out of its limits.
template <class Real>
inline Mask<Real> lane_joint_rows(const LaneScene& s,
                                  const LaneParameters<Real>& p,
                                  const Real* q,
                                  const Real* v,
                                  LaneScratch<Real>& x,
                                  PackWork<Real>& w) {
  const Real zero(0.0), one(1.0), dt(s.rules.dt);
  Mask<Real> out = one < zero;
  for (int j = 0; j < s.num_rows; ++j) {
    const LaneRow& row = s.rows[j];
    const int set = num_cones(s) + j;
    if (row.kind == LaneRow::Kind::kDryFriction) {
      w.active[set] = select(p.dry_friction[row.dof] > zero, one, zero);
      continue;
    }
    out = out | (p.lower[row.dof] >= p.upper[row.dof]);  // locked: one row, append_lock()
    const Real gap = limit_gap(sign_of(row), q[row.q], limit_of(p, row));
    const Mask<Real> near = gap <= limit_reach(s.rules.limit_margin, v[row.dof], dt);
    w.active[set] = select(near, one, zero);
    x.gap[set] = gap;
    if (!any(near)) continue;
    const double cap = limit_cap(s.rules.caps, row.linear);
    out = out | (near & (gap_reference(s.rules.baumgarte, cap, gap, dt) > Real(kFarOut * cap)));
  }
  return out;
}

/// Lanes in which a joint ends beyond a limit that was out of reach, jumps_a_limit() of the
/// simulator; `v` is that of the end.
template <class Real>
inline Mask<Real> jump_limits(const LaneScene& s,
                              const LaneParameters<Real>& p,
                              const Real* q,
                              const Real* v,
                              const PackWork<Real>& w) {
  const Real zero(0.0), dt(s.rules.dt);
  Mask<Real> out = Real(1.0) < zero;
  for (int j = 0; j < s.num_rows; ++j) {
    const LaneRow& row = s.rows[j];
    if (row.kind == LaneRow::Kind::kDryFriction) continue;
    const Mask<Real> unseen = negated(w.active[num_cones(s) + j] > zero);
    const Real gap = limit_gap(sign_of(row), q[row.q], limit_of(p, row));
    out = out | (unseen & gap_closes(gap, Real(sign_of(row)) * v[row.dof], dt));
  }
  return out;
}

/// J of a set that is no place, J v, and the rounding of c* and J v. Flat, whoever else calls what
/// it calls.
template <class Real>
[[gnu::flatten]] inline void lane_jacobian(const LaneScene& s,
                                           int set,
                                           const Real* q,
                                           const Real* v,
                                           const LaneParameters<Real>& p,
                                           LaneScratch<Real>& x,
                                           PackWork<Real>& w) {
  const TreeView& t = s.tree;
  const int last = set_dof(s, set), o = set_offset(s, set);
  const Real dt(s.rules.dt), zero(0.0);
  Real* rows = w.y + set_start(s, set);
  if (set < s.num_slots) {
    const LaneSlot& slot = s.slots[set];
    const RigidTransform<Real>& X = w.data.X_WR;
    const Vec3<Real> point = x.point[set];
    point_rows(t,
               w.data,
               last,
               transpose_times(X.R, point - X.p),
               transpose_times(X.R, w.frame[set]),
               Real(slot.body_is_a ? -1.0 : 1.0),
               rows);
    const Mask<Real> pivot =
        is_in_pivot(t, last, p.tree.mass[slot.body], p.tree.inertia[slot.body], rows);
    if (any(pivot)) {  // leaves as one that nothing moves
      for (int k = 0; k < 3 * (t.depth[last] + 1); ++k) rows[k] = select(pivot, zero, rows[k]);
    }
    for (int r = 0; r < 3; ++r) x.jv[o + r] = zero;
    rows_times<3>(t, last, rows, v, x.jv + o);
    const Real arm = largest_of(point - X.p), speed = size_of_velocity(w.data.V[slot.body], arm);
    x.floor[set] = rounding_of(max(largest_of(point), arm), dt, speed);
    return;
  }
  const LaneRow& row = joint_row(s, set);
  const Real sign(sign_of(row));
  for (int m = 0; m < t.depth[last]; ++m) rows[m] = zero;
  rows[t.depth[last]] = sign;
  x.jv[o] = sign * v[last];
  if (row.kind == LaneRow::Kind::kDryFriction) {
    const Real arm = largest_of(w.data.X_RB[row.body].p);
    const Real speed = size_of_velocity(w.data.V[row.body], arm);
    x.floor[set] = joint_floor(speed, w.scale[0]);
    return;
  }
  const Real size = max(abs(q[row.q]), abs(limit_of(p, row)));
  x.floor[set] = coordinate_floor(size, dt, abs(x.jv[o]));
}

/// Whitens a set and adds Y^T (D^-1/2 w) to J v: the free velocity, in g.
template <int Dim, class Real>
inline void whiten_set(const LaneScene& s, int set, LaneScratch<Real>& x, PackWork<Real>& w) {
  const TreeView& t = s.tree;
  const int last = set_dof(s, set), o = set_offset(s, set);
  const int* chain = t.chain + t.row[last];
  Real* rows = w.y + set_start(s, set);
  whiten_rows<Dim>(t, w.data, last, rows);
  Real sum[Dim];
  for (int r = 0; r < Dim; ++r) sum[r] = Real(0.0);
  for (int m = 0; m <= t.depth[last]; ++m) {
    const Real root = w.root[chain[m]], free = root * w.w[chain[m]];
    for (int r = 0; r < Dim; ++r) {
      rows[Dim * m + r] *= root;
      sum[r] += rows[Dim * m + r] * free;
    }
  }
  for (int r = 0; r < Dim; ++r) x.g[o + r] = x.jv[o + r] + sum[r];
}

/// Block of G of two sets over the dofs that their chains share.
template <int Rows, int Cols, class Real>
inline void lane_block(int common, const Real* a, const Real* b, int stride, Real* G) {
  Real sum[Rows * Cols];
  for (int k = 0; k < Rows * Cols; ++k) sum[k] = Real(0.0);
  for (int m = 0; m < common; ++m) {
    for (int r = 0; r < Rows; ++r) {
      for (int c = 0; c < Cols; ++c) sum[Cols * r + c] += a[Rows * m + r] * b[Cols * m + c];
    }
  }
  for (int r = 0; r < Rows; ++r) {
    for (int c = 0; c < Cols; ++c) G[r * stride + c] = sum[Cols * r + c];
  }
}

/// Dofs that the chains of two sets share, which are no places.
inline int common_dofs(const LaneScene& s, int a, int b) {
  const TreeView& t = s.tree;
  const int shared = s.common_length[set_body(s, a) * t.num_bodies + set_body(s, b)];
  const int la = t.depth[set_dof(s, a)] + 1, lb = t.depth[set_dof(s, b)] + 1;
  const int least = la < lb ? la : lb;
  return shared < least ? shared : least;
}

/// The lower blocks of G, of two sets that a lane has together; `Places`: some may be places.
template <bool Places, class Real>
[[gnu::flatten]] inline void lane_delassus(const LaneScene& s,
                                           LaneScratch<Real>& x,
                                           const PackWork<Real>& w) {
  const int stride = w.stride;
  for (int i = 0, row = 0; i < w.num_used; row += set_dim(s, w.used[i++])) {
    const int a = w.used[i];
    const Real* ya = w.y + set_start(s, a);
    for (int j = 0, column = 0; j <= i; column += set_dim(s, w.used[j++])) {
      const int b = w.used[j];
      if (!any(w.active[a] * w.active[b] > Real(0.0))) continue;
      Real* G = x.G + row * stride + column;
      if (Places && (is_place(s, a) || is_place(s, b))) {
        block_with_place(s, a, b, w, stride, G);
        continue;
      }
      const int common = common_dofs(s, a, b);
      const Real* yb = w.y + set_start(s, b);
      if (set_dim(s, a) == 3) {
        lane_block<3, 3>(common, ya, yb, stride, G);
      } else if (set_dim(s, b) == 3) {
        lane_block<1, 3>(common, ya, yb, stride, G);
      } else {
        lane_block<1, 1>(common, ya, yb, stride, G);
      }
    }
  }
}

/// Y of one world by dofs, for which the rows are the lanes: what its sets have, Y or J^T, in the
/// order of the dense problem, and which groups of eight rows each dof moves.
inline void gather_by_dof(const LaneScene& s, LaneScratch<double>& x, const PackWork<double>& w) {
  const TreeView& t = s.tree;
  for (int k = 0; k < t.nv * w.stride; k += kWide) wide(x.by_dof + k) = Wide{};
  for (int k = 0; k < t.nv; ++k) x.touched[k] = 0;
  for (int i = 0, row = 0; i < w.num_used; ++i) {
    const int set = w.used[i], dim = set_dim(s, set);
    const unsigned groups = 1u << row / 8 | 1u << (row + dim - 1) / 8;
    const auto [dofs, length] = chain_of(s, set, w);
    const double* y = w.y + set_start(s, set);
    for (int m = 0; m < length; ++m, y += dim) {
      double* out = x.by_dof + dofs[m] * w.stride + row;
      for (int r = 0; r < dim; ++r) out[r] = y[row_of_set(dim, r)];
      x.touched[dofs[m]] |= groups;
    }
    row += dim;
  }
}

/// Whether the sets of a world are whitened together: where it is alone and they are many.
template <class Real>
constexpr bool whitens_by_dof(int rows) {
  return lane_width<Real> == 1 && rows > kMaxPackRows;
}

/// J^T -> Y = D^-1/2 L^-T J^T, from the leaves to the root: whiten_rows() of all sets at once.
inline void whiten_by_dof(const TreeView& t, const PackWork<double>& w, LaneScratch<double>& x) {
  for (int k = t.nv - 1; k >= 0; --k) {
    const int* chain = t.chain + t.row[k];
    const double* l = w.data.L + t.row[k];
    for (int group = 0; group < w.stride / 8; ++group) {
      if ((x.touched[k] >> group & 1u) == 0) continue;
      for (int c = 8 * group; c < 8 * group + 8; c += kWide) {
        double* own = x.by_dof + k * w.stride + c;
        const Wide y = wide(own);
        for (int m = 0; m < t.depth[k]; ++m) wide(x.by_dof + chain[m] * w.stride + c) -= y * l[m];
        wide(own) = y * w.root[k];
      }
    }
  }
}

/// Y goes back to its sets, with the free velocity J v + Y^T (D^-1/2 w).
inline void scatter_to_sets(const LaneScene& s, LaneScratch<double>& x, PackWork<double>& w) {
  const TreeView& t = s.tree;
  for (int c = 0; c < w.stride; c += kWide) {
    Wide sum{};
    for (int k = 0; k < t.nv; ++k) sum += wide(x.by_dof + k * w.stride + c) * (w.root[k] * w.w[k]);
    wide(x.free + c) = sum;
  }
  for (int i = 0, row = 0; i < w.num_used; ++i) {
    const int set = w.used[i], dim = set_dim(s, set), o = set_offset(s, set);
    const auto [dofs, length] = chain_of(s, set, w);
    double* y = w.y + set_start(s, set);
    for (int m = 0; m < length; ++m, y += dim) {
      const double* from = x.by_dof + dofs[m] * w.stride + row;
      for (int r = 0; r < dim; ++r) y[row_of_set(dim, r)] = from[r];
    }
    for (int r = 0; r < dim; ++r) {
      const int at = o + row_of_set(dim, r);
      x.g[at] = x.jv[at] + x.free[row + r];
    }
    row += dim;
  }
}

/// Rows of G of a set of one world, the sums of lane_block(), so many groups of columns at once;
/// `length`: of the part of its chain that moves any of them.
template <int Dim, int Groups>
inline void fill_wide_rows(
    const int* chain, int length, const double* y, int stride, const double* by_dof, double* G) {
  Wide sum[Dim][Groups]{};
  for (int m = 0; m < length; ++m, y += Dim) {
    const double* other = by_dof + chain[m] * stride;
    for (int r = 0; r < Dim; ++r) {
      for (int c = 0; c < Groups; ++c) sum[r][c] += wide(other + kWide * c) * y[row_of_set(Dim, r)];
    }
  }
  for (int r = 0; r < Dim; ++r) {
    for (int c = 0; c < Groups; ++c) wide(G + r * stride + kWide * c) = sum[r][c];
  }
}

template <int Dim>
inline void fill_wide_rows(
    const LaneScene& s, int set, int row, const PackWork<double>& w, LaneScratch<double>& x) {
  constexpr int kGroups = kWide == 8 ? 1 : 2, kStep = kGroups * kWide;
  const double* y = w.y + set_start(s, set);
  const int stride = w.stride;
  const auto [dofs, length] = chain_of(s, set, w);
  for (int c = 0; c < stride; c += kStep) {
    int moved = length;
    while (moved > 0 && (x.touched[dofs[moved - 1]] >> c / 8 & 1u) == 0) --moved;
    fill_wide_rows<Dim, kGroups>(dofs, moved, y, stride, x.by_dof + c, x.G + row * stride + c);
  }
}

/// G of one world, whose rows are the lanes, all of its dense problem's; Y and g where it has many.
inline void wide_delassus(const LaneScene& s, LaneScratch<double>& x, PackWork<double>& w) {
  int scalars = 0, row = 0;
  for (int i = 0; i < w.num_used; ++i) scalars += is_cone(s, w.used[i]) ? 0 : 1;
  const int rows = w.num_rows - scalars + kScalarClass * scalar_class(scalars);
  w.stride = dense_stride<double>(rows);
  gather_by_dof(s, x, w);
  if (whitens_by_dof<double>(w.num_rows)) {
    whiten_by_dof(s.tree, w, x);
    scatter_to_sets(s, x, w);
  }
  for (int i = 0; i < w.num_used; row += set_dim(s, w.used[i++])) {
    const int set = w.used[i];
    is_cone(s, set) ? fill_wide_rows<3>(s, set, row, w, x) : fill_wide_rows<1>(s, set, row, w, x);
  }
  for (int k = row * w.stride; k < rows * w.stride; k += kWide) wide(x.G + k) = Wide{};
}

/// Entry r of a set's part of the diagonal of G, whose rows begin at `row`.
template <class Real>
inline Real diagonal_of(
    const LaneScratch<Real>& x, const PackWork<Real>& w, int dim, int row, int r) {
  const int at = lane_width<Real> == 1 && dim == 3 ? (r + 1) % 3 : r;  // row_of_set(3, at) = r
  return x.G[(row + at) * (w.stride + 1)];
}

/// The sets that any lane has, in the order of the simulator's rows.
template <class Real>
inline void list_used(const LaneScene& s, PackWork<Real>& w) {
  w.num_used = w.num_rows = 0;
  const auto use = [&](int set) {
    if (!any(w.active[set] > Real(0.0))) return;
    w.used[w.num_used++] = set;
    w.num_rows += set_dim(s, set);
  };
  int slot = 0;
  for (int k = 0; k < w.num_places; ++k) {
    for (; slot < s.guards[w.guard[k]].slots_before; ++slot) use(slot);
    use(s.num_slots + k);
  }
  for (; slot < s.num_slots; ++slot) use(slot);
  for (int set = num_cones(s); set < num_sets(s); ++set) use(set);
}

/// J, Y, G and the free velocities of the sets that any lane has.
template <class Real>
inline void lane_rows(const LaneScene& s,
                      const LaneParameters<Real>& p,
                      const Real* q,
                      const Real* v,
                      LaneScratch<Real>& x,
                      PackWork<Real>& w) {
  list_used(s, w);
  w.scale[0] = norm(p.tree.gravity) * Real(s.rules.dt);
  for (int k = 0; k < w.num_used; ++k) {
    const int set = w.used[k];
    if (is_place(s, set)) {
      place_rows(s, set, v, whitens_by_dof<Real>(w.num_rows), p, x, w);
      continue;
    }
    lane_jacobian(s, set, q, v, p, x, w);
    if (whitens_by_dof<Real>(w.num_rows)) continue;
    is_cone(s, set) ? whiten_set<3>(s, set, x, w) : whiten_set<1>(s, set, x, w);
  }
  w.stride = w.num_rows;
  if constexpr (lane_width<Real> == 1)
    wide_delassus(s, x, w);
  else
    w.num_places > 0 ? lane_delassus<true>(s, x, w) : lane_delassus<false>(s, x, w);
}

}  // namespace STICTION_ISA
}  // namespace stiction
