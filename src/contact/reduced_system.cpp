#include "contact/reduced_system.hpp"

#include "math/row_sums.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace stiction {
namespace {

// Of a scaled pivot, whose diagonal is 1. On the central path contacts are never redundant, but
// nearly so as its energy falls.
constexpr double kDropped = 1e-9, kDroppedOnPath = 1e-14;

/// sum_c x_c t_c over `dim` rows.
inline double times(const double* x, const double* t, int dim) {
  if (dim == 1) return x[0] * t[0];
  if (dim == 3) return x[0] * t[0] + x[1] * t[1] + x[2] * t[2];
  double sum = 0.0;
  for (int r = 0; r < dim; ++r) sum += x[r] * t[r];
  return sum;
}

/// Rows of K that belong to the unknowns [begin, end) of one set: w^T (G + R) T, and d on the
/// diagonal. Rows are `n` apart.
void fill_rows(const ContactProblem& problem,
               const ActiveSet& active,
               int first,
               int last,
               int begin,
               int end,
               double* rows) {
  const int n = last - first, i = active.unknowns[begin].set, dim = problem.sets[i].dim;
  const int height = ContactProblem::stride(dim);
  const ContactProblem::Panels& G = problem.panels(i, i + 1);
  int at = G.start[i];
  for (int k = G.run_begin[i]; k < G.run_end[i]; ++k) {
    const ContactProblem::Panels::Run& run = G.runs[k];
    int set = run.set;
    for (int column = run.column; column < run.column + run.count; ++set) {
      const int width = problem.sets[set].dim;
      const int b0 = active.start[set], b1 = active.start[set + 1];
      for (int a = begin; a < end && b0 < b1; ++a) {
        double wG[kMaxSetDim];
        for (int c = 0; c < width; ++c)
          wG[c] = times(G.values.data() + at + c * height, active.unknowns[a].w, dim);
        double* row = rows + static_cast<std::ptrdiff_t>(a - begin) * n - first;
        for (int b = b0; b < b1; ++b) row[b] = times(wG, active.unknowns[b].t, width);
      }
      at += width * height;
      column += width;
    }
  }
  for (int a = begin; a < end; ++a)
    rows[static_cast<std::ptrdiff_t>(a - begin) * n + a - first] += active.unknowns[a].d;
}

/// 1 / S of each row of a set, S as in Newton's method on the modes.
void inverse_scale(const ContactProblem& problem, const ConstraintSet& set, int i, double* out) {
  const int step = ContactProblem::stride(set.dim) + 1;
  const double* G = problem.block(i);
  if (!set.is_cone() || set.friction.friction() == 0.0) {
    for (int r = 0; r < set.dim; ++r) out[r] = std::sqrt(G[step * r]);
    return;
  }
  const int n = set.dim - 1;
  const double mu = set.friction.friction();
  double trace = 0.0;
  for (int r = 0; r < n; ++r) {
    const double unit = set.friction.velocity_unit(r);
    trace += unit * unit * G[step * r];
  }
  const double d = circular::canonical_scale(set.dim, mu, trace, G[step * n], 1e-300);
  for (int r = 0; r < n; ++r) {
    const double unit = set.friction.velocity_unit(r);
    out[r] = unit > 0.0 ? 1.0 / (d * unit) : 0.0;
  }
  out[n] = mu / d;
}

}  // namespace

void ReducedSystem::build(const ContactProblem& problem,
                          const ActiveSet& active,
                          int first_set,
                          int last_set) {
  first_ = active.start[first_set];
  const int last = active.start[last_set], n = last - first_;
  double* K = lu_.resize(n);
  bool symmetric = true;
  for (int i = first_set; i < last_set; ++i) {
    const int begin = active.start[i], end = active.start[i + 1];
    if (begin == end) continue;
    fill_rows(problem,
              active,
              first_,
              last,
              begin,
              end,
              K + static_cast<std::ptrdiff_t>(begin - first_) * n);
    for (int a = begin; a < end; ++a) {
      const ActiveUnknown& u = active.unknowns[a];
      symmetric = symmetric && std::equal(u.t, u.t + u.dim, u.w);
    }
  }
  scale_.resize(n);
  for (int a = 0; a < n; ++a) {
    const double diagonal = std::abs(K[static_cast<std::ptrdiff_t>(a) * n + a]);
    scale_[a] = diagonal > 0.0 ? 1.0 / std::sqrt(diagonal) : 0.0;
  }
  for (int a = 0; a < n; ++a) {
    double* row = K + static_cast<std::ptrdiff_t>(a) * n;
    for (int b = 0; b < n; ++b) row[b] *= scale_[a] * scale_[b];
  }
  lu_.factor(active.on_path ? kDroppedOnPath : kDropped, symmetric);
  null_.clear();
  kept_.clear();
  if (!symmetric && lu_.nullity() > 0) find_null_space(problem, active);
}

