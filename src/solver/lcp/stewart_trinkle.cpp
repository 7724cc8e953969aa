#include "solver/lcp/stewart_trinkle.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {
namespace {

/// How a row that is not of a contact with friction is bounded.
enum class Range { kHalfLine, kInterval, kFree };
Range range(const ConstraintSet& set) {
  if (set.kind == SetKind::kFree) return Range::kFree;
  if (set.kind != SetKind::kBox) return Range::kHalfLine;
  const bool lower = std::isfinite(set.lower), upper = std::isfinite(set.upper);
  return lower && upper ? Range::kInterval : lower || upper ? Range::kHalfLine : Range::kFree;
}
/// The end that z is measured from, and in which direction.
double end_of(const ConstraintSet& set) {
  if (set.kind != SetKind::kBox || range(set) == Range::kFree) return 0.0;
  return std::isfinite(set.lower) ? set.lower : set.upper;
}
double direction(const ConstraintSet& set) {
  return set.kind == SetKind::kBox && range(set) == Range::kHalfLine && !std::isfinite(set.lower)
             ? -1.0
             : 1.0;
}
bool has_friction(const ConstraintSet& set) { return set.is_cone() && set.friction.slope() > 0.0; }

int variables_of(const ConstraintSet& set, int facets) {
  if (has_friction(set)) return facets + 2;
  if (set.is_cone()) return 1;
  return range(set) == Range::kInterval ? 2 : set.dim;
}

}  // namespace

int StewartTrinkle::count_variables(const Island& island, int facets) {
  int n = 0;
  for (int i = island.first; i < island.last; ++i)
    n += variables_of(island.problem.sets[i], facets);
  return n;
}

/// visit(set, first row in the island, first variable)
template <class Visit>
void StewartTrinkle::for_each_set(Visit&& visit) const {
  int v = 0;
  for (int i = island_.first; i < island_.last; ++i) {
    const ConstraintSet& set = island_.problem.sets[i];
    visit(set, set.offset - island_.begin, v);
    v += variables_of(set, polygon_.facets());
  }
}

StewartTrinkle::StewartTrinkle(const Island& island,
                               const Polygon& polygon,
                               Scratch& scratch,
                               int* integers)
    : island_(island), polygon_(polygon), size_(count_variables(island, polygon.facets())) {
  const int rows = island.rows(), n = size_;
  G_ = scratch.take(static_cast<std::size_t>(rows) * rows);
  scale_ = scratch.take(rows);
  offset_ = scratch.take(rows);
  g_ = scratch.take(rows);
  M_ = scratch.take(static_cast<std::size_t>(n) * n);
  q_ = scratch.take(n);
  indefiniteness_ = scratch.take(n);
  coefficient_ = scratch.take(2 * static_cast<std::size_t>(n));
  row_ = integers;
  count_ = integers + n;
  free_ = integers + 2 * n;
}

void StewartTrinkle::build(double proximal, const double* centre) {
  copy_dense(island_, island_.rows(), G_, g_);
  set_scales();
  add_proximal(proximal, centre);
  move_origin();
  filled_ = 0;
  for_each_set([&](const ConstraintSet& set, int row, int) { add_variables(set, row); });
  multiply();
  for_each_set([&](const ConstraintSet& set, int row, int v) { couple(set, row, v); });
}

/// One scale a set, so that a pyramid stays one.
void StewartTrinkle::set_scales() {
  const double mean = mean_diagonal(island_);
  for_each_set([&](const ConstraintSet& set, int row, int) {
    double trace = 0.0;
    for (int r = row; r < row + set.dim; ++r) trace += diagonal(r);
    const double s = 1.0 / std::sqrt(trace > 0.0 ? trace / set.dim : mean);
    std::fill(scale_ + row, scale_ + row + set.dim, s);
    std::fill(offset_ + row, offset_ + row + set.dim, end_of(set));
  });
}

void StewartTrinkle::add_proximal(double proximal, const double* centre) {
  for (int r = 0; r < island_.rows(); ++r) {
    const double eta = proximal / (scale_[r] * scale_[r]);
    diagonal(r) += eta;
    g_[r] -= eta * centre[island_.begin + r];
  }
}

/// g becomes the velocity at the offset, and the largest entry of its scaled form the unit.
void StewartTrinkle::move_origin() {
  const int rows = island_.rows();
  for (int j = 0; j < rows; ++j) {
    if (offset_[j] == 0.0) continue;
    for (int i = 0; i < rows; ++i) g_[i] += G_[static_cast<std::size_t>(j) * rows + i] * offset_[j];
  }
  unit_ = 0.0;
  for (int r = 0; r < rows; ++r) unit_ = std::max(unit_, scale_[r] * std::abs(g_[r]));
  if (!(unit_ > 0.0)) unit_ = 1.0;
}

void StewartTrinkle::add(int row, double coefficient, int count) {
  row_[filled_] = row;
  count_[filled_] = count;
  free_[filled_] = 0;
  coefficient_[2 * filled_] = coefficient;
  ++filled_;
}

