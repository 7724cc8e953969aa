#include "solver/common/island.hpp"

#include "contact/scaled_residuals.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {

void velocities(const Island& island, const double* lambda, double* velocity) {
  island.problem.velocities(island.first, island.last, lambda, velocity);
}

/// largest_asked() without normals that open by themselves: a gap over dt, metres per second
/// between thin bodies or in short steps, is no motion of which a part may be let pass. Of islands
/// that nothing carries it is: nothing approaches in them, and they must not decide for others.
static double approach_scale(const Island& island) {
  const ContactProblem& p = island.problem;
  const std::vector<int>& sides = p.space.side_start;
  double scale = 0.0;
  bool carried = false;
  for (int i = island.first; i < island.last; ++i) {
    const ConstraintSet& set = p.sets[i];
    carried = carried || !p.space.known() || in_one_tree(p.space) || sides[i + 1] - sides[i] == 1;
    const double* g = p.g.data() + set.offset;
    for (int r = 0; r < set.dim; ++r) {
      const double approach = set.is_normal(r) ? -g[r] : set.opposed(g[r]);
      scale = std::max(scale, approach * set.velocity_unit(r));
    }
  }
  return carried ? scale : largest_asked(island);
}

double tolerance_of(const Island& island, const SolverSettings& settings) {
  if (settings.name != "ncp-newton") return settings.tolerance;
  const double enough = is_large(island) ? settings.tolerance_large : settings.acceptable;
  return std::max(settings.tolerance, enough);
}

double safe_tolerance_large(const ContactProblem& problem, double tolerance_large) {
  constexpr double kMost = 0.3;
  double least = 1.0;
  for (int k = 0; k < problem.num_islands(); ++k) {
    const Island island(problem, problem.island_start[k], problem.island_start[k + 1]);
    if (!is_large(island)) continue;
    const double V = largest_asked(island), approach = approach_scale(island);
    if (tolerance_large * V > kMost * approach) least = std::min(least, approach / V);
  }
  return least * tolerance_large;
}

double largest_own_share(const Island& island, const double* lambda, const double* velocity) {
  const ContactProblem& p = island.problem;
  const double V = velocity_scale(island);
  double largest = 0.0;
  for (int i = island.first; i < island.last; ++i) {
    const ConstraintSet& set = p.sets[i];
    const double *l = lambda + set.offset, *c = velocity + set.offset;
    const double q = set_residual(set, l, c).complementarity;
    if (q == 0.0) continue;
    const bool plain = set.in_one_unit();
    double d = 0.0, own = 0.0;
    for (int r = 0; r < set.dim; ++r) {
      const RowUnits unit = plain ? RowUnits{} : row_units(set, r);
      d = std::max(d, p.diagonal_entry(i, r) * unit.velocity * unit.velocity);
      own = std::max(own, std::abs(l[r]) / unit.impulse);
    }
    own = std::max(own, d > 0.0 ? V / d : 0.0);
    largest = std::max(largest, q / (own * V));
  }
  return largest;
}

double pass_work(const Island& island) {
  constexpr double kPerRow = 100.0;  // measured, drops of boxes and spheres: 25 ns
  constexpr double kPerEntry = 2.0;  // of panels beyond the caches
  const ContactProblem& p = island.problem;
  double entries = 0.0;
  if (!island.is_loose() && island.last > island.first) {
    const ContactProblem::Panels& G = p.panels(island.first, island.last);
    const int last = island.last - 1;  // panels of an island lie side by side
    entries = G.start[last] - G.start[island.first];
    for (int k = G.run_begin[last]; k < G.run_end[last]; ++k)
      entries += ContactProblem::stride(p.sets[last].dim) * G.runs[k].count;
  }
  return kPerRow * island.rows() + kPerEntry * entries;
}

void allow_for(const ContactProblem& problem, WorkAccount& account) {
  double pass = 0.0;
  for (int k = 0; k < problem.num_islands(); ++k)
    pass += pass_work({problem, problem.island_start[k], problem.island_start[k + 1]});
  account.allow(problem.num_rows(), pass);
}

double velocity_scale(const Island& island) {
  return std::max(largest_asked(island), island.problem.velocity_scale);
}

double largest_asked(const Island& island) {
  double scale = 0.0;
  for (int i = island.first; i < island.last; ++i) {
    const ConstraintSet& set = island.problem.sets[i];
    const double* g = island.problem.g.data() + set.offset;
    for (int r = 0; r < set.dim; ++r)
      scale = std::max(scale, set.opposed(g[r]) * set.velocity_unit(r));
  }
  return scale;
}

