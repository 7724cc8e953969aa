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
void append_run(int i,
                const ContactProblem::Panels::Run& run,
                Eigen::MatrixXd& zero,
                ContactProblem& p) {
  const ConstraintSet& set = p.sets[i];
  ContactProblem::Panels& G = p.stored;
  const int stride = ContactProblem::stride(set.dim);
  G.runs.push_back(run);
  if (run.column <= set.offset && set.offset < run.column + run.count)
    G.diagonal[i] = G.size + stride * (set.offset - run.column);
  G.size += stride * run.count;
  G.values.resize(G.size, 0.0);
  double* out = G.values.data() + G.size - stride * run.count;
  for (int column = run.column; column < run.column + run.count; ++column, out += stride) {
    for (int r = 0; r < set.dim; ++r) std::swap(out[r], zero(set.offset + r, column));
  }
}

/// Whether the runs of each island stay within its rows.
void check_islands(const ContactProblem& p) {
  for (int k = 0; k < p.num_islands(); ++k) {
    const int first = p.island_start[k], last = p.island_start[k + 1];
    if (first == last) continue;
    const int begin = p.sets[first].offset, end = p.sets[last - 1].offset + p.sets[last - 1].dim;
    for (int i = first; i < last; ++i) {
      for (int r = p.stored.run_begin[i]; r < p.stored.run_end[i]; ++r) {
        const ContactProblem::Panels::Run& run = p.stored.runs[r];
        require(run.column >= begin && run.column + run.count <= end,
                "island_start: island " + std::to_string(k) + " is coupled to another");
      }
    }
  }
}

/// Whether the sides of each set name coordinates and entries that exist.
void check_layout(const ContactSpace& t, const std::vector<ConstraintSet>& sets) {
  require(t.side_start.size() == sets.size() + 1 &&
              cuts(t.side_start, static_cast<int>(t.sides.size())),
          "space.side_start: must rise from 0 to the number of sides, one entry per set and one "
          "more");
  require(cuts(t.tree_start, static_cast<int>(t.inertia.size())),
          "space.tree_start: must rise from 0 to the number of coordinates");
  // In 64 bits: a file may hold any 32-bit number.
  const auto within = [](std::int64_t start, std::int64_t count, std::size_t size) {
    return start >= 0 && count >= 0 && start + count <= static_cast<std::int64_t>(size);
  };
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const std::string at = "space.sides of set " + std::to_string(i);
    const int sides = t.side_start[i + 1] - t.side_start[i];
    require(sides == 1 || sides == 2, at + ": must be one or two");
    for (int s = t.side_start[i]; s < t.side_start[i + 1]; ++s) {
      const ContactSpace::Side& side = t.sides[s];
      require(side.tree >= 0 && side.tree < static_cast<int>(t.tree_start.size()) - 1 &&
                  side.length > 0 && side.length < 1 << 20 &&
                  (side.loose() || within(side.dof, side.length, t.dofs.size())) &&
                  within(side.z, side.entries(sets[i].dim), t.z.size()),
              at + ": reach beyond the arrays");
      const int size = t.tree_start[side.tree + 1] - t.tree_start[side.tree];
      require(!side.loose() || (side.length == 6 && size == 6),
              at + ": a loose body has six coordinates");
      for (int m = 0; m < side.length && !side.loose(); ++m) {
        require(t.dofs[side.dof + m] >= 0 && t.dofs[side.dof + m] < size,
                "space.dofs: beyond the coordinates of the tree");
      }
    }
  }
}

/// Whether an island has loose bodies alone, or none.
void check_kinds(const ContactSpace& space, const std::vector<int>& island_start) {
  for (std::size_t k = 0; k + 1 < island_start.size(); ++k) {
    for (int i = island_start[k]; i < island_start[k + 1]; ++i) {
      for (int s = space.side_start[i]; s < space.side_start[i + 1]; ++s) {
        require(space.sides[s].loose() == space.loose(island_start[k]),
                "space.sides of set " + std::to_string(i) + ": loose bodies beside others");
      }
    }
  }
}

/// Whether Z^T inertia^-1 Z + R has the diagonal of A.
void check_space(const StoredProblem& parts, const std::vector<ConstraintSet>& sets) {
  const ContactSpace& t = parts.space;
  check_layout(t, sets);
  check_kinds(t, parts.island_start);
  for (const double m : t.inertia) require(m > 0.0 && m < 1e300, "space.inertia: must be > 0");
  std::vector<double> row(t.inertia.size(), 0.0);
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const int dim = ContactProblem::tree_block(sets[i]);
    for (int r = 0; r < sets[i].dim; ++r) {
      std::fill(row.begin(), row.end(), 0.0);
      for (int s = t.side_start[i]; s < t.side_start[i + 1]; ++s) {
        const ContactSpace::Side& side = t.sides[s];
        double* out = row.data() + t.tree_start[side.tree];
        const double* z = t.z.data() + side.z;
        if (side.loose()) {
          for (int m = 0; m < side.length; ++m) out[m] += z[ContactSpace::Side::kLooseRow * r + m];
          continue;
        }
        z += r / dim * dim * side.length + r % dim;
        for (int m = 0; m < side.length; ++m) out[t.dofs[side.dof + m]] += z[dim * m];
      }
      const int k = sets[i].offset + r;
      double sum = parts.R.size() ? parts.R[k] : 0.0;
      for (std::size_t j = 0; j < row.size(); ++j) sum += row[j] * row[j] / t.inertia[j];
      require(std::abs(sum - parts.A(k, k)) <= 1e-9 * parts.A.diagonal().maxCoeff(),
              "space: does not make the diagonal of A in row " + std::to_string(k));
    }
  }
}

