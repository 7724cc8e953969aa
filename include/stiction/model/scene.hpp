#pragma once

#include "stiction/model/parameters.hpp"
#include "stiction/model/robot.hpp"
#include "stiction/model/tree.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stiction {

/// The least condim with which each coefficient of friction counts.
inline constexpr int kCondimSliding = 3, kCondimTorsional = 4, kCondimRolling = 6;

/// How the coefficients of friction of a geometry count where it meets another, see PairFriction.
struct FrictionRule {
  bool larger = false;  ///< where both geometries say so, the larger of each; else combine()'s rule
  int condim = 6;       ///< MuJoCo's: 1: none counts, 3: sliding, 4: and torsional, 6: and rolling
  int priority = 0;     ///< MuJoCo's: of two, those of the geometry with the higher count alone
  bool operator==(const FrictionRule&) const = default;
};

/// Which coefficients of two geometries count in their pair. MuJoCo's rule where both are of MJCF
/// files: those of the higher priority; else the larger of each, with the larger condim. A rule of
/// that kind is for numbers that were written for it: where one of the two was not, each has its
/// own condim and combine() holds, but priority goes first.
struct PairFriction {
  int condim_a, condim_b;  ///< of each geometry; 0: none of it counts
  bool mean;               ///< sliding friction is the geometric mean; else the larger
  PairFriction(const FrictionRule& a, const FrictionRule& b);
};

struct Geometry {
  std::string name, link;
  int body = -1;  ///< scene body; -1: fixed to the world
  int robot = -1;
  Shape shape;  ///< as it was given: the size in force is in Parameters, see Scene::shape
  /// MuJoCo's: two may collide if a bit of the one's type is in the other's affinity, see
  /// Scene::set_collision_filter.
  std::uint32_t contype = 1, conaffinity = 1;
  FrictionRule friction_rule;
};

/// What is drawn in the place of a body's geometries. Collides with nothing.
struct Visual {
  int body = -1;  ///< scene body; -1: fixed to the world
  Shape shape;
  Transform placement = Transform::identity();        ///< in the body, or in the world [m]
  std::array<double, 4> color{0.78, 0.8, 0.83, 1.0};  ///< red, green, blue, opacity in [0, 1]
};

/// Bilateral constraints between two frames, A and B, each fixed to a body (-1: the world); where
/// they lie there is in Parameters.
struct Closure {
  enum class Kind { kPoint, kWeld } kind = Kind::kPoint;  ///< 3 rows; 6 rows
  std::string name;
  int body_a = -1, body_b = -1;
};

/// position(dof) = ratio * position(driver) + offset; the two numbers are in Parameters.
struct Gear {
  std::string name;
  int dof = -1, driver = -1;
};

/// Where a robot lies in the scene's arrays.
struct RobotSlice {
  std::string name;
  int body_offset = 0, num_bodies = 0, q_offset = 0, nq = 0, v_offset = 0, nv = 0;
  Robot description;
  std::string prefix{};                   ///< before the names of its bodies, joints and frames
  Transform X_W = Transform::identity();  ///< where it was placed, for what no tree of it carries

  /// A frame of it is called as a body would be, and "<robot>/<frame>".
  bool has_name(const FrameDescription& frame, const std::string& n) const {
    return n == prefix + frame.name || n == name + "/" + frame.name;
  }
};

/// Coefficients of a pair of materials: friction is the geometric mean, restitution, torsional
/// and rolling friction the larger (a shape that says nothing of them has none), stiffness and
/// damping those of two springs (dampers) in series, k = ka kb / (ka + kb); a rigid surface leaves
/// the other's values. The ratios follow from tangential springs and dampers in series, the
/// dissipation is that of two springs in series that carry one force at small speed, chi = (kb
/// chi_a + ka chi_b) / (ka + kb).
Material combine(const Material& a, const Material& b);

/// Topology of a world: trees, geometries, constraints, names. Composed by the add_* functions,
/// then constant (a Simulator keeps its own copy). Its numbers are in `parameters`, the scene's
/// defaults.
class Scene {
 public:
  std::string name = "scene";
  Parameters parameters;