double mean_diagonal(const Island& island) {
  double sum = 0.0;
  for (int i = island.first; i < island.last; ++i) {
    for (int r = 0; r < island.problem.sets[i].dim; ++r) sum += island.problem.diagonal_entry(i, r);
  }
  return sum > 0.0 ? sum / island.rows() : 1.0;
}

double largest_eigenvalue_bound(const double* block, int n, int stride) {
  if (n == 1) return block[0];
  double q = block[0], deviation = 0.0;
  for (int r = 1; r < n; ++r) q += block[(stride + 1) * r];
  q /= n;
  for (int c = 0; c < n; ++c) {
    for (int r = 0; r < n; ++r) {
      const double x = block[stride * c + r] - (r == c ? q : 0.0);
      deviation += x * x;
    }
  }
  return q + (n - 1) * std::sqrt(deviation / (n * (n - 1)));
}

void copy_dense(const Island& island, int stride, double* G, double* g) {
  const ContactProblem& p = island.problem;
  const std::size_t n = stride;
  std::fill(G, G + n * island.rows(), 0.0);
  std::copy(p.g.begin() + island.begin, p.g.begin() + island.end, g);
  for (int i = island.first; i < island.last; ++i) {
    const ConstraintSet& set = p.sets[i];
    p.each_column(i, [&](int j, const double* column) {
      std::copy(column, column + set.dim, G + (j - island.begin) * n + (set.offset - island.begin));
    });
  }
}

/// The sides of the sets [first, last).
static void copy_space(const ContactSpace& space,
                       const std::vector<ConstraintSet>& sets,
                       int first,
                       int last,
                       ContactSpace& out) {
  out.side_start.assign(1, 0);
  out.sides.clear();
  out.dofs.clear();
  out.z.clear();
  if (!space.known()) return;
  for (int i = first; i < last; ++i) {
    for (int s = space.side_start[i]; s < space.side_start[i + 1]; ++s) {
      ContactSpace::Side side = space.sides[s];
      const auto z = space.z.begin() + side.z;
      side.z = static_cast<int>(out.z.size());
      out.z.insert(out.z.end(), z, z + side.entries(sets[i].dim));
      if (!side.loose()) {
        const auto dof = space.dofs.begin() + side.dof;
        side.dof = static_cast<int>(out.dofs.size());
        out.dofs.insert(out.dofs.end(), dof, dof + side.length);
      }
      out.sides.push_back(side);
    }
    out.side_start.push_back(static_cast<int>(out.sides.size()));
  }
  out.tree_start = space.tree_start;
  out.inertia = space.inertia;
  out.inverse = space.inverse;
  out.motion.resize(out.inverse.size());
}

/// The panels of the sets [first, last), which `sets` numbers anew.
static void copy_panels(const ContactProblem& p,
                        int first,
                        int last,
                        const std::vector<ConstraintSet>& sets,
                        ContactProblem::Panels& out) {
  const ContactProblem::Panels& all = p.panels(first, last);
  const int begin = p.sets[first].offset;
  out.clear(last - first);
  for (int i = first; i < last; ++i) {
    const int set = i - first, stride = ContactProblem::stride(sets[set].dim);
    out.begin(set);
    out.diagonal[set] = out.start[set] + all.diagonal[i] - all.start[i];
    for (int k = all.run_begin[i]; k < all.run_end[i]; ++k) {
      const ContactProblem::Panels::Run& run = all.runs[k];
      out.runs.push_back({run.column - begin, run.count, run.set - first});
      out.size += stride * run.count;
    }
    out.end(set);
    std::copy_n(all.values.begin() + all.start[i],
                out.size - out.start[set],
                out.values.begin() + out.start[set]);
  }
}

void copy_island(const ContactProblem& p, int k, ContactProblem& out) {
  const Island island(p, p.island_start[k], p.island_start[k + 1]);
  const int first = island.first, last = island.last;
  const auto cut = [](const auto& from, int begin, int end, auto& to) {
    to.assign(from.begin() + begin, from.begin() + end);
  };
  cut(p.sets, first, last, out.sets);
  cut(p.g, island.begin, island.end, out.g);
  cut(p.compliance, island.begin, island.end, out.compliance);
  out.velocity_scale = p.velocity_scale;
  out.velocity_floor.clear();
  if (!p.velocity_floor.empty()) cut(p.velocity_floor, first, last, out.velocity_floor);
  out.resting.clear();
  if (!p.resting.empty()) cut(p.resting, first, last, out.resting);
  for (ConstraintSet& set : out.sets) set.offset -= island.begin;
  out.island_start.assign({0, last - first});
  copy_panels(p, first, last, out.sets, out.stored);
  out.copy_diagonal();
  copy_space(p.space, p.sets, first, last, out.space);
}

}  // namespace stiction