/// N of K N = 0, and B = U^T W^T M T of U^T K = 0, M = S^-2; then N (B N)^-1 in place of N.
void ReducedSystem::find_null_space(const ContactProblem& problem, const ActiveSet& active) {
  const int n = size(), nullity = lu_.nullity();
  null_.resize(static_cast<std::size_t>(nullity) * n);
  kept_.resize(null_.size());
  std::vector<double>& u = part_;
  u.resize(n);
  const auto normalise = [&](std::vector<double>& rows) {
    for (int j = 0; j < nullity; ++j) {
      double* x = rows.data() + static_cast<std::ptrdiff_t>(j) * n;
      const double square = std::inner_product(x, x + n, x, 0.0);
      for (int a = 0; a < n && square > 0.0; ++a) x[a] /= std::sqrt(square);
    }
  };
  for (int j = 0; j < nullity; ++j) {
    lu_.null_vector(j, null_.data() + static_cast<std::ptrdiff_t>(j) * n);
    lu_.left_null_vector(j, u.data());
    times_metric(problem, active, u.data(), kept_.data() + static_cast<std::ptrdiff_t>(j) * n);
  }
  normalise(null_);
  normalise(kept_);
  double* C = pairing_.resize(nullity);
  for (int i = 0; i < nullity; ++i) {
    for (int j = 0; j < nullity; ++j) {
      const double *B = kept_.data() + static_cast<std::ptrdiff_t>(i) * n,
                   *N = null_.data() + static_cast<std::ptrdiff_t>(j) * n;
      C[i * nullity + j] = std::inner_product(B, B + n, N, 0.0);
    }
  }
  pairing_.factor(kDropped, false);
  for (int a = 0; a < n; ++a) {  // rows of N C^-1
    for (int j = 0; j < nullity; ++j) u[j] = null_[static_cast<std::size_t>(j) * n + a];
    pairing_.solve_transposed(u.data());
    for (int j = 0; j < nullity; ++j) null_[static_cast<std::size_t>(j) * n + a] = u[j];
  }
}

/// y^T W^T M T in the scaled unknowns; M is block diagonal by set.
void ReducedSystem::times_metric(const ContactProblem& problem,
                                 const ActiveSet& active,
                                 const double* y,
                                 double* out) const {
  for (int a = 0; a < size();) {
    const ActiveUnknown& first = active.unknowns[first_ + a];
    const int end = active.start[first.set + 1] - first_;
    double inverse[kMaxSetDim], c[kMaxSetDim] = {};
    inverse_scale(problem, problem.sets[first.set], first.set, inverse);
    for (int b = a; b < end; ++b) {
      for (int r = 0; r < first.dim; ++r)
        c[r] += active.unknowns[first_ + b].w[r] * scale_[b] * y[b];
    }
    for (int r = 0; r < first.dim; ++r) c[r] *= inverse[r] * inverse[r];
    for (int b = a; b < end; ++b) {
      const double* t = active.unknowns[first_ + b].t;
      out[b] = scale_[b] * std::inner_product(c, c + first.dim, t, 0.0);
    }
    a = end;
  }
}

/// y -= N B y in the scaled unknowns.
void ReducedSystem::project(double* y, int stride, int width) {
  const int n = size(), nullity = lu_.nullity();
  part_.resize(static_cast<std::size_t>(width) + n);
  double* along = part_.data();
  double* factors = part_.data() + width;
  for (int j = 0; j < nullity; ++j) {
    const double* x = null_.data() + static_cast<std::ptrdiff_t>(j) * n;
    std::fill(along, along + width, 0.0);
    add_rows(
        kept_.data() + static_cast<std::ptrdiff_t>(j) * n, nullptr, n, y, stride, width, along);
    for (int a = 0; a < n; ++a) {
      factors[a] = -x[a];
      add_rows(factors + a,
               nullptr,
               1,
               along,
               width,
               width,
               y + static_cast<std::ptrdiff_t>(a) * stride);
    }
  }
}

void ReducedSystem::solve(double* b, int stride, int width, double* y) {
  const int n = size();
  for (int a = 0; a < n; ++a) {
    double* row = b + static_cast<std::ptrdiff_t>(a) * stride;
    for (int c = 0; c < width; ++c) row[c] *= -scale_[a];
  }
  lu_.solve(b, stride, width, y);
  if (selects()) project(y, stride, width);
  for (int a = 0; a < n; ++a) {
    double* row = y + static_cast<std::ptrdiff_t>(a) * stride;
    for (int c = 0; c < width; ++c) row[c] *= scale_[a];
  }
}

bool ReducedSystem::contradicts(const double* b, int stride, std::vector<double>& scratch) const {
  constexpr double kRounding = 1e-6;  // of the largest: what is left out is below kDropped
  if (lu_.nullity() == 0) return false;
  scratch.resize(size());
  double largest = 0.0;
  for (int a = 0; a < size(); ++a) {
    scratch[a] = scale_[a] * b[static_cast<std::ptrdiff_t>(a) * stride];
    largest = std::max(largest, std::abs(scratch[a]));
  }
  return lu_.left_over(scratch.data()) > kRounding * largest;
}

void ReducedSystem::solve_transposed(double* x) {
  const int n = size();
  for (int a = 0; a < n; ++a) x[a] *= scale_[a];
  if (selects()) {
    for (int j = lu_.nullity() - 1; j >= 0; --j) {
      const double* N = null_.data() + static_cast<std::ptrdiff_t>(j) * n;
      const double* B = kept_.data() + static_cast<std::ptrdiff_t>(j) * n;
      double along = 0.0;
      for (int a = 0; a < n; ++a) along += N[a] * x[a];
      for (int a = 0; a < n; ++a) x[a] -= along * B[a];
    }
  }
  lu_.solve_transposed(x);
  for (int a = 0; a < n; ++a) x[a] *= scale_[a];
}

void ReducedSystem::null_vector(int j, double* x) const {
  const double* N = null_.data() + static_cast<std::ptrdiff_t>(j) * size();
  for (int a = 0; a < size(); ++a) x[a] = scale_[a] * N[a];
}

}  // namespace stiction