void StewartTrinkle::add_variables(const ConstraintSet& set, int row) {
  const double s = scale_[row];
  if (has_friction(set)) {
    for (int k = 0; k < polygon_.facets(); ++k) {
      coefficient_[2 * filled_ + 1] = s * polygon_.vertex(k)[1];
      add(row, s * polygon_.vertex(k)[0], 2);
    }
  }
  if (set.is_cone()) {
    add(row + 2, s);
    if (set.friction.slope() > 0.0) add(row, 0.0, 0);  // sigma
    return;
  }
  for (int r = row; r < row + set.dim; ++r) {
    add(r, s * direction(set));
    free_[filled_ - 1] = range(set) == Range::kFree;
  }
  if (range(set) == Range::kInterval) add(row, 0.0, 0);  // tau
}

/// M = P' G P and q = P' g / unit, symmetric bit for bit.
void StewartTrinkle::multiply() {
  const std::size_t rows = island_.rows();
  for (int u = 0; u < size_; ++u) {
    q_[u] = indefiniteness_[u] = 0.0;
    for (int a = 0; a < count_[u]; ++a) q_[u] += coefficient_[2 * u + a] * g_[row_[u] + a] / unit_;
    for (int v = 0; v <= u; ++v) {
      double sum = 0.0;
      for (int a = 0; a < count_[u]; ++a)
        for (int b = 0; b < count_[v]; ++b)
          sum += coefficient_[2 * u + a] * G_[(row_[v] + b) * rows + row_[u] + a] *
                 coefficient_[2 * v + b];
      entry(u, v) = entry(v, u) = sum;
    }
  }
}

/// The entries that are not in P' G P: all of them skew but for the cone's mu.
void StewartTrinkle::couple(const ConstraintSet& set, int row, int v) {
  if (has_friction(set)) {
    const int normal = v + polygon_.facets(), sigma = normal + 1;
    const double slope = polygon_.reach() * set.friction.slope();
    for (int k = v; k < normal; ++k) {
      entry(k, sigma) = 1.0;
      entry(sigma, k) = -1.0;
    }
    entry(sigma, normal) = slope;
    indefiniteness_[normal] = indefiniteness_[sigma] = slope;
  } else if (set.kind == SetKind::kBox && range(set) == Range::kInterval) {
    entry(v, v + 1) = 1.0;
    entry(v + 1, v) = -1.0;
    q_[v + 1] = (set.upper - set.lower) / (scale_[row] * unit_);
  }
}

void StewartTrinkle::impulses(const double* z, double* lambda) const {
  double* l = lambda + island_.begin;
  std::copy(offset_, offset_ + island_.rows(), l);
  for_each_set([&](const ConstraintSet& set, int row, int v) {
    if (set.is_cone()) l[row] = l[row + 1] = l[row + 2] = 0.0;
    const int end = v + variables_of(set, polygon_.facets());
    for (int u = v; u < end; ++u) {
      const double x = unit_ * (free_[u] ? z[u] : std::max(0.0, z[u]));
      for (int a = 0; a < count_[u]; ++a) l[row_[u] + a] += coefficient_[2 * u + a] * x;
    }
    if (has_friction(set)) polygon_.project(set.friction.slope() * l[row + 2], l + row);
    if (set.kind == SetKind::kBox) l[row] = std::min(set.upper, std::max(set.lower, l[row]));
  });
}

void StewartTrinkle::variables(const double* lambda, const double* velocity, double* z) const {
  const int facets = polygon_.facets();
  for_each_set([&](const ConstraintSet& set, int row, int v) {
    const double *l = lambda + island_.begin + row, *c = velocity + island_.begin + row;
    const double impulse = 1.0 / (scale_[row] * unit_), speed = scale_[row] / unit_;
    if (has_friction(set)) {
      // The sector of facet k lies between the vertices k - 1 and k, an angle of 2 pi / facets.
      const int k = polygon_.sector(l), before = (k + facets - 1) % facets;
      const double *a = polygon_.vertex(before), *b = polygon_.vertex(k);
      const double area = a[0] * b[1] - a[1] * b[0];
      std::fill(z + v, z + v + facets, 0.0);
      z[v + before] = std::max(0.0, (l[0] * b[1] - l[1] * b[0]) / area) * impulse;
      z[v + k] = std::max(0.0, (a[0] * l[1] - a[1] * l[0]) / area) * impulse;
      double sigma = 0.0;
      for (int j = 0; j < facets; ++j) {
        const double* D = polygon_.vertex(j);
        sigma = std::max(sigma, -(D[0] * c[0] + D[1] * c[1]));
      }
      z[v + facets + 1] = sigma * speed;
    }
    if (set.is_cone()) {
      z[v + (set.friction.slope() > 0.0 ? facets : 0)] = std::max(0.0, l[2]) * impulse;
      return;
    }
    for (int r = 0; r < set.dim; ++r) {
      const double x = direction(set) * (l[r] - end_of(set)) * impulse;
      z[v + r] = range(set) == Range::kFree ? x : std::max(0.0, x);
    }
    if (range(set) == Range::kInterval) z[v + 1] = std::max(0.0, -c[0]) * speed;
  });
}

}  // namespace stiction
