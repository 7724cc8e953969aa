#include "stiction/simulator/simulator.hpp"

#include "common.hpp"
#include "named_contact.hpp"

namespace stiction::python {
namespace {

std::string status(const StepReport& r) { return to_string(r.status); }
std::string solver_status(const StepReport& r) { return to_string(r.solver_status); }
bool converged(const StepReport& r) { return r.solver_status == SolveStatus::kConverged; }
double energy(const StepReport& r) { return r.kinetic_energy + r.potential_energy; }
Residuals residuals_copy(const StepReport& r) { return r.residuals; }

std::string report_repr(const StepReport& r) {
  return "StepReport(status=\"" + status(r) + "\", contacts=" + std::to_string(r.num_contacts) +
         ", iterations=" + std::to_string(r.iterations) +
         ", relative=" + number(r.residuals.relative) +
         (r.penetration > 1e-3 ? ", penetration=" + number(r.penetration) : "") + ")";
}

void expose_step_report() {
  bp::class_<StepReport>(
      "StepReport", "What a step tells; a copy, independent of later steps.", bp::no_init)
      .add_property(
          "status", &status, "\"ok\" or \"not_converged\"; a step that is not finite raises.")
      .add_property(
          "solver_status", &solver_status, "As ContactSolution.status, which lists the values.")
      .add_property(
          "converged",
          &converged,
          "Every island is solved to its tolerance; `tolerance` tells the largest of these.")
      .add_property("residuals", &residuals_copy, "Residuals of the contact problem, SI units.")
      .def_readonly(
          "iterations",
          &StepReport::iterations,
          "Of the solver, slowest island; of a compliant step, of the integrator, worst sub-step.")
      .def_readonly(
          "tolerance",
          &StepReport::tolerance,
          "Of `residuals.relative`, that held: the solver's, or tolerance_large if an island "
          "needed it.")
      .def_readonly(
          "factorisations", &StepReport::factorisations, "Linear systems factored, all islands.")
      .def_readonly(
          "work",
          &StepReport::work,
          "Multiplications, about, of what the integrator and ncp-newton solve (max_work); "
          "finding contacts is no part of it.")
      .def_readonly("num_contacts", &StepReport::num_contacts)
      .def_readonly("num_rows", &StepReport::num_rows, "Of the contact problem.")
      .def_readonly("num_islands", &StepReport::num_islands)
      .def_readonly("safe_islands",
                    &StepReport::safe_islands,
                    "Islands not solved, whose impulses are those of the convex, regularised "
                    "problem: no energy gained.")
      .def_readonly("num_asleep",
                    &StepReport::num_asleep,
                    "Trees that sleep; contacts, rows and islands leave them out.")
      .def_readonly("num_fast_trees",
                    &StepReport::num_fast_trees,
                    "Articulated trees that turn by over 0.1 rad in the step: their kinetic energy "
                    "was made right by scaling; a shorter dt needs none.")
      .def_readonly("penetration",
                    &StepReport::penetration,
                    "Deepest overlap at the start of the step [m], >= 0.")
      .def_readonly(
          "creep", &StepReport::creep, "Fastest tangential speed of a sticking contact [m/s].")
      .def_readonly("kinetic_energy",
                    &StepReport::kinetic_energy,
                    "Of bodies and rotors (armature) at the start of the step [J].")
      .def_readonly(
          "potential_energy",
          &StepReport::potential_energy,
          "At the start of the step [J]: of gravity, zero at the world origin, and of the "
          "springs of joints.")
      .def_readonly("elastic_energy",
                    &StepReport::elastic_energy,
                    "Of the springs of contacts at the start of the step [J].")
      .def_readonly("recovery_energy",
                    &StepReport::recovery_energy,
                    "That corrections of position errors add in the step at most [J]: the sum of "
                    "impulse times reference velocity over their rows. A bilateral row that is "
                    "pushed back counts below zero.")
      .def_readonly("error_estimate",
                    &StepReport::error_estimate,
                    "Largest error of a velocity or displacement [m, rad, m/s, rad/s], by "
                    "integrators that have an estimate, else 0.")
      .def_readonly(
          "switches",
          &StepReport::switches,
          "Of points between stick, slide and open, located inside the step; exponential.")
      .add_property("energy", &energy, "Kinetic plus potential [J], without elastic_energy.")
      .def("__repr__", &report_repr);
}

bp::object position(const NamedContact& c) { return to_array(c.position); }
bp::object frame(const NamedContact& c) { return to_array(c.frame); }
bp::object normal(const NamedContact& c) { return to_array(c.frame.c2); }
bp::object impulse(const NamedContact& c) { return to_array(c.impulse); }
bp::object velocity(const NamedContact& c) { return to_array(c.velocity); }
bp::object velocity_change(const NamedContact& c) { return to_array(c.velocity_change); }
bp::object extension(const NamedContact& c) { return to_array(c.extension); }
bp::object moment_impulse(const NamedContact& c) { return to_array(c.moment_impulse); }
bp::object angular_velocity(const NamedContact& c) { return to_array(c.angular_velocity); }
bp::object moment_on_b(const NamedContact& c) { return to_array(c.moment_on_b_world); }
bp::object force_on_b(const NamedContact& c) { return to_array(c.force_on_b_world); }
bp::object force_on_a(const NamedContact& c) { return to_array(-c.force_on_b_world); }

std::string contact_repr(const NamedContact& c) {
  return "ContactReport(" + c.geometry_a_name + " - " + c.geometry_b_name +
         ", gap=" + number(c.gap) + ", force_on_b_world=" + vector_text(c.force_on_b_world) +
         (c.sliding ? ", sliding)" : ")");
}

void expose_contact_report() {
  using C = NamedContact;
  bp::class_<C>(
      "ContactReport",
      "One contact point of the last step; a copy. A is the geometry with the lower number, the "
      "normal points from A to B; forces are averages over the step.",
      bp::no_init)
      .def_readonly("geometry_a", &C::geometry_a)
      .def_readonly("geometry_b", &C::geometry_b)
      .def_readonly("body_a", &C::body_a, "-1: the world.")
      .def_readonly("body_b", &C::body_b, "-1: the world.")
      .def_readonly("geometry_a_name", &C::geometry_a_name)
      .def_readonly("geometry_b_name", &C::geometry_b_name)
      .def_readonly("body_a_name", &C::body_a_name, "\"world\" for a fixed geometry.")
      .def_readonly("body_b_name", &C::body_b_name, "\"world\" for a fixed geometry.")
      .def_readonly("feature", &C::feature, "Persistent id within the pair.")
      .add_property("position", &position, "(3,) world [m].")
      .add_property("frame", &frame, "(3, 3) R_WC = [t1 t2 n], columns in the world.")
      .add_property("normal", &normal, "(3,) unit, from A to B, world.")
      .def_readonly("gap", &C::gap, "At the start of the step [m], negative: penetration.")
      .def_readonly("friction", &C::friction, "Coulomb coefficient of the pair.")
      .add_property("impulse", &impulse, "(3,) on B, contact frame [N s].")
      .add_property(
          "velocity",
          &velocity,
          "(3,) of B relative to A in the middle of the step that leaves v, contact frame [m/s].")
      .add_property(
          "velocity_change",
          &velocity_change,
          "(3,) by what velocity changes in half a step, as the bodies turn [m/s]: less it, "
          "velocity is J v with the J of the step's start.")
      .add_property("force_on_b_world", &force_on_b, "(3,) on B, world axes [N].")
      .add_property("force_on_a_world", &force_on_a, "(3,) on A, world axes [N].")
      .add_property("extension",
                    &extension,
                    "(3,) of the springs after the step, contact frame [m]; 0: none.")
      .def_readonly(
          "sliding",
          &C::sliding,
          "The impulse is on the cone and what it resists moves: the point, or its turning.")
      .def_readonly("torsional_friction", &C::torsional_friction, "Of the pair [m].")
      .def_readonly("rolling_friction", &C::rolling_friction, "Of the pair [m].")
      .add_property("moment_impulse",
                    &moment_impulse,
                    "(3,) couple on B of torsional and rolling friction, contact frame [N m s].")
      .add_property(
          "angular_velocity",
          &angular_velocity,
          "(3,) of B relative to A after the step about the axes that have such friction, "
          "else 0, contact frame [rad/s].")
      .add_property("moment_on_b_world",
                    &moment_on_b,
                    "(3,) that couple over the step, about the point, world axes [N m].")
      .def("__repr__", &contact_repr);
}

bp::object wrench_force(const BodyWrench& w) { return to_array(w.force); }
bp::object wrench_moment(const BodyWrench& w) { return to_array(w.moment); }
std::string wrench_repr(const BodyWrench& w) {
  return "BodyWrench(force=" + vector_text(w.force) + ", moment=" + vector_text(w.moment) + ")";
}
int wrench_length(const BodyWrench&) { return 2; }
/// force, moment = wrench.
bp::object wrench_part(const BodyWrench& w, int k) {
  if (k == 0 || k == -2) return to_array(w.force);
  if (k == 1 || k == -1) return to_array(w.moment);
  PyErr_SetString(PyExc_IndexError, "BodyWrench: has force and moment alone");
  throw bp::error_already_set();
}

bp::object wrench_parts(const BodyWrench& w) {
  return bp::make_tuple(to_array(w.force), to_array(w.moment)).attr("__iter__")();
}

template <Vec3d Balance::* Member>
bp::object balance_vector(const Balance& b) {
  return to_array(b.*Member);
}

std::string balance_repr(const Balance& b) {
  const Vec3d defect = b.linear_after - b.linear_before - b.linear_impulse;
  return "Balance(linear_impulse=" + vector_text(b.linear_impulse) +
         ", linear_defect=" + vector_text(defect) + ", energy_before=" + number(b.energy_before) +
         ", energy_after=" + number(b.energy_after) + ")";
}

void expose_balance() {
  bp::class_<BodyWrench>(
      "BodyWrench",
      "Wrench on a body; `force, moment = wrench` takes it apart. Axes and the point of the moment "
      "are those of the method that returns it.",
      bp::no_init)
      .add_property("force", &wrench_force, "(3,) [N].")
      .add_property("moment", &wrench_moment, "(3,) [N m].")
      .def("__len__", &wrench_length)
      .def("__getitem__", &wrench_part)
      .def("__iter__", &wrench_parts)
      .def("__repr__", &wrench_repr);
  bp::class_<Balance>(
      "Balance",
      "Momentum and energy of the scene over the last step, world frame, about the world "
      "origin.",
      bp::no_init)
      .add_property("linear_before", &balance_vector<&Balance::linear_before>, "(3,) [kg m/s].")
      .add_property("linear_after", &balance_vector<&Balance::linear_after>, "(3,) [kg m/s].")
      .add_property("angular_before", &balance_vector<&Balance::angular_before>, "(3,) [kg m^2/s].")
      .add_property("angular_after", &balance_vector<&Balance::angular_after>, "(3,) [kg m^2/s].")
      .add_property("linear_impulse",
                    &balance_vector<&Balance::linear_impulse>,
                    "(3,) of gravity, external forces and contacts with the world [N s].")
      .add_property("angular_impulse", &balance_vector<&Balance::angular_impulse>, "(3,) [N m s].")
      .def_readonly("energy_before", &Balance::energy_before, "Kinetic + potential [J].")
      .def_readonly("energy_after", &Balance::energy_after, "[J].")
      .def_readonly(
          "friction_work",
          &Balance::friction_work,
          "Sum over contacts of tangential impulses and couples times their velocity at the "
          "end of the step, <= 0 but for springs [J]. It is not what friction took in the "
          "step, which has the mean of the velocities at both ends.")
      .def_readonly("normal_work",
                    &Balance::normal_work,
                    "The same of normal impulses [J]: of an impact with restitution what it leaves "
                    "with at full speed, not the energy that it gained.")
      .def_readonly("base_is_free",
                    &Balance::base_is_free,
                    "True if neither a fixed base nor a closure to the world exists; otherwise "
                    "their reactions are missing from the impulses.")
      .def("__repr__", &balance_repr);
}

// --- rollout log ---

bp::object log_q(const RolloutLog& log) { return to_array(RowMatrix(log.q)); }
bp::object log_v(const RolloutLog& log) { return to_array(RowMatrix(log.v)); }

/// One number per step.
template <class Read>
bp::object column(const RolloutLog& log, Read&& read) {
  std::vector<double> x;
  for (const StepReport& r : log.reports) x.push_back(read(r));
  return to_array(x);
}

bp::object log_residual(const RolloutLog& l) {
  return column(l, [](const StepReport& r) { return r.residuals.relative; });
}
bp::object log_penetration(const RolloutLog& l) {
  return column(l, [](const StepReport& r) { return r.penetration; });
}
bp::object log_creep(const RolloutLog& l) {
  return column(l, [](const StepReport& r) { return r.creep; });
}
bp::object log_energy(const RolloutLog& l) { return column(l, &energy); }
bp::object log_iterations(const RolloutLog& l) {
  return column(l, [](const StepReport& r) { return r.iterations; }).attr("astype")("int64");
}
bp::object log_contacts(const RolloutLog& l) {
  return column(l, [](const StepReport& r) { return r.num_contacts; }).attr("astype")("int64");
}
bp::object log_converged(const RolloutLog& l) {
  return column(l, [](const StepReport& r) { return converged(r) ? 1.0 : 0.0; })
      .attr("astype")("bool");
}
bp::list log_reports(const RolloutLog& l) { return to_list(l.reports); }

std::size_t log_bytes(const RolloutLog& l) {
  return sizeof l + (l.q.size() + l.v.size()) * sizeof(double) +
         l.reports.capacity() * sizeof(StepReport);
}

void expose_rollout_log() {
  bp::class_<RolloutLog>("RolloutLog", "What a rollout recorded, T steps.", bp::no_init)
      .def_readonly("steps", &RolloutLog::steps)
      .add_property("q", &log_q, "(T + 1, nq)")
      .add_property("v", &log_v, "(T + 1, nv)")
      .add_property("residual", &log_residual, "(T,) relative residual.")
      .add_property("penetration", &log_penetration, "(T,) [m].")
      .add_property("creep", &log_creep, "(T,) [m/s].")
      .add_property(
          "energy", &log_energy, "(T,) kinetic + potential at the start of each step [J].")
      .add_property("iterations", &log_iterations, "(T,) int64.")
      .add_property("num_contacts", &log_contacts, "(T,) int64.")
      .add_property("converged", &log_converged, "(T,) bool.")
      .add_property("reports", &log_reports, "list of StepReport.")
      .add_property("bytes", &log_bytes, "Memory of it.");
}

std::string counters_repr(const CollisionCounters& c) {
  return "CollisionCounters(tested_pairs=" + std::to_string(c.tested_pairs) +
         ", overlapping_pairs=" + std::to_string(c.overlapping_pairs) +
         ", narrow_phase_calls=" + std::to_string(c.narrow_phase_calls) +
         ", contacts=" + std::to_string(c.contacts) + ")";
}

void expose_counters() {
  using C = CollisionCounters;
  bp::class_<C>("CollisionCounters",
                "Work of the collision part of a step, independent of the machine.",
                bp::no_init)
      .def_readonly("tested_pairs", &C::tested_pairs, "Boxes compared by the broad phase.")
      .def_readonly("overlapping_pairs",
                    &C::overlapping_pairs,
                    "Pairs whose boxes overlap and that may collide.")
      .def_readonly("narrow_phase_calls", &C::narrow_phase_calls, "Manifolds asked for.")
      .def_readonly("contacts", &C::contacts, "Contact points found.")
      .def("__repr__", &counters_repr);
}

}  // namespace

void expose_report() {
  expose_counters();
  expose_step_report();
  expose_contact_report();
  expose_balance();
  expose_rollout_log();
}

}  // namespace stiction::python