/// What follows from the inertia of loose bodies.
void find_inverse(ContactSpace& space) {
  constexpr int kRow = ContactSpace::Side::kLooseRow;
  space.inverse.assign(kRow * (space.tree_start.size() - 1), 0.0);
  space.motion.resize(space.inverse.size());
  for (const ContactSpace::Side& side : space.sides) {
    const double* inertia = space.inertia.data() + space.tree_start[side.tree];
    for (int k = 0; side.loose() && k < 6; ++k)
      space.inverse[kRow * side.tree + k] = 1.0 / inertia[k];
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
  parts.velocity_scale = problem.velocity_scale;
  parts.arm.resize(problem.num_sets());
  for (int i = 0; i < problem.num_sets(); ++i) parts.arm[i] = problem.sets[i].arm;
  parts.resting.assign(problem.resting.begin(), problem.resting.end());
  parts.sets = problem.sets;
  parts.island_start = problem.island_start;
  const ContactProblem::Panels& G = problem.panels();
  parts.run_start.push_back(0);
  for (int i = 0; i < problem.num_sets(); ++i) {
    for (int k = G.run_begin[i]; k < G.run_end[i]; ++k) {
      parts.run_columns.push_back(G.runs[k].column);
      parts.run_counts.push_back(G.runs[k].count);
    }
    parts.run_start.push_back(static_cast<int>(parts.run_columns.size()));
  }
  parts.space = problem.space;
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
  p.compliance.assign(parts.R.data(), parts.R.data() + parts.R.size());
  p.compliance.resize(p.g.size(), 0.0);
  require(parts.velocity_floor.size() == 0 || parts.velocity_floor.size() == p.num_sets(),
          "velocity_floor: must have one entry per set");
  for (const double x : parts.velocity_floor)
    require(x >= 0.0 && x < 1e300, "velocity_floor: must be >= 0");
  require(parts.arm.size() == 0 || parts.arm.size() == p.num_sets(),
          "arm: must have one entry per set");
  for (int i = 0; i < static_cast<int>(parts.arm.size()); ++i) {
    require(parts.arm[i] > 0.0 && parts.arm[i] < 1e300, "arm: must be > 0");
    p.sets[i].arm = parts.arm[i];
  }
  require(parts.velocity_scale >= 0.0 && parts.velocity_scale < 1e300,
          "velocity_scale: must be >= 0");
  p.velocity_scale = parts.velocity_scale;
  require(parts.resting.empty() || parts.resting.size() == p.sets.size(),
          "resting: must have one entry per set");
  for (const int x : parts.resting) require(x == 0 || x == 1, "resting: must be 0 or 1");
  p.resting.assign(parts.resting.begin(), parts.resting.end());
  p.velocity_floor.assign(parts.velocity_floor.begin(), parts.velocity_floor.end());
  p.stored.clear(p.num_sets());
  p.stored.values.clear();
  Eigen::MatrixXd left = parts.A;
  for (int i = 0; i < p.num_sets(); ++i) {
    p.stored.begin(i);
    int end = 0;
    for (int r = parts.run_start[i]; r < parts.run_start[i + 1]; ++r) {
      const int column = parts.run_columns[r], count = parts.run_counts[r];
      require(
          column >= end && count > 0 && column <= p.num_rows() && count <= p.num_rows() - column,
          "run_columns, run_counts: runs of a set must rise and stay within the rows");
      end = column + count;
      append_run(i, {column, count, set_at(p.sets, column)}, left, p);
    }
    require(p.stored.diagonal[i] >= 0,
            "run_columns: set " + std::to_string(i) + " lacks its own block");
    p.stored.end(i);
  }
  p.copy_diagonal();
  require((left.array() == 0.0).all(), "A: has entries in blocks that are not stored");
  check_islands(p);
  if (parts.space.known()) {
    check_space(parts, p.sets);
    p.space = parts.space;
    const std::vector<ContactSpace::Side>& sides = p.space.sides;
    const bool one = std::all_of(sides.begin(), sides.end(), [&](const auto& side) {
      return side.tree == sides.front().tree && !side.loose();
    });
    if (one)
      p.space.inverse.clear();
    else
      find_inverse(p.space);
  }
  return p;
}

}  // namespace stiction
