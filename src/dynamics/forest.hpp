#pragma once

#include "stiction/model/control.hpp"
#include "stiction/model/scene.hpp"

#include "dynamics/tree_data.hpp"

#include <vector>

namespace stiction {

/// Velocities of the bias of a tree: those at the start of the step, or the mean of start and end.
enum class BiasAt : std::uint8_t { kStart, kMean };

/// Per-tree data of one world and the free motion of the step. Sized once per scene, of which it
/// keeps views. Moved, not copied: `trees` point into `memory`.
struct DynamicsWorkspace {
  DynamicsWorkspace() = default;
  DynamicsWorkspace(DynamicsWorkspace&&) = default;
  DynamicsWorkspace& operator=(DynamicsWorkspace&&) = default;

  std::vector<double> memory;  ///< backs the pointers of `trees`
  std::vector<TreeData<double>> trees;
  std::vector<TreeView> views;
  std::vector<double> implicit_diagonal;  ///< [nv] armature + dt (d + kd) + dt^2 (kp + k)
  std::vector<double> force;              ///< [nv] explicit generalised force, then scratch
  std::vector<double> free_motion;        ///< [nv] w = L^-T dt (force - bias)
  std::vector<std::int8_t>
      saturated;                   ///< [nv] 1, -1: the upper, lower effort limit acts as a constant
  std::vector<double> turn;        ///< [trees] fastest_turn() of articulated ones at the start
  std::vector<BiasAt> bias_at;     ///< [trees]; V and A of the tree are at the same velocities
  std::vector<double> start_bias;  ///< [nv] of trees whose bias is another now, and their w
  std::vector<double> start_motion;  ///< [nv]
  std::vector<double> mean;          ///< [dofs of a tree] scratch
  std::vector<std::uint8_t> fast;    ///< [trees] scaled to the right energy (TreeMotion)
  std::vector<std::uint8_t> kicked;  ///< [trees] loose bodies left with the momentum of their node
  std::vector<std::uint8_t> asleep;  ///< [trees] left out of the step
  int num_asleep = 0;

  void resize(const Scene& scene);
};

/// Who says which servos are at their effort limits: the state at the start of the step, or what
/// DynamicsWorkspace::saturated holds already.
enum class Saturation : std::uint8_t { kOfStart, kKnown };

/// Whether neither body (-1: the world) takes part in the step: nothing between them changes.
bool both_rest(const Scene& scene, const DynamicsWorkspace& work, int body_a, int body_b);

TreeParameters<double> tree_parameters(const Tree& tree, int index, const Parameters& parameters);

/// Body placements and velocities of all trees at (q, v).
void forward_kinematics(const Scene& scene,
                        const Parameters& parameters,
                        const double* q,
                        const double* v,
                        DynamicsWorkspace& work);

/// What the kinematics of a workspace were computed from: a state, and a version of parameters that
/// an EditWatch looks after.
struct KnownKinematics {
  bool any = false;
  std::uint64_t version = 0;
  Eigen::VectorXd q, v;

