#include "dynamics/forest.hpp"

#include "dynamics/bias.hpp"
#include "dynamics/joint_forces.hpp"
#include "dynamics/kinematics.hpp"
#include "dynamics/loose_body.hpp"
#include "dynamics/mass_matrix.hpp"
#include "dynamics/tree_kernels.hpp"
#include "dynamics/tree_layout.hpp"
#include "model/joint.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <numeric>

namespace stiction {
bool both_rest(const Scene& scene, const DynamicsWorkspace& work, int body_a, int body_b) {
  if (work.num_asleep == 0) return false;
  const auto rests = [&](int body) { return body < 0 || work.asleep[scene.tree_of_body(body)]; };
  return rests(body_a) && rests(body_b);
}

TreeParameters<double> tree_parameters(const Tree& tree, int index, const Parameters& p) {
  const int b = tree.body_offset;
  return {p.placement.data() + b,
          p.axis.data() + b,
          p.mass.data() + b,
          p.com.data() + b,
          p.inertia.data() + b,
          p.base[index],
          p.gravity};
}

void DynamicsWorkspace::resize(const Scene& scene) {
  std::size_t total = 0;
  views.clear();
  for (const Tree& t : scene.trees()) {
    STICTION_ASSERT(t.consistent());
    views.push_back(t.view());
    total += tree_data_size<double>(views.back());
  }
  memory.assign(total, 0.0);
  trees.clear();
  Arena<double> arena{memory.data()};
  for (const TreeView& view : views) trees.push_back(take_tree_data(view, arena));
  STICTION_ASSERT(arena.cursor == memory.data() + total);
  implicit_diagonal.assign(scene.nv(), 0.0);
  force.assign(scene.nv(), 0.0);
  free_motion.assign(scene.nv(), 0.0);
  start_bias.assign(scene.nv(), 0.0);
  start_motion.assign(scene.nv(), 0.0);
  mean.assign(scene.nv(), 0.0);
  saturated.assign(scene.nv(), 0);
  bias_at.assign(scene.trees().size(), BiasAt::kStart);
  fast.assign(scene.trees().size(), 0);
  kicked.assign(scene.trees().size(), 0);
  turn.assign(scene.trees().size(), 0.0);
  asleep.assign(scene.trees().size(), 0);
  num_asleep = 0;
}

void forward_kinematics(const Scene& scene,
                        const Parameters& parameters,
                        const double* q,
                        const double* v,
                        DynamicsWorkspace& work) {
  for (std::size_t t = 0; t < scene.trees().size(); ++t) {
    const Tree& tree = scene.trees()[t];
    place_and_move(work.views[t],
                   tree_parameters(tree, static_cast<int>(t), parameters),
                   q + tree.q_offset,
                   v + tree.v_offset,
                   work.trees[t]);
  }
}

/// By their bits: numbers that compare equal may not be the same.
static bool same(const Eigen::VectorXd& a, const double* b) {
  return a.size() == 0 || std::memcmp(a.data(), b, a.size() * sizeof(double)) == 0;
}

void forward_kinematics(const Scene& scene,
                        const Parameters& parameters,
                        const double* q,
                        const double* v,
                        KnownKinematics& known,
                        DynamicsWorkspace& work) {
  const bool placed = known.any && known.version == parameters.version && same(known.q, q);
  if (placed && same(known.v, v)) return;
  known.v = Eigen::Map<const Eigen::VectorXd>(v, scene.nv());
  if (placed) {
    for (std::size_t t = 0; t < scene.trees().size(); ++t) {
      const Tree& tree = scene.trees()[t];
      move_placed(work.views[t],
                  tree_parameters(tree, static_cast<int>(t), parameters),
                  v + tree.v_offset,
                  work.trees[t]);
    }
    return;
  }
  forward_kinematics(scene, parameters, q, v, work);
  known.any = true;
  known.q = Eigen::Map<const Eigen::VectorXd>(q, scene.nq());
  known.version = parameters.version;
}

static void add_wrenches(const Scene& scene,
                         const std::vector<ExternalWrench>& wrenches,
                         DynamicsWorkspace& work) {
  for (const ExternalWrench& w : wrenches) {
    const int t = scene.tree_of_body(w.body);
    add_external_wrench(w.body - scene.trees()[t].body_offset, w.force, w.moment, work.trees[t]);
  }
}

static void begin_forces(const Scene& scene,
                         const Parameters& parameters,
                         DynamicsWorkspace& work) {
  for (std::size_t t = 0; t < scene.trees().size(); ++t) {
    const TreeParameters<double> p =
        tree_parameters(scene.trees()[t], static_cast<int>(t), parameters);
    find_inertias_and_forces(work.views[t], p, work.trees[t]);
  }
}

/// Factor of M^ and w = L^-T scale (force - bias) of one tree, whose bias is known.
static void whiten_forces(const Tree& tree, std::size_t t, double scale, DynamicsWorkspace& work) {
  const TreeView& view = work.views[t];
  TreeData<double>& data = work.trees[t];
  double* w = work.free_motion.data() + tree.v_offset;
  for (int k = 0; k < tree.nv; ++k) {
    data.L[tree.row[k] + tree.depth[k]] += work.implicit_diagonal[tree.v_offset + k];
    w[k] = scale * (work.force[tree.v_offset + k] - data.bias[k]);
  }
  factorise_and_whiten(view, data, w);
}

bool turns_fast(const DynamicsWorkspace& work, int tree, double dt) {
  if (!is_loose_body(work.views[tree])) return work.turn[tree] > kFastestTurn;
  constexpr double kExact = 0.5;  // [rad] of momentum_of_turn()
  return dt * norm(work.trees[tree].V[0].angular) > kExact;
}

/// The bias of an articulated tree. Coriolis and centrifugal forces grow with the velocities
/// squared: where a tree turns by radians within a step their kick is larger than the velocities
/// themselves, the next one larger still, and a few steps end beyond all numbers. There they are
/// those of the share of the velocities at which no body turns by more than kFastestTurn.
static void articulated_bias(const Scene& scene,
                             const Parameters& parameters,
                             std::size_t t,
                             const double* v,
                             const Control& control,
                             DynamicsWorkspace& work) {
  const TreeView& view = work.views[t];
  TreeData<double>& data = work.trees[t];
  if (work.turn[t] <= kFastestTurn) return bias_forces(view, data);
  const double share = kFastestTurn / work.turn[t];
  const Tree& tree = scene.trees()[t];
  const TreeParameters<double> p = tree_parameters(tree, static_cast<int>(t), parameters);
  double* slower = work.force.data() + tree.v_offset;  // tree_forces() comes later
  for (int k = 0; k < tree.nv; ++k) slower[k] = share * v[tree.v_offset + k];
  forward_velocities(view, p, slower, data);
  body_forces(view, p, data);
  add_tree_wrenches(control.wrenches, tree.body_offset, view, data);
  bias_forces(view, data);
  forward_velocities(view, p, v + tree.v_offset, data);
}

void compute_dynamics(const Scene& scene,
                      const Parameters& parameters,
                      const double* q,
                      const double* v,
                      const Control& control,
                      double dt,
                      DynamicsWorkspace& work) {
  begin_forces(scene, parameters, work);
  add_wrenches(scene, control.wrenches, work);
  std::fill(work.bias_at.begin(), work.bias_at.end(), BiasAt::kStart);
  std::fill(work.fast.begin(), work.fast.end(), 0);
  std::fill(work.kicked.begin(), work.kicked.end(), 0);
  std::fill(work.turn.begin(), work.turn.end(), 0.0);
  for (std::size_t t = 0; t < scene.trees().size(); ++t) {
    if (work.asleep[t]) continue;
    const Tree& tree = scene.trees()[t];
    const TreeView& view = work.views[t];
    TreeData<double>& data = work.trees[t];
    if (is_loose_body(view)) {
      find_loose_bias(tree_parameters(tree, static_cast<int>(t), parameters), dt, data);
    } else {
      work.turn[t] = fastest_turn(view, data, dt);
      articulated_bias(scene, parameters, t, v, control, work);
    }
    find_mass_matrix(view, data);
    tree_forces(tree, parameters, q, v, control, dt, Saturation::kOfStart, work);
    whiten_forces(tree, t, dt, work);
  }
}

/// What take_mean_bias() changed of one tree is as it was before.
static void return_to_start(const Scene& scene,
                            const Parameters& parameters,
                            const double* v,
                            std::size_t t,
                            DynamicsWorkspace& work) {
  const Tree& tree = scene.trees()[t];
  const int first = tree.v_offset;
  std::copy_n(work.start_bias.data() + first, tree.nv, work.trees[t].bias);
  std::copy_n(work.start_motion.data() + first, tree.nv, work.free_motion.data() + first);
  move_placed(work.views[t],
              tree_parameters(tree, static_cast<int>(t), parameters),
              v + first,
              work.trees[t]);
  work.bias_at[t] = BiasAt::kStart;
}

void return_to_start_bias(const Scene& scene,
                          const Parameters& parameters,
                          const double* v,
                          DynamicsWorkspace& work) {
  for (std::size_t t = 0; t < scene.trees().size(); ++t) {
    if (work.bias_at[t] == BiasAt::kMean) return_to_start(scene, parameters, v, t, work);
  }
}

void take_mean_bias(const Scene& scene,
                    const Parameters& parameters,
                    const double* v,
                    const Control& control,
                    double dt,
                    int passes,
                    const std::vector<std::uint8_t>& skipped,
                    double* change,
                    DynamicsWorkspace& work) {
  for (std::size_t t = 0; t < scene.trees().size(); ++t) {
    const TreeView& view = work.views[t];
    if (skipped[t] || work.asleep[t] || is_loose_body(view)) continue;
    if (turns_fast(work, static_cast<int>(t), dt)) continue;
    const Tree& tree = scene.trees()[t];
    const int first = tree.v_offset;
    double *w = work.free_motion.data() + first, *own = change + first;
    std::copy_n(work.trees[t].bias, tree.nv, work.start_bias.data() + first);
    std::copy_n(w, tree.nv, work.start_motion.data() + first);
    const MeanBias<double> x{v + first, work.force.data() + first, w, own, work.mean.data()};
    const TreeParameters<double> p = tree_parameters(tree, static_cast<int>(t), parameters);
    TreeData<double>& data = work.trees[t];
    work.bias_at[t] = BiasAt::kMean;
    if (find_mean_bias(view, p, dt, passes, control.wrenches, tree.body_offset, x, data)) continue;
    if (passes == 1) {
      const double sum = std::accumulate(data.bias, data.bias + tree.nv, 0.0);
      if (!std::isfinite(sum)) w[0] = sum;  // too fast for numbers
      continue;
    }
    return_to_start(scene, parameters, v, t, work);
    std::copy_n(w, tree.nv, own);
    solve_scaled_lower(view, data, own);
  }
}

void refactor_dynamics(const Scene& scene,
                       const Parameters& parameters,
                       const double* q,
                       const double* v,
                       const Control& control,
                       double dt,
                       DynamicsWorkspace& work) {
  for (std::size_t t = 0; t < scene.trees().size(); ++t) {
    const Tree& tree = scene.trees()[t];
    const TreeView& view = work.views[t];
    if (work.asleep[t] || is_loose_body(view)) continue;
    const TreeParameters<double> p = tree_parameters(tree, static_cast<int>(t), parameters);
    body_inertias_and_forces(view, p, work.trees[t]);  // mass_matrix() has eaten the inertias
    mass_matrix(view, work.trees[t]);
    tree_forces(tree, parameters, q, v, control, dt, Saturation::kKnown, work);
    whiten_forces(tree, t, dt, work);
  }
}

void compute_acceleration(const Scene& scene,
                          const Parameters& parameters,
                          const double* q,
                          const double* v,
                          const Control& control,
                          const std::vector<ExternalWrench>& wrenches,
                          const std::vector<double>& added,
                          double s,
                          DynamicsWorkspace& work) {
  begin_forces(scene, parameters, work);
  add_wrenches(scene, control.wrenches, work);
  add_wrenches(scene, wrenches, work);
  for (std::size_t t = 0; t < scene.trees().size(); ++t) {
    const Tree& tree = scene.trees()[t];
    bias_forces(work.views[t], work.trees[t]);
    find_mass_matrix(work.views[t], work.trees[t]);
    tree_forces(tree, parameters, q, v, control, s, Saturation::kOfStart, work);
    for (int k = tree.v_offset; k < tree.v_offset + tree.nv && !added.empty(); ++k)
      work.force[k] += added[k];
    whiten_forces(tree, t, 1.0, work);
  }
}

void solve_scaled_lower(const Scene& scene, const DynamicsWorkspace& work, double* x) {
  for (std::size_t t = 0; t < scene.trees().size(); ++t) {
    const Tree& tree = scene.trees()[t];
    double* own = x + tree.v_offset;
    if (work.asleep[t]) {
      std::fill(own, own + tree.nv, 0.0);
    } else {
      solve_scaled_lower(work.views[t], work.trees[t], own);
    }
  }
}

}  // namespace stiction
