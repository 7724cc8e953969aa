#include "stiction/math/constants.hpp"

#include "solver/ncp_newton/interior_point.hpp"
#include "solver/ncp_newton/mode_newton.hpp"
#include "solver/ncp_newton/newton_system.hpp"

#include <algorithm>
#include <cmath>

// The island as the interior point method sees it: cells of rows that obey one law, in canonical
// scaling, and the way back to impulses.

namespace stiction {
namespace {

/// Doubles: two matrices and the vectors.
std::size_t storage(int rows) {
  constexpr std::size_t kVectors = 19;
  return (kVectors + 2 * static_cast<std::size_t>(rows)) * padded(rows);
}

}  // namespace

void InteriorPoint::reserve(int rows, SolverWorkspace& work) {
  if (work.interior.size() < storage(rows)) work.interior.resize(storage(rows));
  if (work.interior_rows.size() < 6 * static_cast<std::size_t>(rows))
    work.interior_rows.resize(6 * rows);
}

InteriorPoint::InteriorPoint(const Island& island, SolverWorkspace& work, Problem problem)
    : island_(island), work_(work), problem_(problem) {
  const std::size_t n = island.rows(), stride = padded(island.rows());
  reserve(island.rows(), work);
  static_assert(sizeof(Cell) == 3 * sizeof(int));
  row_ = work.interior_rows.data();
  pivot_ = row_ + n;
  end_ = pivot_ + n;
  cell_ = reinterpret_cast<Cell*>(end_ + n);
  Scratch scratch(work.interior, storage(island.rows()));
  matrix_ = scratch.take(n * stride);
  factor_ = scratch.take(n * stride);
  for (double** v : {&scale_,
                     &g_,
                     &low_,
                     &high_,
                     &l_,
                     &y_,
                     &z_,
                     &r_,
                     &d_,
                     &dl_,
                     &dy_,
                     &dz_,
                     &al_,
                     &ay_,
                     &az_,
                     &bl_,
                     &by_,
                     &bz_})
    *v = scratch.take(stride);
  list_cells();
  scale();
}

/// The tangential rows of a contact without friction, and boxes of no width, leave the system:
/// their impulse is known.
void InteriorPoint::list_cells() {
  const ContactProblem& p = island_.problem;
  const auto add = [&](Kind kind, int row, double low, double high, int dim = 1) {
    cell_[cells_++] = {kind, n_, dim};
    for (int r = 0; r < dim; ++r) {
      low_[n_] = low;
      high_[n_] = high;
      row_[n_++] = row + r;
    }
  };
  for (int i = island_.first; i < island_.last; ++i) {
    const ConstraintSet& set = p.sets[i];
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
  if (work_.newton.size() < 2 * p.g.size()) work_.newton.resize(2 * p.g.size());
  double *D = work_.newton.data(), *fixed = D + p.g.size();
  scale_rows(island_, D);
  std::fill(fixed + island_.begin, fixed + island_.end, 0.0);
  for (int i = island_.first; i < island_.last; ++i) {
    const ConstraintSet& set = p.sets[i];
    if (set.kind == SetKind::kBox && set.lower == set.upper) fixed[set.offset] = set.lower;
  }
  if (work_.columns.size() < p.g.size()) work_.columns.resize(p.g.size());
  int* column = work_.columns.data();
  std::fill(column + island_.begin, column + island_.end, -1);
  for (int k = 0; k < n_; ++k) column[row_[k]] = k;
  std::fill(matrix_, matrix_ + static_cast<std::size_t>(n_) * stride_, 0.0);
  for (int i = island_.first; i < island_.last; ++i) {
    const ConstraintSet& set = p.sets[i];
    double c[kMaxSetDim];
    p.velocity(i, fixed, c);
    for (int r = 0; r < set.dim; ++r) {
      const int at = set.offset + r, row = column[at];
      if (row < 0) continue;
      scale_[row] = D[at];
      g_[row] = D[at] * c[r];
      double* out = matrix_ + static_cast<std::size_t>(row) * stride_;
      p.each_column(i, [&](int to, int k) {
        if (column[to] >= 0) out[column[to]] = D[at] * D[to] * p.values[k + r];
      });
    }
  }
  unit_ = 0.0;
  for (int k = 0; k < n_; ++k) unit_ = std::max(unit_, std::abs(g_[k]));
  if (!(unit_ > 0.0)) unit_ = 1.0;
  for (int k = 0; k < n_; ++k) {
    g_[k] /= unit_;
    low_[k] /= scale_[k] * unit_;
    high_[k] /= scale_[k] * unit_;
    end_[k] = n_;
  }
  if (problem_ == Problem::kContact) return;
  for (int i = 0; i < n_; ++i) {
    for (int j = 0; j < n_; ++j)
      matrix_[static_cast<std::size_t>(i) * stride_ + j] += g_[i] * g_[j];
  }
}

void InteriorPoint::copy_impulse(double* lambda) const {
  const ContactProblem& p = island_.problem;
  for (int i = island_.first; i < island_.last; ++i) {
    const ConstraintSet& set = p.sets[i];
    for (int r = 0; r < set.dim; ++r) lambda[set.offset + r] = 0.0;
    if (set.kind == SetKind::kBox && set.lower == set.upper) lambda[set.offset] = set.lower;
  }
  for (int k = 0; k < n_; ++k) lambda[row_[k]] = unit_ * scale_[k] * l_[k];
}

}  // namespace stiction
