#include "stiction/contact/contact_problem.hpp"

#include "stiction/model/robot.hpp"

#include "math/clones.hpp"
#include "math/number_text.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace stiction {
namespace {

/// c += panel * x for three or four rows: columns of 4 (of three one is padding), even and odd
/// columns summed apart.
STICTION_CLONES void add_columns(
    const double* panel, const double* x, int count, int dim, double* c) {
  Quad even{}, odd{};
  int k = 0;
  for (; k + 1 < count; k += 2, panel += 8) {
    even += quad(panel) * x[k];
    odd += quad(panel + 4) * x[k + 1];
  }
  if (k < count) even += quad(panel) * x[k];
  even += odd;
  for (int r = 0; r < 3; ++r) c[r] += even[r];
  if (dim == 4) c[3] += even[3];
}

/// c += panel . x for a single row: eight partial sums, added in order.
STICTION_CLONES void add_row(const double* panel, const double* x, int count, double* c) {
  Quad even{}, odd{};
  int k = 0;
  for (; k + 7 < count; k += 8) {
    even += quad(panel + k) * quad(x + k);
    odd += quad(panel + k + 4) * quad(x + k + 4);
  }
  double tail = 0.0;
  for (; k < count; ++k) tail += panel[k] * x[k];
  even += odd;
  c[0] += ((even[0] + even[1]) + (even[2] + even[3])) + tail;
}

void check_square(const Eigen::MatrixXd& G, const Eigen::VectorXd& g, int rows) {
  const auto size = [](auto n) { return std::to_string(n); };
  if (G.rows() != rows || G.cols() != rows) {
    throw std::invalid_argument("G is " + size(G.rows()) + " x " + size(G.cols()) +
                                ": the sets have " + size(rows) + " rows");
  }
  if (g.size() != rows) {
    throw std::invalid_argument("g has " + size(g.size()) + " entries: the sets have " +
                                size(rows) + " rows");
  }
  if (!G.allFinite()) throw std::invalid_argument("G has an entry that is not finite");
  if (!g.allFinite()) throw std::invalid_argument("g has an entry that is not finite");
  if (rows == 0) return;
  const double scale = G.cwiseAbs().maxCoeff(), skew = (G - G.transpose()).cwiseAbs().maxCoeff();
  if (skew > 1e-9 * scale) {
    throw std::invalid_argument("G is not symmetric: max |G - G^T| = " + number_text(skew));
  }
}

void check_cone(const Cone& cone, const std::string& at) {
  if (!Cone::has_dim(cone.dim)) {
    throw std::invalid_argument(at + ".dim = " + std::to_string(cone.dim) +
                                ": must be 1, 3, 4 or 6 for a contact");
  }
  for (int r = 0; r < cone.normal(); ++r) {
    if (cone.mu[r] >= 0.0 && cone.mu[r] <= kMaxFriction) continue;
    throw std::invalid_argument(at + ".mu" + (r > 0 ? "[" + std::to_string(r) + "]" : "") + " = " +
                                number_text(cone.mu[r]) +
                                ": must be >= 0 and at most 1e4, beyond which nothing slides less");
  }
}

void check_set(const ConstraintSet& s, std::size_t i) {
  const std::string at = "sets[" + std::to_string(i) + "]";
  if (s.is_cone()) check_cone(s.friction, at);
  if (s.kind == SetKind::kBox && !(s.lower <= s.upper)) {
    throw std::invalid_argument(at + ": lower = " + number_text(s.lower) +
                                " must be <= upper = " + number_text(s.upper));
  }
  const int fixed = s.is_cone() ? s.friction.dim : 1;
  if (s.kind == SetKind::kFree ? s.dim < 1 : s.dim != fixed) {
    throw std::invalid_argument(at + ".dim = " + std::to_string(s.dim) + ": must be " +
                                (s.kind == SetKind::kFree ? ">= 1" : std::to_string(fixed)));
  }
}

}  // namespace