  /// For whoever changes the kinematics of the workspace otherwise.
  void forget() { any = false; }
};

/// The same bits with less work: nothing where `known` says that the workspace holds the kinematics
/// of (q, v) and these parameters already, velocities alone where it holds those of q.
void forward_kinematics(const Scene& scene,
                        const Parameters& parameters,
                        const double* q,
                        const double* v,
                        KnownKinematics& known,
                        DynamicsWorkspace& work);

/// Factor of M^ = M + diag(armature + dt (d + kd) + dt^2 (kp + k)) and w = L^-T dt (tau + kp (q* -
/// q
/// - dt v) + kd (v* - v) + k (rest - q - dt v) - d v - b), k and rest of the joints' springs, so
/// that the free velocity is v + L^-1 D^-1 w. After forward_kinematics.
void compute_dynamics(const Scene& scene,
                      const Parameters& parameters,
                      const double* q,
                      const double* v,
                      const Control& control,
                      double dt,
                      DynamicsWorkspace& work);

/// Takes the bias, w and change [nv], v+ - v without rows, of the articulated trees that are not in
/// `skipped` [trees] to the mean velocity of the step, by so many passes (mean_bias.hpp). Trees
/// that turn fast, or sleep, keep theirs, and those of which passes do not converge; the result of
/// one pass is kept. After compute_dynamics() of the same state.
void take_mean_bias(const Scene& scene,
                    const Parameters& parameters,
                    const double* v,
                    const Control& control,
                    double dt,
                    int passes,
                    const std::vector<std::uint8_t>& skipped,
                    double* change,
                    DynamicsWorkspace& work);

/// What take_mean_bias() changed is as it was before.
void return_to_start_bias(const Scene& scene,
                          const Parameters& parameters,
                          const double* v,
                          DynamicsWorkspace& work);

/// M^ and w anew with work.saturated as it now is, after compute_dynamics() of the same state.
void refactor_dynamics(const Scene& scene,
                       const Parameters& parameters,
                       const double* q,
                       const double* v,
                       const Control& control,
                       double dt,
                       DynamicsWorkspace& work);

/// Whether a tree turns by so much in dt that compute_dynamics() takes the Coriolis forces of
/// slower velocities, or a loose body that its momentum is turned approximately.
bool turns_fast(const DynamicsWorkspace& work, int tree, double dt);

/// Factor of M^ = M + diag(armature + s (d + kd) + s^2 (kp + k)) and w = L^-T (tau + kp (q* - q - s
/// v) + kd (v* - v) + k (rest - q - s v) - d v - b + J^T wrenches + added [nv, or empty]), so that
/// L^-1 D^-1 w is the acceleration at (q, v) in the axes of the bodies, for a free root the
/// classical one of its origin, and of loose bodies too: b is that of the instant, not of a step. s
/// = 0: joints are explicit; s = h / 2: M^ and w are those of Crank and Nicolson over h, for
/// springs and dampers of joints. After forward_kinematics.
void compute_acceleration(const Scene& scene,
                          const Parameters& parameters,
                          const double* q,
                          const double* v,
                          const Control& control,
                          const std::vector<ExternalWrench>& wrenches,
                          const std::vector<double>& added,
                          double s,
                          DynamicsWorkspace& work);

/// x [nv] <- L^-1 D^-1 x, 0 of trees asleep: from whitened coordinates to velocities.
void solve_scaled_lower(const Scene& scene, const DynamicsWorkspace& work, double* x);

/// World placement of a body (-1: the world itself).
inline Transform body_placement(const Scene& scene, const DynamicsWorkspace& work, int body) {
  if (body < 0) return Transform::identity();
  const int t = scene.tree_of_body(body), local = body - scene.trees()[t].body_offset;
  const TreeData<double>& data = work.trees[t];
  const bool root = local == 0 && work.views[t].free_root;
  return root ? data.X_WR : data.X_WR * data.X_RB[local];
}

/// World placement of a geometry, in the order of products of lanes.
inline Transform geometry_pose(const Scene& scene,
                               const Parameters& parameters,
                               const DynamicsWorkspace& work,
                               int geometry) {
  const Transform& X_BG = parameters.geometry_placement[geometry];
  const int body = scene.geometries()[geometry].body;
  if (body < 0) return X_BG;
  const int t = scene.tree_of_body(body);
  const TreeData<double>& data = work.trees[t];
  return data.X_WR * (data.X_RB[body - scene.trees()[t].body_offset] * X_BG);
}

/// World position of a point given in a body's frame, and the inverse; body -1: the same point.
inline Vec3d world_point(const Scene& scene,
                         const DynamicsWorkspace& work,
                         int body,
                         const Vec3d& p_B) {
  if (body < 0) return p_B;
  const int t = scene.tree_of_body(body);
  return work.trees[t].X_WR * (work.trees[t].X_RB[body - scene.trees()[t].body_offset] * p_B);
}
inline Vec3d body_point(const Scene& scene,
                        const DynamicsWorkspace& work,
                        int body,
                        const Vec3d& p_W) {
  if (body < 0) return p_W;
  const int t = scene.tree_of_body(body);
  const Transform& X_WR = work.trees[t].X_WR;
  const Transform& X_RB = work.trees[t].X_RB[body - scene.trees()[t].body_offset];
  return transpose_times(X_RB.R, transpose_times(X_WR.R, p_W - X_WR.p) - X_RB.p);
}

/// World components of a vector given in a body's axes, and the inverse; body -1: the same vector.
inline Vec3d world_vector(const Scene& scene,
                          const DynamicsWorkspace& work,
                          int body,
                          const Vec3d& x_B) {
  if (body < 0) return x_B;
  const int t = scene.tree_of_body(body);
  return work.trees[t].X_WR.R * (work.trees[t].X_RB[body - scene.trees()[t].body_offset].R * x_B);
}
inline Vec3d body_vector(const Scene& scene,
                         const DynamicsWorkspace& work,
                         int body,
                         const Vec3d& x_W) {
  if (body < 0) return x_W;
  const int t = scene.tree_of_body(body);
  return transpose_times(work.trees[t].X_RB[body - scene.trees()[t].body_offset].R,
                         transpose_times(work.trees[t].X_WR.R, x_W));
}

/// World velocity of the material point of the body at p_W.
inline Vec3d point_velocity(const Scene& scene,
                            const DynamicsWorkspace& work,
                            int body,
                            const Vec3d& p_W) {
  if (body < 0) return {0, 0, 0};
  const int t = scene.tree_of_body(body);
  const TreeData<double>& data = work.trees[t];
  const Motion<double>& V = data.V[body - scene.trees()[t].body_offset];
  const Vec3d p = transpose_times(data.X_WR.R, p_W - data.X_WR.p);
  return data.X_WR.R * (V.linear + cross(V.angular, p));
}

}  // namespace stiction