  // --- composition. Names must be unique; each call throws std::invalid_argument naming the field.
  // ---
  /// Places a robot; for a fixed base X_WR is the base, for a free-flyer its initial pose. `prefix`
  /// stands before the names of its bodies, joints, geometries and frames: by default none for the
  /// first robot, "<robot_name>/" for the others. Returns its index.
  int add_robot(const Robot& robot,
                const Transform& X_WR = Transform::identity(),
                const std::string& robot_name = "",
                const std::optional<std::string>& prefix = std::nullopt);
  /// Places all of another scene but its gravity (one that differs is told in messages()): robots,
  /// bodies, geometries, filters, closures, gears, numbers, configurations, visuals, messages. What
  /// is fixed to its world or floats goes to X_W; `prefix` stands before its names, configurations
  /// excepted: one that both scenes have is that of both. By default none if this scene has no body
  /// yet, else "<name>/".
  void add_scene(const Scene& other,
                 const Transform& X_W = Transform::identity(),
                 const std::optional<std::string>& prefix = std::nullopt);
  /// A loose body with one geometry, uniform density for the given mass. Returns the body.
  int add_body(const std::string& body_name,
               const Shape& shape,
               double mass,
               const Transform& X_W,
               const Material& material = {});
  /// A loose body with the given inertia and no geometry.
  int add_body(const std::string& body_name, const MassProperties& mass, const Transform& X_W);
  /// Geometry on a body (-1: the world). Returns the geometry.
  int add_geometry(const std::string& geometry_name,
                   int body,
                   const Shape& shape,
                   const Transform& X_B,
                   const Material& material = {});
  int add_ground(const Material& material = {});  ///< half-space z <= 0 of the world, "ground"
  int add_half_space(const std::string& geometry_name,
                     const Vec3d& point,
                     const Vec3d& normal,
                     const Material& material = {});
  int add_point_closure(
      const std::string& closure_name, int body_a, const Vec3d& p_A, int body_b, const Vec3d& p_B);
  int add_weld(const std::string& weld_name,
               int body_a,
               const Transform& X_A,
               int body_b,
               const Transform& X_B);
  int add_gear(const std::string& gear_name, int dof, int driver, double ratio, double offset);

  void disable_pair(int geometry_a, int geometry_b);
  /// This pair collides whatever other filters say; those of one body never do. The first
  /// enable_only() forgets it.
  void enable_pair(int geometry_a, int geometry_b);
  /// MuJoCo's contype and conaffinity: two collide if a bit of the one's type is in the other's
  /// affinity. Geometries have 1 and 1 unless a file says otherwise.
  void set_collision_filter(int geometry, std::uint32_t contype, std::uint32_t conaffinity);
  /// Geometries have FrictionRule's defaults unless a file says otherwise.
  void set_friction_rule(int geometry, const FrictionRule& rule);
  /// Only these pairs collide from now on (until more are enabled); overrides every other filter
  /// but that two geometries of one body never collide.
  void enable_only(const std::vector<std::pair<int, int>>& pairs);
  /// This pair has a material of its own from now on: its number in `parameters.pair_material`.
  int set_pair_material(int geometry_a, int geometry_b, const Material& material);
  void set_gains(int dof, double kp, double kd);
  /// Its joint has no other dof: kp, kd and spring_stiffness of the others are 0.
  bool takes_servo(int dof) const;
  /// v: velocity there (nv); empty: at rest.
  void set_configuration(const std::string& configuration_name,
                         const std::vector<double>& q,
                         const std::vector<double>& v = {});
  void add_visual(const Visual& visual);

  /// Throws std::invalid_argument naming the field unless `p` are numbers for this scene: as many,
  /// those of p.validate(), sizes that the shapes can have, gains of dofs that take a servo, gears
  /// that fit their joints, and every joint moves some inertia.
  void validate(const Parameters& p) const;
  void validate_shapes(const Parameters& p) const;  ///< as many numbers, and sizes, alone

  // --- topology ---
  const std::vector<Tree>& trees() const { return trees_; }
  const std::vector<Geometry>& geometries() const { return geometries_; }
  const std::vector<Closure>& closures() const { return closures_; }
  const std::vector<Gear>& gears() const { return gears_; }
  const std::vector<RobotSlice>& robots() const { return robots_; }
  /// Of names, joints, shape types and constraints: what a State's layout means. Never 0.
  std::uint64_t fingerprint() const;
  int nq() const { return nq_; }
  int nv() const { return nv_; }
  int num_bodies() const { return static_cast<int>(body_names_.size()); }
  int tree_of_body(int body) const { return body_tree_[body]; }
  int tree_of_dof(int dof) const { return dof_tree_[dof]; }
  int body_of_dof(int dof) const;  ///< the body that the dof's joint moves
  JointType joint_of_dof(int dof) const;
  const std::vector<std::string>& body_names() const { return body_names_; }
  const std::vector<std::string>& dof_names() const { return dof_names_; }
  const std::vector<std::string>& joint_names() const { return joint_names_; }