void ContactProblem::velocity(int i, const double* lambda, double* c) const {
  const ConstraintSet& set = sets[i];
  for (int r = 0; r < set.dim; ++r) c[r] = g[set.offset + r];
  const double* panel = values.data() + panel_start[i];
  const int s = stride(set.dim);
  for (int k = run_start[i]; k < run_start[i + 1]; ++k) {
    const double* x = lambda + runs[k].column;
    const int n = runs[k].count;
    switch (set.dim) {
      case 1:
        add_row(panel, x, n, c);
        break;
      case 3:
      case 4:
        add_columns(panel, x, n, set.dim, c);
        break;
      default:
        for (int col = 0; col < n; ++col) {
          for (int r = 0; r < set.dim; ++r) c[r] += panel[s * col + r] * x[col];
        }
    }
    panel += s * n;
  }
}

void ContactProblem::append_columns(int set) {
  const ConstraintSet& b = sets[set];
  const bool joined = static_cast<int>(runs.size()) > run_start.back() &&
                      runs.back().column + runs.back().count == b.offset;
  if (joined) {
    runs.back().count += b.dim;
  } else {
    runs.push_back({b.offset, b.dim, set});
  }
}

double ContactProblem::largest_diagonal(int first, int last) const {
  double largest = 0.0;
  for (int i = first; i < last; ++i) {
    const double* block = values.data() + diagonal_start[i];
    const int step = stride(sets[i].dim) + 1;
    for (int r = 0; r < sets[i].dim; ++r) largest = std::max(largest, block[step * r]);
  }
  return largest;
}

Eigen::MatrixXd ContactProblem::dense() const {
  Eigen::MatrixXd G = Eigen::MatrixXd::Zero(num_rows(), num_rows());
  for (int i = 0; i < num_sets(); ++i) {
    each_column(i, [&](int j, int at) {
      for (int r = 0; r < sets[i].dim; ++r) G(sets[i].offset + r, j) = values[at + r];
    });
  }
  return G;
}

ContactProblem ContactProblem::from_dense(const Eigen::MatrixXd& G,
                                          const Eigen::VectorXd& g,
                                          const std::vector<ConstraintSet>& given,
                                          const Eigen::VectorXd& R) {
  ContactProblem p;
  int rows = 0;
  for (std::size_t i = 0; i < given.size(); ++i) {
    check_set(given[i], i);
    // A long bilateral set is the product of short ones.
    for (int left = given[i].dim; left > 0; left -= kMaxSetDim) {
      p.sets.push_back(given[i]);
      p.sets.back().dim = std::min(left, kMaxSetDim);
      p.sets.back().offset = rows;
      rows += p.sets.back().dim;
    }
  }
  check_square(G, g, rows);
  if (R.size() != 0 && R.size() != rows) {
    throw std::invalid_argument("R has " + std::to_string(R.size()) + " entries: the sets have " +
                                std::to_string(rows) + " rows");
  }
  for (int r = 0; r < R.size(); ++r) {
    if (R[r] >= 0.0 && std::isfinite(R[r])) continue;
    throw std::invalid_argument("R[" + std::to_string(r) + "] = " + number_text(R[r]) +
                                ": must be >= 0 and finite");
  }
  p.g.assign(g.data(), g.data() + rows);
  p.compliance.assign(rows, 0.0);
  for (int r = 0; r < R.size(); ++r) p.compliance[r] = R[r];

  // One island per connected component would reorder the user's sets: a raw problem is one island.
  p.island_start = {0, p.num_sets()};
  if (given.empty()) p.island_start = {0};
  p.run_start.push_back(0);
  for (const ConstraintSet& a : p.sets) {
    p.panel_start.push_back(static_cast<int>(p.values.size()));
    for (const ConstraintSet& b : p.sets) {
      const auto block = G.block(a.offset, b.offset, a.dim, b.dim);
      if (a.offset != b.offset && (block.array() == 0.0).all()) continue;
      if (a.offset == b.offset) p.diagonal_start.push_back(static_cast<int>(p.values.size()));
      p.append_columns(static_cast<int>(&b - p.sets.data()));
      for (int c = 0; c < b.dim; ++c) {
        for (int r = 0; r < stride(a.dim); ++r) {
          double x = r < a.dim ? block(r, c) : 0.0;
          if (a.offset == b.offset && r == c) x += p.compliance[a.offset + r];
          p.values.push_back(x);
        }
      }
    }
    p.run_start.push_back(static_cast<int>(p.runs.size()));
  }
  p.panel_start.push_back(static_cast<int>(p.values.size()));
  return p;
}

}  // namespace stiction
