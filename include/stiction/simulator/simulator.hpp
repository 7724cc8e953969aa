#pragma once

#include "stiction/collision/contact.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/derivatives/step_derivatives.hpp"
#include "stiction/model/control.hpp"
#include "stiction/model/scene.hpp"
#include "stiction/model/state.hpp"
#include "stiction/simulator/inverse_contact_dynamics.hpp"
#include "stiction/simulator/report.hpp"
#include "stiction/simulator/rollout.hpp"
#include "stiction/simulator/scene_motion.hpp"
#include "stiction/simulator/simulator_settings.hpp"
#include "stiction/simulator/snapshot.hpp"

#include <memory>
#include <string>
#include <vector>

namespace stiction {

class RigidStep;             // src/simulator/rigid_step.hpp
class CompliantDerivatives;  // src/simulator/compliant_derivatives.hpp
class Differentiator;        // src/derivatives/differentiator.hpp
struct DerivativeInput;      // src/derivatives/derivative_input.hpp
class StepKind;              // src/simulator/step_kind.hpp
struct StepRecord;           // src/integrator/step_record.hpp

/// Settings, workspace and step(): composition, no mathematics. Keeps its own copy of the scene.
/// One Simulator per thread.
class Simulator {
 public:
  explicit Simulator(const Scene& scene, const SimulatorSettings& settings = {});
  Simulator(Simulator&&) noexcept;
  ~Simulator();

  const Scene& scene() const { return scene_; }
  std::uint64_t fingerprint() const { return fingerprint_; }  ///< of scene()
  const SimulatorSettings& settings() const { return settings_; }
  /// Settable between steps; call scene().validate(parameters()) after editing. The next step sees
  /// what was written, by whatever reference.
  Parameters& parameters() {
    lent_ = true;
    return parameters_;
  }
  const Parameters& parameters() const { return parameters_; }
  /// Whether parameters() are others than in the last step.
  bool edited() const { return lent_ && edits_.edited(parameters_); }

  /// "default", or a named configuration of the scene ("standing", ...). At rest.
  State initial_state(const std::string& configuration = "default") const;
  /// Zero torques; servo targets hold the configuration.
  Control hold(const std::string& configuration = "default") const;

  /// Advances the state by dt, in place. Allocates nothing once warm. Throws only
  /// for a state or control of the wrong size; numerical trouble is a status. The report and
  /// everything below stay valid until the next call.
  const StepReport& step(State& state, const Control& control);
  /// The same without a look at parameters(), which nobody has written to since the last step.
  const StepReport& step_unedited(State& state, const Control& control);
  /// The first half of step(): contacts, dynamics, problem() and warm_start() at `state`, in which
  /// the warm starts of the narrow phase are left. solve() and the second half may follow; until
  /// then contacts() and what asks for them throws. Rigid integrators only.
  void prepare(State& state, const Control& control);
  /// The second half: moves the state that was prepared on with any impulses [rows], of
  /// warm_start()'s size, and judges them; for comparing solvers on one problem. Once per
  /// prepare().
  const StepReport& advance(State& state, const std::vector<double>& impulse);
  /// The same `steps` times with one control; stops at a step that is not finite.
  const StepReport& run(State& state, const Control& control, int steps);
  /// With a `tape` for adjoint(); its memory is used again.
  RolloutLog rollout(State& state,
                     const Control& base,
                     const RolloutInput& input,
                     RolloutTape* tape = nullptr);

