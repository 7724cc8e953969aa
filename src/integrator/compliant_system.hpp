#pragma once

#include "stiction/integrator/compliant_settings.hpp"
#include "stiction/solver/solver.hpp"

#include "contact/build_problem.hpp"
#include "contact/contact_memory.hpp"

#include <vector>

// What every compliant integrator evaluates at some (q, v): contact points with their forces, the
// acceleration, and on demand the dynamics seen at the points,
//   x'' = b + Y f,   Y = J M^-1 J^T,   b = J M^-1 (tau - nle) + J' v.

namespace stiction {

/// What a compliant step is given besides the state.
struct CompliantInput {
  const Scene& scene;
  const Parameters& parameters;
  const Control& control;
  const CompliantSettings& settings;
  const ContactSettings& contact;
  const CollisionSettings& collision;
  const SolverSettings& solver;  ///< of the rows that stay rigid
  double h;                      ///< length of the (sub-)step [s]
};

/// How a contact point moves. The point body is the one whose point it is, the anchor body the one
/// whose surface it touches and that carries frame and anchor, see b_carries_anchor().
enum class PointKind : std::uint8_t {
  kMaterial,  ///< a vertex of the point body on a plane of the anchor body
  kRound,  ///< the lowest point of a ball around a point of the point body: a constant arm from it
  kGeneral,  ///< anything else: rates of x by finite difference
};

/// What the springs of a point keep, axes of the anchor body: ContactMemory::extension and turn.
struct Anchor {
  Vec3d extension{0, 0, 0}, turn{0, 0, 0};
  bool stretched() const {
    const auto any = [](const Vec3d& x) { return x.x != 0.0 || x.y != 0.0 || x.z != 0.0; };
    return any(extension) || any(turn);
  }
  friend Anchor operator+(const Anchor& a, const Anchor& b) {
    return {a.extension + b.extension, a.turn + b.turn};
  }
  friend Anchor operator*(const Anchor& a, double s) { return {a.extension * s, a.turn * s}; }
};
template <class Named>  // has pair and feature
ContactMemory memory_of(const Named& name, const Anchor& a) {
  ContactMemory kept = kept_contact(name.pair, name.feature, {0, 0, 0});
  kept.extension = kept_vector(a.extension);
  kept.turn = kept_vector(a.turn);
  return kept;
}

struct CompliantPoint {
  int contact = 0;                        ///< index into CompliantSystem::contacts
  int anchor_body = -1, point_body = -1;  ///< bodies, -1: the world
  double sign = 1.0;                      ///< +1: the point body is B
  PointKind kind = PointKind::kGeneral;
  Vec3d core{0, 0, 0};  ///< frame of the point body [m]: the point less its arm
  Vec3d arm{0, 0, 0};   ///< axes of the anchor body [m]
  PointCompliance compliance;
  PointMotion motion;                ///< contact frame
  PointForce force;                  ///< at this motion
  Vec3d drift{0, 0, 0};              ///< J' v, contact frame [m/s^2]; by list_rows()
  Vec3d turn_drift{0, 0, 0};         ///< of the spin, where there are couples [rad/s^2]; likewise
  Vec3d free_acceleration{0, 0, 0};  ///< b, contact frame [m/s^2]; by assemble()
};

/// One evaluation. Buffers grow on demand and keep their capacity; swap() is cheap.
struct CompliantSystem {
  CompliantLaw law = CompliantLaw::kContinuous;  ///< of the last locate()
  State here;  ///< q and v of the evaluation, warm starts of the narrow phase
  DynamicsWorkspace dynamics;
  KnownKinematics known;  ///< what the kinematics in `dynamics` are of
  CollisionWorkspace collision;
  ContactSet contacts;  ///< of pairs with a stiffness; position: where the force acts
  ContactSet rigid;     ///< of rigid pairs
  std::vector<CompliantPoint> points;    ///< one per contact; after assemble() in the order of rows
  std::vector<ExternalWrench> wrenches;  ///< of the points' forces
  std::vector<double> held;  ///< [nv] force of the rigid rows that accelerate() adds; or empty
  std::vector<double> acceleration;  ///< [nv] at (q, v), in its axes: M^-1 (tau - nle + ...)
  ConstraintRows rows;               ///< J of all points, contact_axes.hpp
  std::vector<int> row_start;        ///< [points + 1] the rows of each; by list_rows(), assemble()
  ContactProblem delassus;           ///< values: Y, island by island; islands of the points
  std::vector<double> responses;     ///< M^-1 J^T where one tree carries all points
  // Scratch.
  RowScratch row_scratch;
  ContactSet found;
  std::vector<double> row_rate;  ///< J M^-1 (tau - nle) of all rows; by assemble()
  struct {
    Eigen::VectorXd q, v;                ///< of `here` while it is moved
    std::vector<CompliantPoint> sorted;  ///< points on their way to another order
  } aside;
  DynamicsWorkspace moved;

  void resize(const Scene& scene);
};

}  // namespace stiction

