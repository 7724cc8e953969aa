#include "stiction/contact/stored_problem.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace stiction {
namespace {

void require(bool fits, const std::string& text) {
  if (!fits) throw std::invalid_argument(text);
}

/// Cuts of 0 .. end that do not fall.
bool cuts(const std::vector<int>& start, int end) {
  return !start.empty() && start.front() == 0 && start.back() == end &&
         std::is_sorted(start.begin(), start.end());
}

/// The set whose first row this is.
int set_at(const std::vector<ConstraintSet>& sets, int row) {
  const auto it = std::lower_bound(
      sets.begin(), sets.end(), row, [](const ConstraintSet& s, int r) { return s.offset < r; });
  const bool found = it != sets.end() && it->offset == row;
  require(found, "run_columns: row " + std::to_string(row) + " begins no set");
  return static_cast<int>(it - sets.begin());
}

/// Appends the columns of one run of set i; `zero` loses what is stored.
void append_run(const ConstraintSet& set,
                const ContactProblem::Run& run,
                Eigen::MatrixXd& zero,
                ContactProblem& p) {
  p.runs.push_back(run);
  for (int column = run.column; column < run.column + run.count; ++column) {
    if (column == set.offset) p.diagonal_start.push_back(static_cast<int>(p.values.size()));
    for (int r = 0; r < ContactProblem::stride(set.dim); ++r) {
      p.values.push_back(r < set.dim ? zero(set.offset + r, column) : 0.0);
      if (r < set.dim) zero(set.offset + r, column) = 0.0;
    }
  }
}

/// Whether the runs of each island stay within its rows.
void check_islands(const ContactProblem& p) {
  for (int k = 0; k < p.num_islands(); ++k) {
    const int first = p.island_start[k], last = p.island_start[k + 1];
    if (first == last) continue;
    const int begin = p.sets[first].offset, end = p.sets[last - 1].offset + p.sets[last - 1].dim;
    for (int r = p.run_start[first]; r < p.run_start[last]; ++r) {
      require(p.runs[r].column >= begin && p.runs[r].column + p.runs[r].count <= end,
              "island_start: island " + std::to_string(k) + " is coupled to another");
    }
  }
}

/// Whether the sides of each set name coordinates and entries that exist.
void check_layout(const ContactProblem::Trees& t, const std::vector<ConstraintSet>& sets) {
  require(t.side_start.size() == sets.size() + 1 &&
              cuts(t.side_start, static_cast<int>(t.sides.size())),
          "trees.side_start: must rise from 0 to the number of sides, one entry per set and one "
          "more");
  require(cuts(t.tree_start, static_cast<int>(t.inertia.size())),
          "trees.tree_start: must rise from 0 to the number of coordinates");
  // In 64 bits: a file may hold any 32-bit number.
  const auto within = [](std::int64_t start, std::int64_t count, std::size_t size) {
    return start >= 0 && count >= 0 && start + count <= static_cast<std::int64_t>(size);
  };
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const std::string at = "trees.sides of set " + std::to_string(i);
    const int sides = t.side_start[i + 1] - t.side_start[i];
    require(sides == 1 || sides == 2, at + ": must be one or two");
    for (int s = t.side_start[i]; s < t.side_start[i + 1]; ++s) {
      const ContactProblem::Trees::Side& side = t.sides[s];
      require(side.tree >= 0 && side.tree < static_cast<int>(t.tree_start.size()) - 1 &&
                  side.length > 0 && within(side.dof, side.length, t.dofs.size()) &&
                  within(side.z, std::int64_t{side.length} * sets[i].dim, t.z.size()),
              at + ": reach beyond the arrays");
      const int size = t.tree_start[side.tree + 1] - t.tree_start[side.tree];
      for (int m = 0; m < side.length; ++m) {
        require(t.dofs[side.dof + m] >= 0 && t.dofs[side.dof + m] < size,
                "trees.dofs: beyond the coordinates of the tree");
      }
    }
  }
}

