#include "simulator/sleeping.hpp"

#include "contact/surface_motion.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <string>

namespace stiction {
namespace {

constexpr std::uint64_t kOffset = 0xcbf29ce484222325u, kPrime = 0x100000001b3u;

/// FNV-1a by words; a negative zero counts as zero.
std::uint64_t mixed(std::uint64_t mark, const double* x, int count) {
  for (int i = 0; i < count; ++i) {
    mark = (mark ^ std::bit_cast<std::uint64_t>(x[i] + 0.0)) * kPrime;
    mark ^= mark >> 32;
  }
  return mark;
}

/// An empty vector of a control means zero.
std::uint64_t mixed(std::uint64_t mark, const Eigen::VectorXd& x, const Tree& tree) {
  if (x.size() > 0) return mixed(mark, x.data() + tree.v_offset, tree.nv);
  const double zero = 0.0;
  for (int k = 0; k < tree.nv; ++k) mark = mixed(mark, &zero, 1);
  return mark;
}

std::uint64_t control_mark(const Tree& tree, const Control& control) {
  std::uint64_t mark = mixed(kOffset, control.torque, tree);
  mark = mixed(mark, control.position_target, tree);
  return mixed(mark, control.velocity_target, tree);
}

std::uint64_t whole_mark(const Tree& tree, const State& state, std::uint64_t control) {
  const std::uint64_t mark = mixed(control, state.q.data() + tree.q_offset, tree.nq);
  return mixed(mark, state.v.data() + tree.v_offset, tree.nv);
}

bool zero(const Vec3d& x) { return x.x == 0.0 && x.y == 0.0 && x.z == 0.0; }

void wake_island(State& state, int island) {
  for (TreeRest& rest : state.rest) {
    if (rest.island == island) rest = {};
  }
}

void mark_asleep(const State& state, DynamicsWorkspace& dynamics) {
  dynamics.num_asleep = 0;
  for (std::size_t t = 0; t < state.rest.size(); ++t) {
    dynamics.asleep[t] = state.rest[t].island >= 0;
    dynamics.num_asleep += dynamics.asleep[t];
  }
}

/// Trees that rows join, and whether a row acts on a tree at all.
void find_islands(const ConstraintRows& rows, int num_trees, SleepWorkspace& work) {
  work.islands.reset(num_trees);
  work.held.assign(num_trees, 0);
  for (const ConstraintRow& row : rows.rows) {
    for (int s = 0; s < row.num_sides; ++s) work.held[row.sides[s].tree] = 1;
    if (row.num_sides == 2) work.islands.join(row.sides[0].tree, row.sides[1].tree);
  }
}

}  // namespace

void wake_changed(const Scene& scene,
                  const Control& control,
                  State& state,
                  DynamicsWorkspace& dynamics,
                  SleepWorkspace& work) {
  const std::vector<Tree>& trees = scene.trees();
  if (state.rest.size() != trees.size()) state.rest.assign(trees.size(), {});
  work.control.resize(trees.size());
  work.pushed.assign(trees.size(), 0);
  for (const ExternalWrench& w : control.wrenches) {
    if (!zero(w.force) || !zero(w.moment)) work.pushed[scene.tree_of_body(w.body)] = 1;
  }
  for (std::size_t t = 0; t < trees.size(); ++t) {
    const TreeRest& rest = state.rest[t];
    work.control[t] = control_mark(trees[t], control);
    if (rest.island < 0) continue;
    if (work.pushed[t] || rest.mark != whole_mark(trees[t], state, work.control[t]))
      wake_island(state, rest.island);
  }
  mark_asleep(state, dynamics);
}

bool wake_touched(const Scene& scene,
                  const Parameters& parameters,
                  const ContactSet& contacts,
                  State& state,
                  DynamicsWorkspace& dynamics) {
  if (dynamics.num_asleep == 0) return false;
  bool woken = false;
  const bool surfaces_move = any_surface_moves(parameters);
  for (const Contact& c : contacts) {
    if (c.body_a < 0 || c.body_b < 0) {
      const int island = state.rest[scene.tree_of_body(std::max(c.body_a, c.body_b))].island;
      const bool moves = surfaces_move && (surface_moves(parameters, c.geometry_a) ||
                                           surface_moves(parameters, c.geometry_b));
      if (island < 0 || !moves) continue;
      wake_island(state, island);
      woken = true;
      continue;
    }
    const int a = state.rest[scene.tree_of_body(c.body_a)].island,
              b = state.rest[scene.tree_of_body(c.body_b)].island;
    if ((a < 0) == (b < 0)) continue;
    wake_island(state, std::max(a, b));
    woken = true;
  }
  mark_asleep(state, dynamics);
  return woken;
}

void fall_asleep(const Scene& scene,
                 const SleepSettings& settings,
                 double dt,
                 const ConstraintRows& rows,
                 SleepWorkspace& work,
                 State& state) {
  const std::vector<Tree>& trees = scene.trees();
  const int n = static_cast<int>(trees.size());
  find_islands(rows, n, work);
  work.rested.assign(n, kInfinity);
  for (int t = 0; t < n; ++t) {
    TreeRest& rest = state.rest[t];
    if (rest.island >= 0) continue;
    const auto v = state.v.segment(trees[t].v_offset, trees[t].nv);
    const bool still = !work.pushed[t] && v.lpNorm<Eigen::Infinity>() <= settings.speed;
    rest.time = still ? rest.time + dt : 0.0;
    double& rested = work.rested[work.islands.find(t)];
    // What nothing holds is in flight, or costs little.
    rested = work.held[t] ? std::min(rested, rest.time) : 0.0;
  }
  for (int t = 0; t < n; ++t) {
    TreeRest& rest = state.rest[t];
    const int island = work.islands.find(t);
    if (rest.island >= 0 || work.rested[island] < settings.time) continue;
    state.v.segment(trees[t].v_offset, trees[t].nv).setZero();
    rest.island = island;
    rest.mark = whole_mark(trees[t], state, work.control[t]);
  }
}

}  // namespace stiction