namespace stiction::compliance {

/// Kinematics, contacts, and the motion and force of every point at (q, v). Extensions come from
/// `memory`, sorted by (pair, feature), axes of the anchor body. `start`: an earlier evaluation
/// since when the anchors have not moved; points of kind kMaterial are then measured from it, their
/// extension less their way since, and a point that was open there has touched in between. Contacts
/// are looked for as far as the motion during `reach` seconds may need.
void locate(const CompliantInput& input,
            const double* q,
            const double* v,
            const std::vector<ContactMemory>& memory,
            const CompliantSystem* start,
            double reach,
            CompliantSystem& system);

/// locate() at the start of a step of input.h. The narrow phase begins at the state's warm starts
/// and leaves its new ones there and in `start`: what follows depends on nothing but the state.
void locate_start(const CompliantInput& input, State& state, CompliantSystem& start);

/// A contact frame that stays with its anchor body from the kinematics `from` to `to`, turned no
/// more than brings its normal to `normal`. The tangents of contact_frame() turn about a normal
/// that moves, and jump.
Mat3d carried_frame(const Scene& scene,
                    int anchor_body,
                    const DynamicsWorkspace& from,
                    const DynamicsWorkspace& to,
                    const Mat3d& frame,
                    const Vec3d& normal);

/// Contacts of `end` that `start` knows take their frames from there, carried_frame(): what the two
/// say of a point is then comparable. After locate().
void carry_frames(const Scene& scene, const CompliantSystem& start, CompliantSystem& end);

/// The forces of all points as wrenches on their bodies, system.wrenches.
void list_wrenches(const Scene& scene, CompliantSystem& system);

/// Factor of M^ and acceleration, with the points' forces or without; `s` as in
/// compute_acceleration: 0, or h / 2 for springs and dampers of joints by Crank and Nicolson.
/// After locate().
void accelerate(const CompliantInput& input, bool with_forces, double s, CompliantSystem& system);

/// J and J' v of all points, open ones too, in their order; all that assemble() needs beyond it is
/// the inertia. After locate() and accelerate() without forces.
void list_rows(const CompliantInput& input, CompliantSystem& system);

/// out <- J' v + given of the rows of point i [m/s^2, rad/s^2]. After list_rows().
void add_drift(const CompliantSystem& system, std::size_t i, const double* given, double* out);

/// J a of all points, a [nv]: out [rows], contact frames. After list_rows().
void point_accelerations(const Scene& scene,
                         const CompliantSystem& system,
                         const std::vector<double>& a,
                         std::vector<double>& out);

/// force [nv] <- J^T f and acceleration [nv] <- M^-1 J^T f, f [rows]. After list_rows().
void push_points(const Scene& scene,
                 const CompliantSystem& system,
                 const std::vector<double>& f,
                 std::vector<double>& force,
                 std::vector<double>& acceleration);

/// f <- L^-T f and acceleration <- M^-1 f, f [nv]. After accelerate().
void respond(const Scene& scene,
             const CompliantSystem& system,
             std::vector<double>& f,
             std::vector<double>& acceleration);

/// Y, b and the islands of all points, open ones too; orders `points` by row. After locate() and
/// accelerate() without forces.
void assemble(const CompliantInput& input, CompliantSystem& system);

/// out [nv] <- M^-1 J^T f, f [rows], axes of system.here.q. After assemble().
void apply_forces(const Scene& scene,
                  CompliantSystem& system,
                  const std::vector<double>& f,
                  double* out);

/// Y of the points [first, last) of one island, dense, symmetric, all their rows. After assemble().
void dense_delassus(const CompliantSystem& system, int first, int last, double* out);

/// Velocity of B relative to A at the contact's position, contact frame [m/s].
Vec3d relative_velocity(const Scene& scene,
                        const DynamicsWorkspace& dynamics,
                        const Contact& contact);

/// A vector of a point, from the axes of its anchor body to its contact frame and back.
Vec3d to_contact(const Scene& scene,
                 const CompliantSystem& system,
                 const CompliantPoint& point,
                 const Vec3d& x);
Vec3d to_anchor_axes(const Scene& scene,
                     const CompliantSystem& system,
                     const CompliantPoint& point,
                     const Vec3d& x);

/// settled_extension() and settled_turn() of a point at its force.
Anchor settled_anchor(const Scene& scene,
                      const CompliantSystem& system,
                      const CompliantPoint& point);

/// The way of B's point relative to A's from the kinematics `from` to `to`, axes of the anchor
/// body, of a point of kind kMaterial; of others the normal part only, along the anchor body's
/// `normal`.
Vec3d way_between(const Scene& scene,
                  const CompliantPoint& point,
                  const Vec3d& normal,
                  const DynamicsWorkspace& from,
                  const DynamicsWorkspace& to);

/// The whole way of a point over the sub-step, axes of the anchor body: of kind kMaterial exact,
/// else its tangential part by the mean of the velocities at both ends.
Vec3d way_of(const CompliantInput& input,
             const CompliantSystem& start,
             const CompliantPoint& point,
             const DynamicsWorkspace& end);

/// Angular velocity of B relative to A at some kinematics, world [rad/s].
Vec3d relative_spin(const Scene& scene, const DynamicsWorkspace& dynamics, const Contact& contact);

/// Velocity of B's point relative to A's at other kinematics, axes of the anchor body [m/s].
Vec3d relative_velocity(const Scene& scene,
                        const CompliantPoint& point,
                        const DynamicsWorkspace& dynamics);

}  // namespace stiction::compliance
