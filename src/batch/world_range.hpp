#pragma once

#include "batch/actuation.hpp"
#include "batch/last_steps.hpp"
#include "batch/world_parameters.hpp"
#include "batch/world_wrenches.hpp"

#include <atomic>

namespace stiction {

/// Ends a call of step() on all threads; asked by those through a StopPoll.
struct Stop {
  std::atomic<bool> stopped{false};
  Interrupt caller;  ///< asked on the caller's thread alone
};

/// What a thread asks between steps and, as an Interrupt, within them.
struct StopPoll {
  Stop* stop = nullptr;
  bool callers = false;  ///< this is the caller's thread

  bool requested() const {
    if (callers && !stop->stopped && stop->caller.requested()) stop->stopped = true;
    return stop->stopped.load(std::memory_order_relaxed);
  }
  Interrupt interrupt() const {
    return {[](void* self) { return static_cast<const StopPoll*>(self)->requested(); },
            const_cast<StopPoll*>(this)};
  }
};

/// The rows of worlds in the arrays of a batch, from a first world on; see BatchArrays.
struct WorldRows {
  int nq, nv;
  double *q, *v, *torque, *position_target, *velocity_target, *time;
  std::uint8_t* status;
  double* certificate;
  std::int32_t *contacts, *scalar_steps;
  std::uint8_t* lane_exit;
  const WrenchTable* wrenches;  ///< of all worlds
  Actuation* actuation;         ///< likewise
  LastSteps* last_steps;        ///< likewise
  std::ptrdiff_t world;         ///< of the first row

  /// Those from `world` on.
  WorldRows from(std::ptrdiff_t world) const;
  CommandRows commands() const { return {torque, position_target, velocity_target}; }
  /// Whether it stands still since a step that was not finite.
  bool frozen(int world) const {
    return status[world] == static_cast<std::uint8_t>(StepStatus::kNotFinite);
  }
};

/// What a step was, for the rows of its world.
struct WorldStep {
  StepStatus status;
  double relative;
  int contacts;
  std::uint8_t exit;  ///< of the lanes; 0: none
  bool first;         ///< of its call
};
void add_step(const WorldStep& step, const WorldRows& rows, int world);
/// Freezes a world whose q or v have a number that is not finite: no step is for these. False: it
/// has none.
bool freeze_not_finite(const WorldRows& rows, int world, std::uint8_t exit);

/// visit(a, b, impulse on geometry b [N s]), a < b, for points of contact; in the axes that the
/// body of a had where the step began, or of the world where WorldRange keeps contacts.
struct ContactVisit {
  const void* object;
  void (*call)(const void* object, int a, int b, const Vec3d& impulse);

  template <class Visit>
  static ContactVisit by(const Visit& visit) {
    return {&visit, [](const void* self, int a, int b, const Vec3d& impulse) {
              (*static_cast<const Visit*>(self))(a, b, impulse);
            }};
  }
};
/// Those that a state remembers.
void each_contact(const std::vector<ContactMemory>& contacts, const ContactVisit& visit);

/// What a point of contact carried in a world's last step, and where.
struct AppliedContact {
  int geometry_a, geometry_b;
  Vec3d point;          ///< world [m]
  Vec3d force, moment;  ///< mean over the step, on B [N], about the point [N m]; world axes
};

struct RangeCall {
  int steps;
  const std::uint8_t* mask;  ///< null: all
};

/// The worlds of one thread, counted from 0. Their q, v, controls and time are the rows'; what else
/// there is of a state, and the parameters, are here.
class WorldRange {
 public:
  virtual ~WorldRange() = default;
  virtual void step(const RangeCall& call) = 0;
  virtual int width() const = 0;
  virtual const Scene& scene() const = 0;
  virtual const SimulatorSettings& settings() const = 0;
  virtual void set_state(int world, const State& state) = 0;
  virtual void get_state(int world, State& state) const = 0;
  /// Those of the last step where states do not tell of its impulses, after compliant steps; none
  /// without a step behind. Null: states do.
  virtual const std::vector<AppliedContact>* kept_contacts([[maybe_unused]] int world) const {
    return nullptr;
  }
  /// The points of the last step.
  virtual void each_contact(int world, const ContactVisit& visit) const = 0;
  virtual WorldParameters& parameters() = 0;  ///< to be read and checked
  virtual void set_parameters(int world, const Parameters& parameters) = 0;
  virtual void assign(WorldField field, int world, const double* values) = 0;
};

/// `poll` and the memory of `rows` must stay.
std::unique_ptr<WorldRange> make_lane_range(const Scene& scene,
                                            const SimulatorSettings& settings,
                                            int worlds,
                                            int width,
                                            const WorldRows& rows,
                                            const StopPoll& poll);
std::unique_ptr<WorldRange> make_simulator_range(const Scene& scene,
                                                 const SimulatorSettings& settings,
                                                 int worlds,
                                                 const WorldRows& rows,
                                                 const StopPoll& poll);

}  // namespace stiction
