#include "stiction/contact/stored_problem.hpp"

#include <algorithm>
#include <numeric>
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

}  // namespace

StoredProblem take_apart(const ContactProblem& problem) {
  StoredProblem parts;
  parts.A = problem.dense();
  parts.g = Eigen::Map<const Eigen::VectorXd>(problem.g.data(), problem.num_rows());
  parts.R = Eigen::Map<const Eigen::VectorXd>(problem.compliance.data(), problem.num_rows());
  parts.sets = problem.sets;
  parts.island_start = problem.island_start;
  parts.run_start = problem.run_start;
  for (const ContactProblem::Run& run : problem.runs) {
    parts.run_columns.push_back(run.column);
    parts.run_counts.push_back(run.count);
  }
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
      require(column >= end && count > 0 && column + count <= p.num_rows(),
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
  return p;
}

}  // namespace stiction
