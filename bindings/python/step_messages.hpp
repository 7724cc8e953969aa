#pragma once

#include "simulator_holder.hpp"

// What a simulator says of a step that failed, and once of its first step and of the first that was
// not solved.

namespace stiction::python {

/// What is known: the step, the fastest dof with its body, the contact that pushes most.
[[noreturn]] void raise_not_finite(const Simulator& sim, const State& state);

/// The last report, or raise_not_finite().
StepReport finished(const Simulator& sim, const State& state);

/// Looks, once, at where the first step begins: a StartWarning if bodies overlap there.
/// `start_checked` may be set before, and nothing is said. Throws for what is no state.
void check_start(SimulatorHolder& sim, State& state);

/// Words on the first step of a simulator that ends not converged; kept until they are said.
/// `end`: the step's [s]; its contacts are known if it is the `last`.
void note_not_converged(SimulatorHolder& sim, const StepReport& report, double end, bool last);

/// Says them. Nobody is inside any more: what the warning calls may call the simulator.
void say_not_converged(SimulatorHolder& sim);

}  // namespace stiction::python
