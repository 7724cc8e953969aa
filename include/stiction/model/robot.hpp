#pragma once

#include "stiction/geometry/shape.hpp"
#include "stiction/math/constants.hpp"
#include "stiction/model/tree_view.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace pinocchio_handle {
struct Model;  // wraps a pinocchio::Model; defined in src/model/, so that no user of this header
               // sees Pinocchio
}

namespace stiction {

/// The largest number that is taken where nothing smaller is said: its square is finite.
inline constexpr double kLargest = 1e100;

/// Above it mu |c_T| in the certificate is rounding; no contact slides there that would not at it.
inline constexpr double kMaxFriction = 1e4;

/// Finite stiffnesses, dampings and their tangential parts are at most so large [N/m, N s/m]:
/// springs in series multiply two of them.
inline constexpr double kMaxStiffness = 1e150;

/// Surface of a geometry. Two materials meet by combine() in scene.hpp.
struct Material {
  double friction = 0.8;         ///< Coulomb coefficient, in [0, kMaxFriction]
  double restitution = 0.0;      ///< Newton coefficient, in [0, 1]
  double stiffness = kInfinity;  ///< of the surface [N/m], > 0, at most kMaxStiffness; or infinite:
                                 ///< rigid
  double damping = 0.0;          ///< of the surface [N s/m], >= 0; used with a finite stiffness
  // Ratios: read by the compliant integrators, and with ContactSettings::tangential_compliance.
  double tangential_stiffness_ratio = 1.0;  ///< of tangential over normal stiffness, >= 0
  double tangential_damping_ratio = 1.0;    ///< of tangential over normal damping, >= 0
  double dissipation = 0.0;  ///< Hunt-Crossley chi [s/m], >= 0: adds k chi depth to the damping;
                             ///< compliant integrators only
  double rest_offset = 0.0;  ///< [m] >= 0: touches at this distance from the surface; offsets of
                             ///< both add
  // Couple per normal force of what spins about the normal and of what rolls, in [0, kMaxFriction].
  // With the forces they share one ellipsoid: cone.hpp.
  double torsional_friction = 0.0;  ///< [m]
  double rolling_friction = 0.0;    ///< [m]
  bool operator==(const Material&) const = default;
};

struct BodyDescription {
  std::string name, joint_name;
  int parent = -1;  ///< body of the same robot, -1: the base
  JointType joint = JointType::kRevolute;
  Vec3d axis{0, 0, 1};  ///< unit, joint frame; revolute, continuous, prismatic
  Transform placement = Transform::identity();  ///< joint frame in the parent body [m]
  double mass = 0.0;                            ///< [kg]
  Vec3d com{0, 0, 0};                           ///< centre of mass, body frame [m]
  Sym3d inertia{0, 0, 0, 0, 0, 0};              ///< about the com, body axes [kg m^2]
};

/// Limits and losses of one degree of freedom. Units of a turning dof; of a sliding one.
struct DofDescription {
  double lower = -kInfinity, upper = kInfinity;  ///< [rad; m] revolute and prismatic joints only
  double effort_limit = kInfinity;               ///< of torque plus servo [N m; N]
  double velocity_limit = kInfinity;             ///< [rad/s; m/s] kept for users; not enforced
  double damping = 0.0;                          ///< [N m s/rad; N s/m]
  double dry_friction = 0.0;                     ///< [N m; N]
  double armature = 0.0;                         ///< [kg m^2; kg]
};

struct GeometryDescription {
  std::string name, link;
  int body = -1;
  Shape shape;
  Transform placement = Transform::identity();
  Material material;
};

struct FrameDescription {
  std::string name;
  int body = -1;
  Transform placement = Transform::identity();
  bool link = false;  ///< of a link of the file; false: of a joint, a site or the like
};

/// position(dof) = ratio * position(driver) + offset, one bilateral row. One-dof joints.
struct GearDescription {
  int dof = -1, driver = -1;  ///< v indices of the robot
  double ratio = 1.0;         ///< [rad or m of dof per rad or m of driver]
  double offset = 0.0;        ///< [rad or m]
};

/// What a loader says about a file: never silence. Printed by load(), kept in the scene.
struct LoadMessage {
  enum class Kind {
    kUnused,   ///< an element or attribute
    kWarning,  ///< something looks wrong
    kMesh,     ///< a collision mesh is stood for by something else
    kOverlap,  ///< links that overlap at the start: their pairs are disabled
  } kind = Kind::kUnused;
  std::string file;
  int line = 0;  ///< 1-based; 0: no line
  std::string text;
};

/// A robot before it is placed in a scene: the loaders' common result. One kinematic tree (or
/// several if the base is fixed and carries several). Bodies are depth first, parents before
/// children.
struct Robot {
  std::string name;
  std::vector<BodyDescription> bodies;
  std::vector<DofDescription> dofs;  ///< by dof, Pinocchio's order
  std::vector<GeometryDescription> geometries;
  std::vector<FrameDescription> frames;
  std::vector<GearDescription> gears;
  std::vector<std::pair<int, int>> disabled_pairs;  ///< geometry indices that never collide
  std::vector<double> neutral;                      ///< [nq]
  std::map<std::string, std::vector<double>> configurations;  ///< SRDF group states by name, [nq]
  std::vector<LoadMessage> messages;
  std::string path;  ///< of the file it came from; empty if built in memory
  std::shared_ptr<const pinocchio_handle::Model> model;  ///< same q layout as its slice of State::q

