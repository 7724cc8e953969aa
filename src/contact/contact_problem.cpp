#include "stiction/contact/contact_problem.hpp"

#include "stiction/model/robot.hpp"

#include "contact/contact_space.hpp"
#include "math/assert.hpp"
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

void ContactProblem::Panels::clear(int num_sets) {
  run_begin.assign(num_sets, 0);
  run_end.assign(num_sets, 0);
  start.assign(num_sets, -1);
  diagonal.assign(num_sets, -1);
  runs.clear();
  size = 0;
}

void ContactProblem::Panels::begin(int set) {
  run_begin[set] = static_cast<int>(runs.size());
  start[set] = size;
}

void ContactProblem::Panels::append(const std::vector<ConstraintSet>& sets, int set, int column) {
  const ConstraintSet& b = sets[column];
  if (column == set) diagonal[set] = size;
  const bool joined = static_cast<int>(runs.size()) > run_begin[set] &&
                      runs.back().column + runs.back().count == b.offset;
  if (joined) {
    runs.back().count += b.dim;
  } else {
    runs.push_back({b.offset, b.dim, column});
  }
  size += stride(sets[set].dim) * b.dim;
}

void ContactProblem::Panels::end(int set) {
  run_end[set] = static_cast<int>(runs.size());
  if (values.size() < static_cast<std::size_t>(size)) values.resize(size);
}

void ContactProblem::copy_diagonal() {
  diagonal_start.resize(sets.size());
  int size = 0;
  for (int i = 0; i < num_sets(); ++i) {
    diagonal_start[i] = size;
    size += stride(sets[i].dim) * sets[i].dim;
  }
  diagonal.resize(size);
  for (int i = 0; i < num_sets(); ++i) {
    const int count = stride(sets[i].dim) * sets[i].dim;
    double* out = diagonal.data() + diagonal_start[i];
    if (stored.has(i))
      std::copy_n(stored.values.data() + stored.diagonal[i], count, out);
    else
      std::fill_n(out, count, 0.0);
  }
}

void ContactProblem::set_diagonal_entry(int set, int row, double value) {
  const int at = (stride(sets[set].dim) + 1) * row;
  diagonal[diagonal_start[set] + at] = value;
  if (stored.has(set)) stored.values[stored.diagonal[set] + at] = value;
}

void ContactProblem::assemble_panels(int set) const {
  const auto end = std::upper_bound(island_start.begin(), island_start.end(), set);
  assemble_loose_panels(*this, *(end - 1), *end, stored);
}

void ContactProblem::velocities(int first, int last, const double* lambda, double* c) const {
  if (!space.known() || in_one_tree(space)) {
    for (int i = first; i < last; ++i) velocity(i, lambda, c + sets[i].offset);
    return;
  }
  while (first < last) {  // one island carries loose bodies, the next one does not
    const bool loose = space.loose(first);
    int end = first + 1;
    while (end < last && space.loose(end) == loose) ++end;
    if (loose) {
      space.motion.resize(space.inverse.size());
      loose_velocities(*this, first, end, lambda, space.motion.data(), c);
    } else {
      for (int i = first; i < end; ++i) velocity(i, lambda, c + sets[i].offset);
    }
    first = end;
  }
}

void ContactProblem::velocity(int i, const double* lambda, double* c) const {
  const ConstraintSet& set = sets[i];
  const Panels& all = stored;
  STICTION_ASSERT(all.has(i));
  for (int r = 0; r < set.dim; ++r) c[r] = g[set.offset + r];
  const double* panel = all.values.data() + all.start[i];
  const int s = stride(set.dim);
  for (int k = all.run_begin[i]; k < all.run_end[i]; ++k) {
    const double* x = lambda + all.runs[k].column;
    const int n = all.runs[k].count;
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

double ContactProblem::largest_diagonal(int first, int last) const {
  double largest = 0.0;
  for (int i = first; i < last; ++i) {
    const double* own = block(i);
    const int step = stride(sets[i].dim) + 1;
    for (int r = 0; r < sets[i].dim; ++r) largest = std::max(largest, own[step * r]);
  }
  return largest;
}

Eigen::MatrixXd ContactProblem::dense() const {
  Eigen::MatrixXd G = Eigen::MatrixXd::Zero(num_rows(), num_rows());
  for (int i = 0; i < num_sets(); ++i) {
    each_column(i, [&](int j, const double* column) {
      for (int r = 0; r < sets[i].dim; ++r) G(sets[i].offset + r, j) = column[r];
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
  p.stored.clear(p.num_sets());
  for (int i = 0; i < p.num_sets(); ++i) {
    const ConstraintSet& a = p.sets[i];
    p.stored.begin(i);
    for (int j = 0; j < p.num_sets(); ++j) {
      const ConstraintSet& b = p.sets[j];
      const auto block = G.block(a.offset, b.offset, a.dim, b.dim);
      if (i != j && (block.array() == 0.0).all()) continue;
      const int at = p.stored.size;
      p.stored.append(p.sets, i, j);
      p.stored.values.resize(p.stored.size);
      double* out = p.stored.values.data() + at;
      for (int c = 0; c < b.dim; ++c, out += stride(a.dim)) {
        for (int r = 0; r < stride(a.dim); ++r) out[r] = r < a.dim ? block(r, c) : 0.0;
        if (i == j) out[c] += p.compliance[a.offset + c];
      }
    }
    p.stored.end(i);
  }
  p.copy_diagonal();
  return p;
}

}  // namespace stiction
