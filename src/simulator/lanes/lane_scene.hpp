#pragma once

#include "stiction/model/tree_view.hpp"

#include "dynamics/body_speeds.hpp"
#include "solver/dense/dense_solver.hpp"

#include <cstddef>
#include <cstdint>

// What the worlds of a pack share: plain arrays, because the step is compiled for several
// instruction sets. Built by lane_layout.cpp.

namespace stiction {

/// A point of a moving shape that may touch the world: one that is known of a shape on a plane, or
/// place for one that is found.
struct LaneSlot {
  enum class Kind : std::uint8_t { kSphere, kCapsuleEnd, kBoxCorner, kFound };
  Kind kind;
  bool body_is_a;       ///< the shape's geometry comes before the plane's
  std::int8_t sign[3];  ///< of the end or the corner
  int shape, plane;     ///< LaneGeometry
  int body, last_dof;
  int pair;  ///< of materials
  std::uint32_t feature;
  int rows;        ///< where its block of Y begins [Reals]
  int found = -1;  ///< kFound: its number among these
};

/// A moving shape and one of the world whose points are found, world by world.
struct LaneFoundPair {
  int a, b;    ///< LaneGeometry
  bool plane;  ///< that of the world is a half-space
  bool ball;   ///< on a height field
  int first_slot, num_slots;
};

/// A geometry as the narrow phase needs it.
struct LaneShape {
  double pose[12];               ///< world: columns of R, then p
  double linear[3], angular[3];  ///< of the centre of its ball, world
  double size[3], reach;         ///< reach: half of the pair's margin [m]
};
struct LanePairQuery {
  int geometry_a, geometry_b;  ///< of the scene
  LaneShape a, b;
  double rest_offset, gravity;  ///< [m], [m/s^2]
};
/// A ball and a height field; entries of arrays are `stride` apart.
struct LaneBallQuery {
  int geometry;     ///< the field's, of the scene
  bool field_is_a;  ///< it comes before the ball's
  int stride;
  const double *pose, *centre;  ///< [12] of the field, [3] of the ball: world [m]
  const double* linear;         ///< [3] velocity of the centre, world [m/s]
  double radius, reach;         ///< reach: the sum of both [m]
  double rest_offset, gravity;  ///< [m], [m/s^2]
};
struct LanePairPoint {
  double position[3], normal[3];  ///< normal: from a to b
  double distance;
  double feature;
  double touch_share, touch_fixed;  ///< TouchShift
  double face;     ///< 1, -1: a vertex or ball is at a flat face of A, of B; 0: other features
  double ball;     ///< its radius [m]
  double by_gap;   ///< ContactFeature::by_gap
  double witness;  ///< Witness as one number; kSweptWitness: of a later moment
};
inline constexpr double kSweptWitness = -1.0;

/// A point that is no vertex or ball at a flat face.
struct LaneFeature {
  double position[3], normal[3], gap, feature, witness, ball;
};
inline constexpr int kMostFoundPoints = 8;  ///< of a pair

/// A contact as the rule of seams sees it.
struct LaneSeamPoint {
  int geometry_a, geometry_b;     ///< of the scene
  double position[3], normal[3];  ///< normal: from a to b
  double distance;
  bool covered;
};
inline constexpr double kNoFeature = -1.0;

/// A limit, or the dry friction, of a joint.
struct LaneRow {
  enum class Kind : std::uint8_t { kLower, kUpper, kDryFriction };
  Kind kind;
  bool linear;  ///< its joint slides
  int dof, body, q;
  int rows;
};

/// A geometry that slots and guards look at.
struct LaneGeometry {
  int geometry;  ///< of the scene
  int body;      ///< -1: the world
};

/// Two geometries without slots, as those of two bodies of the robot are: while they touch, their
/// points have places of the pack (lane_places.hpp).
struct LaneGuard {
  int shape, other;  ///< LaneGeometry
  bool plane;        ///< `other` is a half-space
  int pair;          ///< of materials
  int slots_before;  ///< those whose contacts come before its own
  int body[2];       ///< of the contact's sides A and B; -1: the world
  int last_dof[2];
  int dofs, num_dofs;  ///< of both chains, ascending: where in LanePlaces::dofs, how many
};

/// Room for points of guards.
struct LanePlaces {
  const int* dofs = nullptr;  ///< of all guards
  int most_dofs = 0;          ///< of one
  int count = 0;              ///< of a pack
};

/// A point of a body where forces from outside act.
struct LaneWrench {
  int body;
  double point[3];  ///< in the body [m]
};

/// Settings of the simulator that lanes read.
struct LaneRules {
  double dt, tolerance, margin, baumgarte, limit_margin, restitution_threshold;
  SpeedCaps caps;
  bool dissipative;  ///< impacts gain no energy
  bool mean_bias;    ///< SimulatorSettings::mean_bias
};

/// Whom lanes ask for contacts; each call takes `self`.
struct LaneFinder {
  void* self = nullptr;
  bool seams = false;  ///< some moving shape has two pairs with the world
  /// FeatureMaps of a point of a pair, column by column.
  void (*maps)(void* self,
               const LanePairQuery& query,
               const LaneFeature& at,
               double* out) = nullptr;
  /// Takes a geometry of the scene for mark_covered(), which then marks the contacts of one world
  /// against which the seam of flush shapes would push.
  void (*place)(void* self, int geometry, const LaneShape& shape) = nullptr;
  void (*mark_covered)(void* self, LaneSeamPoint* points, int count) = nullptr;
};

struct LaneScene {
  TreeView tree;
  const int* common_length;  ///< [num_bodies^2] dofs that the chains of two bodies share
  const LaneSlot* slots;     ///< in the order of their contacts
  const LaneRow* rows;       ///< in the order of the simulator's rows
  const LaneGeometry* geometries;
  const LaneGuard* guards;
  int num_slots, num_rows, num_geometries, num_guards, num_pairs;
  int row_size;  ///< Reals of all blocks of Y
  LaneRules rules;
  const LaneWrench* wrenches = nullptr;
  int num_wrenches = 0;
  const LaneFoundPair* found_pairs = nullptr;
  int num_found_pairs = 0, num_found = 0;  ///< num_found: slots of them
  LanePlaces places;
  /// Points of a pair in one world; their number, -1 if they are more than `most`.
  int (*find)(void* finder, const LanePairQuery& query, LanePairPoint* out, int most) = nullptr;
  /// The same of a ball on open ground, 0 or 1; -1: find() has to tell.
  int (*find_ball)(void* finder, const LaneBallQuery& query, LanePairPoint& out) = nullptr;
  LaneFinder finder{};
};

/// How a world's step ended; of all but kStepped its state is as it was before.
enum class LaneExit : std::uint8_t {
  kStepped,
  kScalar,       ///< its parameters are not for lanes: springs of contacts, of joints that wrap,
                 ///< angular friction; of a pair without slots while it touches
  kPair,         ///< a pair has more points than places
  kFast,         ///< a body turns by more than lanes follow
  kRestitution,  ///< impacts would gain energy
  kImmovable,    ///< nothing moves along a normal
  kFarOut,       ///< a joint is out of its limits by more than drift, would jump one, or is locked
                 ///< by them
  kManyRows,     ///< more than a lane's problem holds
  kUnsolved,     ///< the lanes' solver did not reach the tolerance, or a number is not finite
  kRecovery,     ///< corrections may do harm together
  kNotFinite,
  kHeld,       ///< it was not to step
  kSaturation  ///< a servo ends on the wrong side of its effort limit
};
inline constexpr int kLaneExits = 13;

/// Largest problem of a lane: cones and rows of one dimension.
inline constexpr int kMaxLaneCones = 12, kMaxLaneScalars = 64;

/// Points of pairs without slots that a lane has at most. A pack has as many places for each lane,
/// so that no lane lacks one because of others.
inline constexpr int kMaxLanePlaces = 8;
/// What a world keeps of them: their number, then of each its guard, feature and impulse.
inline constexpr int kKeptPlace = 5, kKeptPlaces = 1 + kKeptPlace * kMaxLanePlaces;

/// What a step of one world alone tells beside its state, of the sets that it has; the arrays have
/// room for all.
struct LaneRecord {
  int num_used = 0;
  int* used = nullptr;         ///< ascending
  double *impulse, *velocity;  ///< [total rows] lambda and c, contact frame
  double *gap, *reference;     ///< [sets] at the start [m], [rad]; c* of the normal
  double* corrects;            ///< [sets] > 0: c* corrects a position error
  DenseOutcome solved{};
  double kinetic_energy = 0.0, potential_energy = 0.0;  ///< at the start [J]
};

/// Parameters that worlds have of their own together: what tasks randomise, the rest of what fields
/// may change, what they do not. In the order of lane_parameters.hpp.
enum LaneBlock { kMasses, kJoints, kShapes, kLaneBlocks };
struct LaneBlocks {
  const double* of[kLaneBlocks];
};

/// One pack of worlds: entry (i, lane) at [i W + lane].
struct LanePack {
  LaneBlocks parameters;
  const double* control;  ///< torque, position target, velocity target [nv each]
  double* q;              ///< [nq]
  double* v;              ///< [nv]
  double* impulse;        ///< [3 slots] axes of body A [N s], then [rows]: warm start, result
  double* relative;       ///< certificate of the step: Residuals::relative
  double* contacts;       ///< points of contact of the step
  const double* held;     ///< > 0: the world keeps its state
  LaneExit* exit;         ///< [W]
  const double* wrench;   ///< [wrenches] force, moment about the point [3 each]; world axes
  double* feature;        ///< [found slots] that `impulse` is of; kNoFeature
  double* places;         ///< [kKeptPlaces] likewise of guards; null: the scene has none
  LaneRecord* record = nullptr;  ///< of a pack of one world
};

/// Packs of a chunk at most: what they keep fits a cache of the second level, and problems of one
/// size fill their packs.
inline constexpr int kMaxLanePacks = 16;

struct LaneKernel {
  int width;
  const char* instruction_set;
  /// `packs` of one chunk; `memory` aligned to 64 bytes.
  void (*step)(
      const LaneScene& scene, const LanePack* packs, int count, double* memory, int* indices);
  std::size_t (*doubles)(const LaneScene& scene, int packs);  ///< of memory
  std::size_t (*integers)(const LaneScene& scene, int packs);
  std::size_t (*parameters)(const LaneScene& scene, LaneBlock block);  ///< doubles of one
};

}  // namespace stiction
