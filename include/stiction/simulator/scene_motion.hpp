#pragma once

#include "stiction/model/scene.hpp"

#include <Eigen/Core>

#include <vector>

namespace stiction {

/// Mass, centre of mass and momentum of some bodies, world frame.
struct BodiesMotion {
  double mass = 0.0;                  ///< [kg]
  Vec3d com{0, 0, 0};                 ///< [m] zero without mass
  Vec3d linear{0, 0, 0};              ///< momentum [kg m/s]
  Vec3d angular{0, 0, 0};             ///< about the centre of mass [kg m^2/s]
  double kinetic = 0.0;               ///< [J] without that of rotors (armature)
  double potential_of_gravity = 0.0;  ///< [J] zero at the world origin
};

/// Kinematics and dynamics of a scene at (q, v), without contacts and forces of a control. Copies
/// what it needs: neither scene nor state has to stay.
class SceneMotion {
 public:
  using Vector6d = Eigen::Matrix<double, 6, 1>;

  /// Sizes as of the scene, quaternions unit: as in a State that was checked. `a`: [nv] rate of v
  /// as in Pinocchio, of a free joint that of its components in axes of the body; empty: unknown.
  SceneMotion(const Scene& scene,
              const Parameters& parameters,
              const Eigen::VectorXd& q,
              const Eigen::VectorXd& v,
              const Eigen::VectorXd& a = {});

  int nv() const { return static_cast<int>(axes_.size()); }
  int num_bodies() const { return static_cast<int>(bodies_.size()); }
  bool knows_acceleration() const { return knows_acceleration_; }

  // Of a body; -1: the world.
  Transform pose(int body) const;  ///< of its frame in the world [m]
  /// Of the point p_B of its frame: linear [m/s], angular [rad/s], world axes.
  Vector6d velocity(int body, const Vec3d& p_B = {0, 0, 0}) const;
  /// Its rate: of the point's velocity [m/s^2] and of the turn [rad/s^2], world axes; J a plus what
  /// v gives. Needs `a`.
  Vector6d acceleration(int body, const Vec3d& p_B = {0, 0, 0}) const;
  /// Rate of its momentum less its weight: m (a_c - g) [N], and the moment [N m] about the world
  /// point `about`. Needs `a`.
  Vector6d momentum_rate_less_weight(int body, const Vec3d& about) const;
  /// [6 x nv] velocity = J v.
  Eigen::MatrixXd jacobian(int body, const Vec3d& p_B = {0, 0, 0}) const;

  /// [nv x nv] with armature on its diagonal; M a + bias = tau + forces, a the rate of v,
  /// as in Pinocchio.
  const Eigen::MatrixXd& mass_matrix() const { return mass_matrix_; }
  /// [nv] Coriolis, centrifugal and gravity forces.
  const Eigen::VectorXd& bias() const { return bias_; }

  BodiesMotion motion_of(int first_body, int num_bodies) const;
  double rotor_energy() const { return rotor_energy_; }    ///< of armature [J]
  double spring_energy() const { return spring_energy_; }  ///< of joints [J]

 private:
  struct Axis {
    Vec3d linear, angular;  ///< of a dof: velocity of the point at the world origin, and turn
  };
  struct Body {
    Transform X_WB;
    Vec3d linear, angular;            ///< of its frame, world axes
    Vec3d linear_rate, angular_rate;  ///< of these two
    double mass;
    Vec3d com;      ///< world
    Sym3d inertia;  ///< about it, world axes
    std::vector<int> chain;

    /// Of a point of it at r from its frame, world axes [m/s^2].
    Vec3d acceleration(const Vec3d& r) const {
      return linear_rate + cross(angular_rate, r) + cross(angular, cross(angular, r));
    }
  };
  struct Fill;  ///< from the kinematics of a tree

  std::vector<Axis> axes_;
  std::vector<Body> bodies_;
  Eigen::MatrixXd mass_matrix_;
  Eigen::VectorXd bias_;
  Vec3d gravity_;
  double rotor_energy_ = 0.0, spring_energy_ = 0.0;
  bool knows_acceleration_;
};

}  // namespace stiction
