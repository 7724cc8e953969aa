#include "solver/ncp_newton/newton_system.hpp"

#include "math/clones.hpp"
#include "math/solve_linear.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {
namespace {

/// Calls visit(panel, row, count) for each stretch of moving columns of set i from row `from` on;
/// `panel` holds the first of them.
template <class Visit>
inline __attribute__((always_inline)) void each_stretch(
    const ContactProblem& p, int i, int from, const MovingColumns& columns, Visit&& visit) {
  const int stride = ContactProblem::stride(p.sets[i].dim);
  const ContactProblem::Panels& G = p.stored;
  const double* panel = G.values.data() + G.start[i];
  for (int k = G.run_begin[i]; k < G.run_end[i]; ++k) {
    const ContactProblem::Panels::Run& run = G.runs[k];
    const int last = run.column + run.count;
    for (int c = std::max(run.column, from); c < last;) {
      if (columns.of[c] < 0) {
        ++c;
        continue;
      }
      const int stop = std::min(columns.stretch[c], last);
      visit(panel + stride * (c - run.column), c, stop - c);
      c = stop;
    }
    panel += stride * run.count;
  }
}

/// Rows of D G D of set i at the moving columns from row `from` on.
STICTION_CLONES void copy_set(const ContactProblem& p,
                              int i,
                              int from,
                              const double* D,
                              const MovingColumns& columns,
                              const NewtonSystem& s) {
  const ConstraintSet& set = p.sets[i];
  const int stride = ContactProblem::stride(set.dim), o = set.offset, row = columns.of[o];
  const auto out = [&](int r) { return s.matrix + static_cast<std::size_t>(r) * s.stride; };
  if (set.dim == 3 && row >= 0 && columns.stretch[o] >= o + 3) {  // three rows in one pass
    double *x = out(row), *y = out(row + 1), *z = out(row + 2);
    each_stretch(p, i, from, columns, [&](const double* panel, int column, int count) {
      const int to = columns.of[column];
      for (int c = 0; c < count; ++c, panel += 4) {
        const double d = D[column + c];
        x[to + c] = D[o] * d * panel[0];
        y[to + c] = D[o + 1] * d * panel[1];
        z[to + c] = D[o + 2] * d * panel[2];
      }
    });
    return;
  }
  for (int r = 0; r < set.dim; ++r) {
    if (columns.of[o + r] < 0) continue;
    double* __restrict x = out(columns.of[o + r]);
    each_stretch(p, i, from, columns, [&](const double* panel, int column, int count) {
      const int to = columns.of[column];
      for (int c = 0; c < count; ++c) x[to + c] = D[o + r] * D[column + c] * panel[stride * c + r];
    });
  }
}

/// Turns the tangential velocity rows of a sliding contact into its linearised law: with d and Q of
/// its natural map, (I - Q) dl_T - d dl_N + rho Q dc_T + rho d dc_N = -(l_T - p_N d), where the
/// part of dc that comes from the fixed rows is known: moved - c.
template <int D>
void slide_rows(const NewtonSystem& s,
                int row,
                const double* scale,
                const double* c,
                const double* moved,
                const double* lambda) {
  constexpr int N = D - 1;
  double* g[D];
  double l[D], p[D], d[N], Q[N][N], known[D];
  for (int r = 0; r < D; ++r) {
    g[r] = s.matrix + static_cast<std::size_t>(row + r) * s.stride;
    l[r] = lambda[r] / scale[r];
    p[r] = l[r] - kRho * scale[r] * c[r];
    known[r] = kRho * scale[r] * (moved[r] - c[r]);
  }
  const circular::NaturalMap<D> map(p);
  const double ratio = map.ratio();
  map.direction(d);
  for (int r = 0; r < N; ++r) {
    for (int k = 0; k < N; ++k) Q[r][k] = circular::across<D>(ratio, d, r, k);
  }
  int start = row;  // first column of the profile that reaches these rows
  while (start > 0 && s.end[start - 1] > row) --start;
  for (int j = start; j < s.end[row]; ++j) {
    double a[N];
    const double m = kRho * g[N][j];
    for (int r = 0; r < N; ++r) a[r] = g[r][j];
    for (int r = 0; r < N; ++r) {
      double sum = Q[r][0] * a[0];
      for (int k = 1; k < N; ++k) sum += Q[r][k] * a[k];
      g[r][j] = kRho * sum + d[r] * m;
    }
  }
  for (int r = 0; r < N; ++r) {
    double sum = Q[r][0] * known[0];
    for (int k = 1; k < N; ++k) sum += Q[r][k] * known[k];
    for (int k = 0; k < N; ++k) {
      if (k == r)
        g[r][row + k] += 1.0 - Q[r][k];
      else
        g[r][row + k] -= Q[r][k];
    }
    g[r][row + N] -= d[r];
    s.rhs[row + r] = -(l[r] - p[N] * d[r]) - (sum + d[r] * known[N]);
  }
}

}  // namespace

void find_profile(const Island& island, const int* column_of, NewtonSystem& s) {
  const ContactProblem& p = island.problem;
  const ContactProblem::Panels& G = p.panels(island.first, island.last);
  int reach = 0;
  for (int i = island.first; i < island.last; ++i) {
    const ContactProblem::Panels::Run& run = G.runs[G.run_end[i] - 1];
    int column = run.column + run.count - 1;
    while (column_of[column] < 0 && column > p.sets[i].offset) --column;
    for (int r = 0; r < p.sets[i].dim; ++r) {
      const int row = column_of[p.sets[i].offset + r];
      if (row < 0) continue;
      reach = std::max({reach, column_of[column] + 1, row + 1});
      s.end[row] = reach;
    }
  }
}

void assemble_newton_system(const Island& island,
                            const double* D,
                            const double* c,
                            const double* moved,
                            const double* lambda,
                            const RowMode* modes,
                            const MovingColumns& columns,
                            const NewtonSystem& s) {
  // Zero what the solvers touch, from the first column that reaches the row.
  for (int k = 0, start = 0; k < s.n; ++k) {
    while (s.end[start] <= k) ++start;
    double* row = s.matrix + static_cast<std::size_t>(k) * s.stride;
    std::fill(row + start, row + used_columns(s.end, s.n, k), 0.0);
  }
  const ContactProblem& p = island.problem;
  for (int i = island.first; i < island.last; ++i) {
    const ConstraintSet& set = p.sets[i];
    int slide = -1;
    copy_set(p, i, s.symmetric ? set.offset : 0, D, columns, s);
    // Rows of torsion and rolling are small beside those of forces where their lengths are: by the
    // same term a step would leave a share of their velocities.
    for (int r = 0; r < set.dim; ++r) {
      const int at = set.offset + r, row = columns.of[at];
      if (row < 0) continue;
      double& diagonal = s.matrix[static_cast<std::size_t>(row) * s.stride + row];
      const bool turns = set.dim > 3 && r >= 2 && r < set.dim - 1;
      diagonal += turns ? s.proximal * std::min(1.0, diagonal) : s.proximal;
      s.rhs[row] = -D[at] * moved[at];
      if (r == 0 && modes[at] == RowMode::kSlide) slide = row;
    }
    if (slide < 0) continue;
    const int o = set.offset;
    with_dim(set.dim,
             [&](auto dim) { slide_rows<dim>(s, slide, D + o, c + o, moved + o, lambda + o); });
  }
}

}  // namespace stiction
