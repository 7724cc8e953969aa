#include "stiction/math/constants.hpp"

#include "solver/ncp_newton/interior_point.hpp"
#include "solver/ncp_newton/mode_newton.hpp"
#include "solver/ncp_newton/newton_system.hpp"

#include <algorithm>
#include <cmath>

// The island as the interior point method sees it: cells of rows that obey one law, in canonical
// scaling, and the way back to impulses.

namespace stiction {
void InteriorWork::reserve(std::size_t total, int rows) {
  const std::size_t size = padded(rows);
  grow(rows, cells, row, pivot, end);
  grow(rows * size, matrix, factor);
  grow(size, scale, g, low, high, r, d);
  for (InteriorPoints::Point* point : {&at.now, &at.step, &at.predictor, &at.best})
    grow(size, point->l, point->y, point->z);
  grow(total, scale_of_row, fixed, column);
}

InteriorPoint::InteriorPoint(const Island& island,
                             Problem problem,
                             InteriorWork& work,
                             WorkAccount& account)
    : PredictorCorrector(work.at, account), island_(island), problem_(problem), w_(work) {
  work.reserve(island.problem.g.size(), island.rows());
  list_cells();
  scale();
}

/// The tangential rows of a contact without friction, and boxes of no width, leave the system:
/// their impulse is known.
void InteriorPoint::list_cells() {
  const ContactProblem& p = island_.problem;
  const auto add = [&](Kind kind, int row, double low, double high, int dim = 1) {
    w_.cells[cells_++] = {kind, n_, dim};
    for (int r = 0; r < dim; ++r) {
      w_.low[n_] = low;
      w_.high[n_] = high;
      w_.row[n_++] = row + r;
    }
  };
  const double rigid = rigid_floor(island_);
  for (int i = island_.first; i < island_.last; ++i) {
    const ConstraintSet& set = p.sets[i];
    // What nothing moves has no path where it touches: it does not push.
    if (problem_ == Problem::kPath && set.is_normal(set.dim - 1) &&
        p.diagonal_entry(i, set.dim - 1) <= rigid)
      continue;
    switch (set.kind) {
      case SetKind::kCone:
        if (problem_ == Problem::kDirection || set.friction.slope() == 0.0) {
          add(Kind::kPositive, set.offset + set.friction.normal(), 0.0, kInfinity);
        } else {
          add(Kind::kCone, set.offset, 0.0, kInfinity, set.dim);
        }
        break;
      case SetKind::kNonNegative:
        add(Kind::kPositive, set.offset, 0.0, kInfinity);
        break;
      case SetKind::kBox:
        if (set.lower == set.upper) break;
        add(std::isfinite(set.lower) || std::isfinite(set.upper) ? Kind::kBox : Kind::kFree,
            set.offset,
            set.lower,
            set.upper);
        break;
      case SetKind::kFree:
        for (int r = 0; r < set.dim; ++r) add(Kind::kFree, set.offset + r, -kInfinity, kInfinity);
        break;
    }
  }
}

/// G, g and the bounds in canonical scaling; fixed impulses go into g.
void InteriorPoint::scale() {
  const ContactProblem& p = island_.problem;
  stride_ = padded(n_);
  const bool whole = problem_ != Problem::kContact;
  double *D = w_.scale_of_row, *fixed = w_.fixed;
  scale_rows(island_, D);
  std::fill(fixed + island_.begin, fixed + island_.end, 0.0);
  for (int i = island_.first; i < island_.last; ++i) {
    const ConstraintSet& set = p.sets[i];
    if (set.kind == SetKind::kBox && set.lower == set.upper) fixed[set.offset] = set.lower;
  }
  int* column = w_.column;
  std::fill(column + island_.begin, column + island_.end, -1);
  for (int k = 0; k < n_; ++k) column[w_.row[k]] = k;
  std::fill(w_.matrix.data(), w_.matrix + static_cast<std::size_t>(n_) * stride_, 0.0);
  p.panels(island_.first, island_.last);
  unit_ = 0.0;
  for (int i = island_.first; i < island_.last; ++i) {
    const ConstraintSet& set = p.sets[i];
    double c[kMaxSetDim];
    p.velocity(i, fixed, c);
    for (int r = 0; r < set.dim; ++r) {
      const int at = set.offset + r, row = column[at];
      if (row < 0) continue;
      w_.scale[row] = D[at];
      w_.g[row] = D[at] * c[r];
      // On the path what is open acts from afar; a direction is sought among all rows.
      unit_ = std::max(unit_, whole ? std::abs(w_.g[row]) : set.opposed(w_.g[row]));
      double* out = w_.matrix + static_cast<std::size_t>(row) * stride_;
      p.each_column(i, [&](int to, const double* column_of_G) {
        if (column[to] >= 0) out[column[to]] = D[at] * D[to] * column_of_G[r];
      });
    }
  }
  if (!(unit_ > 0.0)) unit_ = 1.0;
  for (int k = 0; k < n_; ++k) {
    w_.g[k] /= unit_;
    w_.low[k] /= w_.scale[k] * unit_;
    w_.high[k] /= w_.scale[k] * unit_;
    w_.end[k] = n_;
  }
  if (problem_ != Problem::kDirection) return;
  for (int i = 0; i < n_; ++i) {
    for (int j = 0; j < n_; ++j)
      w_.matrix[static_cast<std::size_t>(i) * stride_ + j] += w_.g[i] * w_.g[j];
  }
}

void InteriorPoint::copy_impulse(double* lambda) const {
  const ContactProblem& p = island_.problem;
  for (int i = island_.first; i < island_.last; ++i) {
    const ConstraintSet& set = p.sets[i];
    for (int r = 0; r < set.dim; ++r) lambda[set.offset + r] = 0.0;
    if (set.kind == SetKind::kBox && set.lower == set.upper) lambda[set.offset] = set.lower;
  }
  for (int k = 0; k < n_; ++k) lambda[w_.row[k]] = unit_ * w_.scale[k] * w_.at.now.l[k];
}

void InteriorPoint::copy_dual(double* y) const {
  std::fill(y + island_.begin, y + island_.end, 0.0);
  for (int k = 0; k < cells_; ++k) {
    const Cell& cell = w_.cells[k];
    const bool lower = cell.kind == Kind::kCone || std::isfinite(w_.low[cell.row]);
    const double* of = lower ? w_.at.now.y : w_.at.now.z;
    for (int r = cell.row; r < cell.row + cell.dim; ++r)
      y[w_.row[r]] = of[r] * unit_ / w_.scale[cell.row];
  }
}

}  // namespace stiction