/// Whether Z^T inertia^-1 Z + R has the diagonal of A.
void check_trees(const StoredProblem& parts, const std::vector<ConstraintSet>& sets) {
  const ContactProblem::Trees& t = parts.trees;
  check_layout(t, sets);
  for (const double m : t.inertia) require(m > 0.0 && m < 1e300, "trees.inertia: must be > 0");
  std::vector<double> row(t.inertia.size(), 0.0);
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const int dim = ContactProblem::tree_block(sets[i]);
    for (int r = 0; r < sets[i].dim; ++r) {
      std::fill(row.begin(), row.end(), 0.0);
      for (int s = t.side_start[i]; s < t.side_start[i + 1]; ++s) {
        const ContactProblem::Trees::Side& side = t.sides[s];
        const double* z = t.z.data() + side.z + r / dim * dim * side.length + r % dim;
        for (int m = 0; m < side.length; ++m)
          row[t.tree_start[side.tree] + t.dofs[side.dof + m]] += z[dim * m];
      }
      const int k = sets[i].offset + r;
      double sum = parts.R.size() ? parts.R[k] : 0.0;
      for (std::size_t j = 0; j < row.size(); ++j) sum += row[j] * row[j] / t.inertia[j];
      require(std::abs(sum - parts.A(k, k)) <= 1e-9 * parts.A.diagonal().maxCoeff(),
              "trees: do not make the diagonal of A in row " + std::to_string(k));
    }
  }
}

}  // namespace

StoredProblem take_apart(const ContactProblem& problem) {
  StoredProblem parts;
  parts.A = problem.dense();
  parts.g = Eigen::Map<const Eigen::VectorXd>(problem.g.data(), problem.num_rows());
  parts.R = Eigen::Map<const Eigen::VectorXd>(problem.compliance.data(), problem.num_rows());
  parts.velocity_floor = Eigen::Map<const Eigen::VectorXd>(problem.velocity_floor.data(),
                                                           problem.velocity_floor.size());
  parts.sets = problem.sets;
  parts.island_start = problem.island_start;
  parts.run_start = problem.run_start;
  for (const ContactProblem::Run& run : problem.runs) {
    parts.run_columns.push_back(run.column);
    parts.run_counts.push_back(run.count);
  }
  parts.trees = problem.trees;
  return parts;
}

ContactProblem put_together(const StoredProblem& parts) {
  // Checks sizes, sets, symmetry and signs; its panels are replaced.
  ContactProblem p = ContactProblem::from_dense(parts.A, parts.g, parts.sets, parts.R);
  require(p.sets.size() == parts.sets.size(), "sets: a bilateral set has more than 6 rows");
  require(cuts(parts.island_start, p.num_sets()), "island_start: must rise from 0 to the sets");
  require(parts.run_start.size() == p.sets.size() + 1 &&
              cuts(parts.run_start, static_cast<int>(parts.run_columns.size())) &&
              parts.run_columns.size() == parts.run_counts.size(),
          "run_start: must rise from 0 to the number of runs, one entry per set and one more");
  p.island_start = parts.island_start;
  p.run_start = parts.run_start;
  p.compliance.assign(parts.R.data(), parts.R.data() + parts.R.size());
  p.compliance.resize(p.g.size(), 0.0);
  require(parts.velocity_floor.size() == 0 || parts.velocity_floor.size() == p.num_sets(),
          "velocity_floor: must have one entry per set");
  for (const double x : parts.velocity_floor)
    require(x >= 0.0 && x < 1e300, "velocity_floor: must be >= 0");
  p.velocity_floor.assign(parts.velocity_floor.begin(), parts.velocity_floor.end());
  p.runs.clear();
  p.panel_start.clear();
  p.diagonal_start.clear();
  p.values.clear();
  Eigen::MatrixXd left = parts.A;
  for (int i = 0; i < p.num_sets(); ++i) {
    p.panel_start.push_back(static_cast<int>(p.values.size()));
    int end = 0;
    for (int r = p.run_start[i]; r < p.run_start[i + 1]; ++r) {
      const int column = parts.run_columns[r], count = parts.run_counts[r];
      require(
          column >= end && count > 0 && column <= p.num_rows() && count <= p.num_rows() - column,
          "run_columns, run_counts: runs of a set must rise and stay within the rows");
      end = column + count;
      append_run(p.sets[i], {column, count, set_at(p.sets, column)}, left, p);
    }
    require(static_cast<int>(p.diagonal_start.size()) == i + 1,
            "run_columns: set " + std::to_string(i) + " lacks its own block");
  }
  p.panel_start.push_back(static_cast<int>(p.values.size()));
  require((left.array() == 0.0).all(), "A: has entries in blocks that are not stored");
  check_islands(p);
  if (parts.trees.known()) {
    check_trees(parts, p.sets);
    p.trees = parts.trees;
  }
  return p;
}

}  // namespace stiction