  int nq() const;
  int nv() const;
  int body(const std::string& name) const;   ///< by body or frame name; throws, listing near names
  int frame(const std::string& name) const;  ///< index into frames; throws, listing near names
};

/// What becomes of a collision mesh of a file.
enum class CollisionMeshes {
  kHull,       ///< its convex hull
  kExact,      ///< its own triangles
  kDecompose,  ///< the convex hulls of the parts that LoadOptions::decompose makes of it
};

struct LoadOptions {
  bool free_flyer = true;          ///< root joint; false: the base is fixed to the world
  bool collision_geometry = true;  ///< load the file's collision shapes
  bool self_collision = true;  ///< keep pairs inside the robot (parent-child and SRDF pairs never)
  /// Keep also the pairs that overlap in the neutral or in a named configuration; otherwise they
  /// are disabled and listed in a message.
  bool keep_overlapping_pairs = false;
  std::string srdf;  ///< path; empty: none
  std::vector<std::string> package_dirs;
  Material material;
  bool strict = false;  ///< unused elements, and inertias that no solid has, are errors
  /// An inertia that violates the triangle inequality is replaced by its mean moment about every
  /// axis (what MuJoCo's balanceinertia does); otherwise it is kept with a warning.
  bool balance_inertia = false;
  CollisionMeshes collision_meshes = CollisionMeshes::kHull;
  /// Vertices and triangles (3 numbers each) of a mesh -> the points of each of its parts.
  std::function<std::vector<std::vector<Vec3d>>(const std::vector<Vec3d>&, const std::vector<int>&)>
      decompose;
};

/// Reads a URDF. Errors (std::runtime_error) name the file and line.
Robot load_urdf(const std::string& path, const LoadOptions& options = {});
/// The same from a string; `name` stands for the file in messages.
Robot load_urdf_string(const std::string& xml,
                       const std::string& name,
                       const LoadOptions& options = {});

/// Vertices of a mesh file (STL, DAE, OBJ) scaled, and its volume; for hulls and drawing.
struct MeshFile {
  std::vector<Vec3d> vertices;
  std::vector<int> triangles;
  double volume = 0.0;
};
MeshFile load_mesh(const std::string& path, const Vec3d& scale = {1, 1, 1});

}  // namespace stiction
