#pragma once

#include "stiction/integrator/step_report.hpp"
#include "stiction/model/control.hpp"
#include "stiction/model/state.hpp"
#include "stiction/simulator/simulator_settings.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

namespace stiction {

/// Numbers that worlds may have of their own; see world_fields().
enum class WorldField : std::uint8_t {
  kFriction,     ///< [geometries] of their materials
  kRestitution,  ///< [geometries]
  kMassScale,    ///< [bodies] of mass and inertia, times those of the scene or set_parameters()
  kArmature,     ///< [nv], and the following
  kDamping,
  kDryFriction,
  kLower,
  kUpper,
  kKp,
  kKd,
  kEffortLimit,
  kGravity,  ///< [3]
  // Not of Parameters: what commands go through on their way to the servos.
  kCommandDelay,  ///< [nv] whole steps, up to 10000
  kMotorTime      ///< [nv] time constant of a first-order motor [s]; 0: none
};
inline constexpr int kWorldFields = 14;
/// Their names in the order of WorldField: those of Parameters, "mass_scale", "command_delay" and
/// "motor_time".
const std::array<const char*, kWorldFields>& world_fields();
int world_field_size(WorldField field, const Scene& scene);

/// How a batch is computed; no number of any world depends on the first two.
struct BatchOptions {
  int threads = 1;    ///< 0: one for each core
  int width = 0;      ///< worlds of a pack: 1, 2, 4, 8; 0: the widest of this processor
  bool lanes = true;  ///< false: steps of a Simulator in every scene
  std::string configuration = "default";  ///< that worlds start from, and their servos hold
};

/// Arrays of a batch, a row for each world; they stay where they are.
struct BatchArrays {
  double *q, *v;                                       ///< [worlds, nq], [worlds, nv]
  double *torque, *position_target, *velocity_target;  ///< [worlds, nv] held until written
  const double* time;                                  ///< [worlds]
  /// Of a world's last call of step(): the worst StepStatus of its steps, and the largest
  /// Residuals::relative.
  const std::uint8_t* status;
  const double* certificate;
  const std::int32_t* contacts;      ///< points of contact of the last step
  const std::int32_t* scalar_steps;  ///< that a Simulator took of this call, where lanes is on
  const std::uint8_t* lane_exit;     ///< why it took the last of these, see lane_exits(); 0: none
};

/// Worlds of one scene, stepped together on threads of its own. Each has exactly the bits of a
/// Simulator, whatever the number of worlds, its place, threads, width, masks, and other worlds.
/// Scenes for which why_not_lanes() is empty are stepped on lanes. One caller at a time.
class Batch {
 public:
  /// Throws std::invalid_argument naming the option or setting that is out of range.
  Batch(const Scene& scene,
        int worlds,
        const SimulatorSettings& settings = {},
        const BatchOptions& options = {});
  ~Batch();
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  const Scene& scene() const;
  const SimulatorSettings& settings() const;
  int worlds() const;
  int threads() const;  ///< that have worlds
  int width() const;    ///< of a pack; without lanes 1
  /// Why the worlds are stepped by Simulators, in words; empty: they are on lanes.
  const std::string& why_not_lanes() const;
  /// In words, by the numbers in BatchArrays::lane_exit.
  static const std::array<const char*, 13>& lane_exits();

  const BatchArrays& arrays();

  /// `substeps` steps of every world, or of those where mask [worlds] is not 0, with one control.
  /// What was written to arrays() holds from the first on; warm starts stay. A world whose step is
  /// not finite keeps the state before it and stands still from then on, until reset() or
  /// set_state(). Allocates nothing once warm. False if an interrupt ended it: each world is then
  /// at the end of a whole step, not all at the same time. Throws std::invalid_argument, before
  /// anything moves, naming world and entry of a control that is not finite or a quaternion that is
  /// not unit; and whatever a thread throws.
  bool step(int substeps = 1, const std::uint8_t* mask = nullptr);

  /// The same on a thread of the batch's own, while the caller goes on; the mask is copied. Until
  /// wait() nothing of the batch may be called or written: what would change it throws
  /// std::logic_error. A batch may be destroyed meanwhile, which ends the steps.
  void step_async(int substeps = 1, const std::uint8_t* mask = nullptr);
  /// Ends step_async(): returns and throws what step() would, controls that are not finite
  /// included. Throws std::logic_error if there is none under way.
  bool wait();

  /// The worlds of the mask back to the start, at rest at time 0 with cold warm starts; or to rows
  /// of q [worlds, nq] and v [worlds, nv]. Controls and parameters stay. Throws
  /// std::invalid_argument naming world and entry before anything changes; controls that are not
  /// finite too, where the world has delays or motors.
  void reset(const std::uint8_t* mask = nullptr,
             const double* q = nullptr,
             const double* v = nullptr);

  /// A copy, warm starts included.
  State state(int world) const;
  void set_state(int world, const State& state);  ///< validated
  /// What its servos get in its next step: its rows, as delays and motors pass them on.
  Control control(int world) const;

  /// Torque and targets of a dof reach its servo kCommandDelay steps later, then through a motor
  /// y <- y + (1 - exp(-dt / kMotorTime)) (u - y); see assign(). reset() and set_state() leave a
  /// world as if its present rows had always held. A State knows nothing of it: what a world
  /// remembers is [1 + command_depth(), 3, nv], torque and targets that its servos got last, then
  /// its rows in the steps before, the latest first. The depth is the longest of its delays.
  int command_depth(int world) const;
  void commands(int world, double* out) const;
  /// After set_state(), to go on from a copy. Throws std::invalid_argument naming the entry that is
  /// not finite.
  void set_commands(int world, const double* commands);

  /// Forces from outside at a point of a body [m, its frame]: [worlds, 6] force [N] and moment
  /// about the point [N m], both in world axes, held until written, zero at first. Every sub-step
  /// has them where the point then is. The same array for the same body and point; it stays where
  /// it is. Throws std::invalid_argument for a body that is not in the scene.
  double* wrench(int body, const Vec3d& point = {0, 0, 0});

  /// What the contacts of `count` geometries carried in the last step: the sum over their points of
  /// the size of the force [N], to out [worlds, count]. Throws std::invalid_argument for a geometry
  /// that is not in the scene.
  void contact_forces(const int* geometries, int count, double* out) const;

  /// Those of the world's next step, a copy.
  Parameters parameters(int world) const;
  void set_parameters(int world, const Parameters& parameters);  ///< validated
  /// One field of the worlds of the mask, values [worlds, world_field_size()]; kept for worlds only
  /// where assigned. Throws std::invalid_argument naming world and entry before anything changes.
  void assign(WorldField field, const double* values, const std::uint8_t* mask = nullptr);
  /// What holds now, to values [worlds, world_field_size()].
  void read(WorldField field, double* values) const;

  /// work(first, last) for ranges of worlds that together are all, on the batch's threads.
  template <class Work>
  void each_range(Work&& work) const {
    run(&work, [](void* self, int first, int last) {
      (*static_cast<std::remove_reference_t<Work>*>(self))(first, last);
    });
  }
  /// work(world) for the worlds of the mask, null: all, on the batch's threads.
  template <class Work>
  void each_world(const std::uint8_t* mask, Work&& work) const {
    each_range([&](int first, int last) {
      for (int world = first; world < last; ++world) {
        if (mask == nullptr || mask[world] != 0) work(world);
      }
    });
  }

  /// Asked by the caller's thread during step().
  void set_interrupt(const Interrupt& interrupt);

 private:
  friend class Observer;
  void run(void* object, void (*work)(void* object, int first, int last)) const;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stiction