  int body(const std::string& n) const;   ///< throws, listing the names
  int joint(const std::string& n) const;  ///< the body that it moves
  int geometry(const std::string& n) const;
  int dof(const std::string& joint_name) const;
  int robot(const std::string& n) const;
  /// Body and placement of a named frame (its own name behind its robot's prefix, or
  /// "robot/frame"); -1 and the placement in the world where no body of it moves.
  std::pair<int, Transform> frame(const std::string& n) const;

  /// May this pair collide? Same body, both in the world: no; enable_pair(): yes; else adjacent
  /// links, disabled pairs, types and affinities without a bit in common: no.
  bool pair_enabled(int geometry_a, int geometry_b) const;
  /// Material of a pair under `p`: its own, or combine() of the two with friction by PairFriction.
  Material pair_material(const Parameters& p, int geometry_a, int geometry_b) const;
  /// The largest condim with which coefficients of a geometry may count in any pair.
  int reach_of_friction(int geometry) const;
  /// Pairs (a < b) with a material of their own, ascending.
  std::vector<std::pair<int, int>> material_pairs() const;
  /// The shape of a geometry with its size under `p`.
  Shape shape(const Parameters& p, int geometry) const;

  const std::vector<double>& default_q() const { return default_q_; }
  const std::map<std::string, std::vector<double>>& configurations() const {
    return configurations_;
  }
  /// Of a configuration (nv), zeros where none was set; throws, listing the names.
  std::vector<double> configuration_velocity(const std::string& configuration_name) const;
  const std::vector<Visual>& visuals() const { return visuals_; }
  /// Position target of each dof that a servo holds at rest in `q`.
  std::vector<double> dof_positions(const std::vector<double>& q) const;
  const std::vector<LoadMessage>& messages() const { return messages_; }
  void add_message(const LoadMessage& message) { messages_.push_back(message); }

 private:
  friend class SceneWriter;  // scene_writer.cpp, scene_reader.cpp: all of it as bytes
  friend class SceneReader;
  using PairKey = std::uint64_t;
  static PairKey key(int a, int b);
  void check_body(int body, const std::string& field) const;
  static void check_name(const std::string& given, const std::string& field);
  void check_new_body(const std::string& body_name, const std::string& field) const;
  void check_pair(int a, int b, const char* call) const;
  void compare_gravity(const Scene& other);
  void add_names(const Scene& other, const std::string& prefix);
  void add_topology(const Scene& other, const Transform& X_W, const std::string& prefix);
  void add_numbers(const Scene& other, const Transform& X_W);
  void add_configurations(const Scene& other, const Transform& X_W);
  void add_pairs(const Scene& other);
  int add_closure(const Closure& closure, const Transform& X_A, const Transform& X_B);
  void check_gear(const std::string& field, const Gear& gear, double ratio) const;
  void validate_inertias(const Parameters& p) const;
  void validate_gains(const Parameters& p) const;
  void add_tree(const std::vector<BodyDescription>& bodies,
                int first,
                int last,
                const Transform& base,
                const std::vector<DofDescription>& dofs,
                const std::string& prefix);

  std::vector<Tree> trees_;
  std::vector<Geometry> geometries_;
  std::vector<Closure> closures_;
  std::vector<Gear> gears_;
  std::vector<RobotSlice> robots_;
  std::vector<std::string> body_names_, joint_names_, dof_names_;
  std::vector<int> body_tree_, dof_tree_, body_parent_;
  std::vector<double> default_q_;
  std::map<std::string, std::vector<double>> configurations_;
  std::map<std::string, std::vector<double>> velocities_;  // of configurations; dofs added later: 0
  std::vector<Visual> visuals_;
  std::vector<LoadMessage> messages_;
  std::vector<PairKey> disabled_pairs_, enabled_pairs_, material_pairs_;  // sorted
  bool only_enabled_ = false;
  int nq_ = 0, nv_ = 0;
};

}  // namespace stiction
