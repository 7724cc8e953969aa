#include "contact/bilateral_factor.hpp"

#include "contact/constraint_row.hpp"
#include "dynamics/kinematics.hpp"
#include "dynamics/loose_body.hpp"
#include "dynamics/mass_matrix.hpp"
#include "math/semidefinite.hpp"

#include <algorithm>

namespace stiction {
namespace {

/// A row whose square keeps less than this beside the rows before it repeats them.
constexpr double kDependent = 1e-10;

/// The blocks of a set's panel that are in columns with a place >= 0.
void copy_panel(const ContactProblem& p, int set, const int* place, int n, double* A) {
  const int dim = p.sets[set].dim, row = place[p.sets[set].offset];
  p.each_column(set, [&](int c, const double* column) {
    for (int k = 0; k < dim && place[c] >= 0; ++k) A[(row + k) * n + place[c]] = column[k];
  });
}

}  // namespace

void ClosedLoopWorkspace::resize(const Scene& scene) {
  touched.assign(scene.trees().size(), 0);
  any = !scene.closures().empty() || !scene.gears().empty();
  if (!any) return;
  for (const Closure& closure : scene.closures()) {
    for (const int body : {closure.body_a, closure.body_b})
      if (body >= 0) touched[scene.tree_of_body(body)] = 1;
  }
  for (const Gear& gear : scene.gears())
    for (const int dof : {gear.dof, gear.driver}) touched[scene.tree_of_dof(dof)] = 1;
  w.assign(scene.nv(), 0.0);
  change = v = w;
  q.assign(scene.nq(), 0.0);
  dynamics.resize(scene);
  for (std::size_t t = 0; t < touched.size(); ++t)
    any_loose = any_loose || (touched[t] && is_loose_body(dynamics.views[t]));
}

void factor_bilateral(const ContactProblem& p, ClosedLoopWorkspace& work) {
  work.sets.clear();
  work.islands.clear();
  work.factor.clear();
  work.place.assign(p.num_rows(), -1);
  int rows = 0, set = 0;
  for (int island = 0; island < p.num_islands(); ++island) {
    const int first = rows, first_set = static_cast<int>(work.sets.size());
    for (; set < p.island_start[island + 1]; ++set) {
      if (p.sets[set].kind != SetKind::kFree) continue;
      work.sets.push_back(set);
      for (int k = 0; k < p.sets[set].dim; ++k) work.place[p.sets[set].offset + k] = rows++ - first;
    }
    if (rows == first) continue;
    const int n = rows - first;
    work.islands.push_back({first, n, 0, static_cast<int>(work.factor.size())});
    work.factor.resize(work.factor.size() + n * n, 0.0);
    for (std::size_t i = first_set; i < work.sets.size(); ++i)
      copy_panel(
          p, work.sets[i], work.place.data(), n, work.factor.data() + work.islands.back().factor);
  }
  work.scale.resize(rows);
  work.order.resize(rows);
  work.x.resize(rows);
  work.scratch.resize(rows);
  for (ClosedLoopWorkspace::Island& island : work.islands) {
    island.rank = factor_semidefinite(work.factor.data() + island.factor,
                                      island.rows,
                                      kDependent,
                                      work.scale.data() + island.first,
                                      work.order.data() + island.first);
  }
}

void solve_bilateral(const ContactProblem& p,
                     const double* x,
                     ClosedLoopWorkspace& work,
                     std::vector<double>& impulse) {
  double* y = work.x.data();
  for (const int set : work.sets) y = std::copy_n(x + p.sets[set].offset, p.sets[set].dim, y);
  for (const ClosedLoopWorkspace::Island& island : work.islands) {
    substitute_semidefinite(work.factor.data() + island.factor,
                            island.rows,
                            island.rank,
                            work.scale.data() + island.first,
                            work.order.data() + island.first,
                            work.x.data() + island.first,
                            work.scratch.data());
  }
  impulse.assign(p.num_rows(), 0.0);
  const double* l = work.x.data();
  for (const int set : work.sets) {
    for (int k = 0; k < p.sets[set].dim; ++k) impulse[p.sets[set].offset + k] = -*l++;
  }
}

namespace {

/// Calls project(island, x) for the islands with rows that repeat others, x their rows of
/// `of_rows`, which is changed.
template <class Project>
void each_redundant(const ContactProblem& p,
                    ClosedLoopWorkspace& work,
                    double* of_rows,
                    Project&& project) {
  double* y = work.x.data();
  for (const int set : work.sets) y = std::copy_n(of_rows + p.sets[set].offset, p.sets[set].dim, y);
  for (const ClosedLoopWorkspace::Island& island : work.islands) {
    if (island.rank < island.rows) project(island, work.x.data() + island.first);
  }
  const double* x = work.x.data();
  for (const int set : work.sets) {
    std::copy_n(x, p.sets[set].dim, of_rows + p.sets[set].offset);
    x += p.sets[set].dim;
  }
}

}  // namespace

void keep_in_range(const ContactProblem& p, ClosedLoopWorkspace& work, double* of_rows) {
  each_redundant(p, work, of_rows, [&](const ClosedLoopWorkspace::Island& island, double* x) {
    project_on_range(work.factor.data() + island.factor,
                     island.rows,
                     island.rank,
                     work.scale.data() + island.first,
                     work.order.data() + island.first,
                     x,
                     work.scratch.data());
  });
}

void bring_into_range(const ContactProblem& p, ClosedLoopWorkspace& work, double* of_rows) {
  each_redundant(p, work, of_rows, [&](const ClosedLoopWorkspace::Island& island, double* x) {
    const double* factor = work.factor.data() + island.factor;
    const int* order = work.order.data() + island.first;
    work.gram.resize(island.rank * island.rank);
    factor_gram(factor, island.rows, island.rank, order, work.gram.data());
    const SemidefiniteFactor whole{factor,
                                   island.rows,
                                   island.rank,
                                   work.scale.data() + island.first,
                                   order,
                                   work.gram.data()};
    nearest_in_range(whole, x, work.scratch.data());
  });
}

void update_placements(const Scene& scene,
                       const Parameters& parameters,
                       const double* q,
                       ClosedLoopWorkspace& work) {
  each_touched(scene, work, [&](const Tree& tree, int t) {
    forward_placements(work.dynamics.views[t],
                       tree_parameters(tree, t, parameters),
                       q + tree.q_offset,
                       work.dynamics.trees[t]);
  });
}

void closure_error_at(const Scene& scene,
                      const Parameters& parameters,
                      const DynamicsWorkspace& dynamics,
                      int index,
                      double* error) {
  const Closure& closure = scene.closures()[index];
  closure_error(closure,
                body_placement(scene, dynamics, closure.body_a) * parameters.closure_X_A[index],
                body_placement(scene, dynamics, closure.body_b) * parameters.closure_X_B[index],
                error);
}

}  // namespace stiction