  const StepReport& report() const;
  /// Of the last step; after a compliant step, of the rows that stay rigid in its last sub-step.
  /// These four are parts of the record.
  const StepRecord& record() const;
  /// As the narrow phase found them; contacts() says what came of them.
  const ContactSet& contact_set() const;
  const ContactProblem& problem() const;
  const ContactSolution& solution() const;
  /// What the solver of the last step started from [rows, N s].
  const std::vector<double>& warm_start() const;
  /// Factorisations that the last step could have taken at most with ncp-newton: those of its
  /// problem, those of the impact law and of the safe answers; of a compliant step those of its
  /// rigid rows, as they were met, and of implicit-euler's iterations.
  std::int64_t most_factorisations() const;
  /// What StepReport::work of the last step may have been at most: SolverSettings::max_work.
  double most_work() const;
  std::vector<ContactReport> contacts() const;
  /// Into `out`, which keeps its memory.
  void contacts(std::vector<ContactReport>& out) const;
  /// Sums all contacts of the last step, in world axes, moment about the body's origin at its
  /// start. Throws for an unknown body, unless the step is whole, and for a body that sleeps.
  BodyWrench wrench_on(int body);
  /// Sums all contacts of two bodies (-1: the world), on B, with the moment about a point of the
  /// world. Throws likewise. The loads between sleeping bodies are not known; a body that is awake
  /// does not touch one that sleeps.
  BodyWrench wrench_between(int body_a, int body_b, const Vec3d& point);
  /// The start of the last step with its mean acceleration, (v+ - v) / dt with v+ of a free joint
  /// in axes of the start. Throws unless the last step is whole and its end known: not after
  /// prepare() alone, nor after adjoint(), which repeats steps.
  SceneMotion motion() const;
  /// What the body takes from its parent by their joint, drive and limits included, but not what
  /// turns a rotor (armature): the rate of momentum, by motion(), of all that the joint carries
  /// less weight, contacts, closures and wrenches of the control. Throws for a free joint, a tree
  /// that sleeps, and where what is carried has a closure with something else and the step is
  /// compliant or of project_closures, whose forces are not known.
  BodyWrench joint_reaction(int body);
  Balance balance(const State& after, const Control& control);

  /// The last step differentiated (docs/derivatives.md), of compliant integrators but
  /// implicit-euler by differences of whole steps of another simulator: by the state it started
  /// from and its torques; J^T w, w [2 nv] of (q+, v+); J x, x [3 nv] of (q, v, torque); and where
  /// that holds. With springs, see StepDerivatives, w [2 nv + 3 ns] and x [3 nv + 3 ns] too: J x is
  /// then [2 nv + 3 ns]. Changes no bit of any step. What is returned stays until the next of these
  /// calls. Throw std::invalid_argument naming what stands in the way, Interrupted where a step of
  /// the differences was.
  /// `parameters`: names of fields, see derivative_parameters(); of the rigid integrator only. Of
  /// jvp() the changes of such fields, beside those of x.
  const StepDerivatives& step_derivatives(const std::vector<std::string>& parameters = {});
  const StepGradient& vjp(const Eigen::VectorXd& w,
                          const std::vector<std::string>& parameters = {});
  const Eigen::VectorXd& jvp(const Eigen::VectorXd& x,
                             const std::vector<ParameterDirection>& parameters = {});
  const GradientReport& gradient_report();
  /// Fields of Parameters and Control that steps can be differentiated by.
  static const std::vector<std::string>& derivative_parameters();
  /// How many columns each of these has at the last step; throws likewise.
  std::vector<ParameterRange> parameter_ranges(const std::vector<std::string>& parameters);
  /// The same of a whole rollout, backwards: its steps are repeated, so that the last step is then
  /// the first of the rollout. Stays until the next call; allocates nothing when warm. Throws
  /// std::invalid_argument naming the step that has no derivatives, or the parameter that was
  /// edited since.
  const RolloutGradient& adjoint(const RolloutTape& tape,
                                 const RolloutCotangents& by,
                                 const std::vector<std::string>& parameters = {});

  /// The step, backwards: torques and impulses with which a rigid step from `state` ends at v_next
  /// [nv]. The modes of contacts follow from v_next (speeds below `tolerance` [m/s] are rest); of
  /// the impulses of these modes those are taken that leave the least to torques where nothing is
  /// `actuated` (null: ball joints and free-flyers), in the metric of the kinetic energy, and of
  /// those nearly the least. Leaves the last step as it is; allocates. Throws std::invalid_argument
  /// for sizes and numbers out of range, a compliant integrator, a servo at its effort limit,
  /// torsional friction that slides.
  InverseContactDynamics inverse_contact_dynamics(const State& state,
                                                  const Control& control,
                                                  const Eigen::VectorXd& v_next,
                                                  const std::vector<int>* actuated = nullptr,
                                                  double tolerance = 1e-6);
  /// The same, differentiated; throws also where a force that sticks is at its bound, and above
  /// kMaxMatrixDofs dofs.
  InverseContactDerivatives inverse_contact_derivatives(const State& state,
                                                        const Control& control,
                                                        const Eigen::VectorXd& v_next,
                                                        const std::vector<int>* actuated = nullptr,
                                                        double tolerance = 1e-6);

