#pragma once

#include "stiction/integrator/step_report.hpp"

#include "integrator/compliant_system.hpp"
#include "integrator/exponential.hpp"
#include "integrator/exponential_published.hpp"
#include "integrator/step_record.hpp"
#include "integrator/take_safe_answer.hpp"
#include "solver/common/work_account.hpp"

#include <memory>
#include <vector>

// What compliant integrators share besides the evaluation: their names, the end of a sub-step with
// the rows that stay rigid, and what a step tells of its contacts.

namespace stiction {

/// One contact point of a step, over all its sub-steps.
struct CompliantContact {
  Contact contact;           ///< where it was first seen in the step
  Vec3d impulse{0, 0, 0};    ///< on B, contact frame [N s]
  Vec3d velocity{0, 0, 0};   ///< of B relative to A after the step, contact frame [m/s]
  Vec3d extension{0, 0, 0};  ///< after the step, contact frame [m]
  Vec3d moment{0, 0, 0};     ///< couple on B, contact frame [N m s]
  Vec3d spin{0, 0, 0};       ///< of B relative to A about axes with friction, contact frame [rad/s]
  ContactMode mode = ContactMode::kOpen;  ///< where the integrator last evaluated it
};

/// What a step tells, over all its sub-steps: iterations of the integrator's own, the most of a
/// sub-step; of the rows that stay rigid the worst sub-step.
struct CompliantOutcome : StepReport {
  bool converged = true;                   ///< of the integrator's own iteration
  std::int64_t most_factorisations = 0;    ///< that they could have taken, with ncp-newton
  bool has_energies = false;               ///< by report_energies(), once a step
  std::vector<CompliantContact> contacts;  ///< sorted by (pair, feature)

  void begin();  ///< forgets the last step, keeps capacity
};

/// The rows that stay rigid, with scratch.
struct RigidRows : StepRecord {
  RowScratch scratch;
  SolverWorkspace solver;
  SafeAnswerRows safe;
  std::vector<double> change;       ///< [nv]
  std::vector<double> held;         ///< [rows] the impulses that held, then their change
  std::vector<double> change_of_g;  ///< [rows]
};

/// An anchor on its way through the stages of a Runge-Kutta method, axes of the anchor body.
struct AnchorTrack {
  std::uint64_t pair = 0;
  std::uint32_t feature = 0;
  Anchor base;       ///< at the start
  Anchor rate, sum;  ///< of the last stage [m/s, rad/s]; weighted, of all
};

struct RungeKuttaScratch {
  std::vector<double> xi, nu, xi_rate, nu_rate;  ///< [nv] of a stage
  std::vector<AnchorTrack> anchors;              ///< sorted by (pair, feature)
};

struct ImplicitScratch;  // src/integrator/implicit_step.hpp

/// Owned by the caller; nothing in it is state.
struct CompliantWorkspace {
  CompliantSystem start, end;         ///< of the current sub-step
  std::vector<double> xi, nu;         ///< [nv] displacement and end velocity, step_coordinates.hpp
  Eigen::VectorXd q, v;               ///< scratch, of a stage
  std::vector<ContactMemory> memory;  ///< anchors of a stage
  RungeKuttaScratch runge_kutta;
  std::shared_ptr<ImplicitScratch> implicit;
  RigidRows rigid;
  ExponentialScratch exponential;
  PublishedScratch published;
  CompliantOutcome outcome, kept;  ///< of the step; before a sub-step that may be taken back
  double unpaid = 0.0;  ///< of the last sub-step: its end, for which work or time did not last [s]

  /// The work of the step.
  WorkAccount& account();

  void resize(const Scene& scene);
};

/// One sub-step of input.h: advances state.q, v, time and contacts, adds to work.outcome. Where the
/// work of the step does not last it ends earlier and says so, work.unpaid.
using Integrator = void (*)(const CompliantInput& input, State& state, CompliantWorkspace& work);

/// How the displacement of a sub-step goes with its velocity, where rigid rows change both.
enum class PositionRule : std::uint8_t {
  kEndVelocity,  ///< xi = h nu
  kSecondOrder,  ///< xi = h nu0 + the double integral of the acceleration
};

}  // namespace stiction

namespace stiction::compliance {

/// What the rows that stay rigid (limits, dry friction, closures, gears, contacts of rigid pairs)
/// did in the last sub-step, as a constant force J^T lambda / h in work.start.held: the compliant
/// contacts then feel the joints held while they are, and only the change of lambda is left to
/// conclude(). After locate(), before accelerate().
void hold_rigid_rows(const CompliantInput& input, const State& state, CompliantWorkspace& work);

/// The same force at another evaluation of the sub-step, in its axes. After its locate().
void turn_held(const Scene& scene, const CompliantSystem& start, CompliantSystem& stage);

/// The end of a sub-step from work.xi and work.nu, in which the rigid rows push as held. They are
/// built at the start of the sub-step as the rigid step does, solved for the end velocity nu, and
/// what they push differently is added, nu += M^-1 J^T (lambda - lambda held). The displacement
/// follows by kEndVelocity; by kSecondOrder a second solve with xi / h for nu and half the dry
/// friction makes J xi meet the same rows. Then state.q, v, time, constraint impulses, and the
/// kinematics of the end in work.end.dynamics. After hold_rigid_rows() of the same input and state;
/// work.start must hold a factor.
void conclude(const CompliantInput& input,
              PositionRule rule,
              CompliantWorkspace& work,
              State& state);

/// Adds to the outcome what a point of `system` did in a sub-step; its couples are left to add.
CompliantContact& report_point(const Contact& contact,
                               const Vec3d& impulse,
                               const Vec3d& velocity,
                               const Vec3d& extension,
                               ContactMode mode,
                               CompliantOutcome& outcome);

/// Anchor after the sub-step of a point of the start on which `force` and the point's couple have
/// acted, or which was out of reach (`acts` false). One that slides under the continuous law has
/// its spring relax towards the force; else the anchor stays and the point moves on.
Anchor anchor_after(const CompliantInput& input,
                    const CompliantWorkspace& work,
                    const CompliantPoint& point,
                    const Vec3d& force,
                    bool acts);

/// Force and couple over a sub-step, on B, contact frame [N s, N m s].
struct PointImpulse {
  Vec3d force{0, 0, 0}, couple{0, 0, 0};
};
inline PointImpulse operator*(const PointForce& f, double h) { return {f.force * h, f.couple * h}; }

/// One point at the end of a sub-step, after conclude(): what acted on it, and its anchor then.
/// Fills state.contacts and the outcome.
void remember_point(const CompliantInput& input,
                    const CompliantSystem& system,
                    const CompliantPoint& point,
                    const PointImpulse& impulse,
                    const Anchor& anchor,
                    CompliantWorkspace& work,
                    State& state);

/// Multiplications of an evaluation that has found so many contacts, about.
double evaluation_work(const Scene& scene, const CompliantSystem& system);

/// The energies at `system`, which has an acceleration, unless the outcome has them already: the
/// first evaluation of a step is its start.
void report_energies(const CompliantInput& input,
                     const CompliantSystem& system,
                     CompliantOutcome& outcome);

/// Energy of the springs of `system` [J].
double elastic_energy(const CompliantSystem& system);

}  // namespace stiction::compliance