  /// The collision part of a step alone, at `state`: kinematics, broad and narrow phase, manifolds.
  /// Leaves the warm starts in the state as a step does; the last step's report stays.
  const CollisionCounters& find_contacts(State& state);
  /// Of the last step.
  const CollisionCounters& collision_counters() const;

  /// Asked by every step from now on; what it ends leaves the state of the last whole step.
  void set_interrupt(const Interrupt& interrupt) { settings_.solver.interrupt = interrupt; }
  /// The end of the last whole step, by the thread that steps; empty before the first one.
  Snapshot snapshot();
  /// The same for other threads while a step is under way.
  Watch& watch() { return *watch_; }

  /// Bodies that sleep in `state`.
  std::vector<int> asleep(const State& state) const;
  /// Wakes everything; to be called after parameters were changed, which sleep does not notice.
  void wake(State& state) const { state.rest.clear(); }

  /// World placements of all bodies at `state` (for drawing).
  std::vector<Transform> body_poses(const State& state);
  /// Into `poses`, which keeps its memory.
  void body_poses(const State& state, std::vector<Transform>& poses);

 private:
  struct Look;         // workspace of what only looks at a state
  struct InverseStep;  // workspace of inverse_contact_dynamics()
  struct Adjoint;      // workspace of adjoint()
  Adjoint& begin_adjoint(const RolloutTape& tape,
                         const RolloutCotangents& by,
                         const std::vector<std::string>& parameters);
  void spread_reach(Adjoint& work);
  void repeat(const State& start, const Control& control, State& end);
  bool repeat_segment(const RolloutTape& tape, int first, int last, Adjoint& work);
  bool take_back_step(const RolloutTape& tape, int step, const State& start, Adjoint& work);
  void begin(const State& state, const Control& control);
  void complete() const;
  void refuse_underived(const std::string& caller) const;
  void check_last_step() const;
  void refuse_unless_whole(const char* caller) const;
  SceneMotion motion_of(const StepRecord* record) const;
  bool sleeps(int body) const;
  [[noreturn]] void refuse_sleeper(const char* caller, int body) const;
  DerivativeInput derivative_input() const;
  Differentiator& differentiator();
  CompliantDerivatives* compliant_derivatives(const std::string* parameter = nullptr);
  void check_tangents(const char* name, const Eigen::VectorXd& x, int base, const char* meaning);
  void check_finite(const char* name, const Eigen::VectorXd& x, const Eigen::VectorXd& y) const;
  RigidStep& rigid_step() const;  // throws if the integrator makes another kind
  void check_control(const Control& control) const;
  void check_sizes(const State& state, const Control& control) const;
  /// Throws unless integrator and solver know the materials' couples of friction.
  void check_friction(const Parameters& p) const;
  void check_surfaces(const Parameters& p) const;
  void look_at_parameters();
  const StepReport& take_step(State& state, const Control& control);
  const StepReport& take_back_if_bad(State& state);
  const StepReport& publish(const State& state);
  void fill(Snapshot& out);

  Scene scene_;
  std::uint64_t fingerprint_;
  SimulatorSettings settings_;
  Parameters parameters_;
  EditWatch edits_;
  bool lent_ = false;  ///< someone may hold a reference to parameters_
  std::unique_ptr<StepKind> step_;
  std::unique_ptr<Look> look_;
  std::unique_ptr<InverseStep> inverse_;  ///< from the first time it is asked
  bool prepared_ = false;                 ///< the first half of a step is done, the second is not
  State before_;                          ///< the last step's start, and its control
  Control control_before_;
  std::unique_ptr<Differentiator> differentiator_;   ///< from the first time it is asked
  std::unique_ptr<Adjoint> adjoint_;                 ///< likewise
  std::unique_ptr<CompliantDerivatives> compliant_;  ///< likewise
  std::uint64_t step_count_ = 0, differentiated_step_ = 0;
  Snapshot last_;                 ///< of the last whole step time, q and v alone
  std::uint64_t last_count_ = 0;  ///< step_count_ of that step
  std::unique_ptr<Watch> watch_ = std::make_unique<Watch>();
};

}  // namespace stiction
