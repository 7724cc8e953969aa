#include "contact/constraint_row.hpp"
#include "derivatives/parameter_changes.hpp"
#include "model/joint.hpp"

#include <cmath>

// Fields of the control and of single dofs. A servo's share of M^ (v+ - v) = dt (...) is
//   dt (kp (q* - q - dt v+) + kd (v* - v+) - d v+) - armature (v+ - v),
// kp = kd = 0 at the effort limit, which then is the torque; a spring's dt k (rest - q - dt v+).

namespace stiction {
namespace {

using Input = DerivativeInput;
using Linear = Linearisation;

/// [rad/s, m/s] A joint that is slower is at rest to rounding.
constexpr double kMoves = 1e-9;

int dofs(const Input& in) { return in.scene.nv(); }

double entry(const Eigen::VectorXd& x, int k) { return x.size() == 0 ? 0.0 : x[k]; }

/// value(dof) in the equation of each dof that is awake.
template <class Value>
void add_by_dof(const Input& in, const ChangeSink& out, Value&& value) {
  for (int k = 0; k < in.scene.nv(); ++k) {
    if (!in.record.dynamics.asleep[in.scene.tree_of_dof(k)]) out.force(k, k, value(k));
  }
}

/// Gains of dofs that take no servo are zero, see Scene::validate().
bool serves(const Input& in, int k) {
  return !in.record.dynamics.saturated[k] && in.scene.takes_servo(k);
}

void add_position_target(const Input& in, const Linear&, const ChangeSink& out) {
  add_by_dof(in, out, [&](int k) { return serves(in, k) ? in.dt * in.parameters.kp[k] : 0.0; });
}
void add_velocity_target(const Input& in, const Linear&, const ChangeSink& out) {
  add_by_dof(in, out, [&](int k) { return serves(in, k) ? in.dt * in.parameters.kd[k] : 0.0; });
}

/// From where the joint of a dof was at the start to `target`.
double error_at_start(const Input& in, int k, double target) {
  const Tree& tree = in.scene.trees()[in.scene.tree_of_dof(k)];
  const int b = tree.joint_of_dof[k - tree.v_offset];
  const double* q = in.before.q.data() + tree.q_offset + tree.q_index[b];
  return joint_position_error(tree.joint[b], q, target);
}

/// kp and kd may be zero: then the servo is off, and the derivative that of switching it on.
void add_kp(const Input& in, const Linear& linear, const ChangeSink& out) {
  add_by_dof(in, out, [&](int k) {
    if (!serves(in, k)) return 0.0;
    const double error = error_at_start(in, k, entry(in.control.position_target, k));
    return in.dt * (error - in.dt * linear.end_velocity[k]);
  });
}
void add_kd(const Input& in, const Linear& linear, const ChangeSink& out) {
  add_by_dof(in, out, [&](int k) {
    if (!serves(in, k)) return 0.0;
    return in.dt * (entry(in.control.velocity_target, k) - linear.end_velocity[k]);
  });
}
void add_damping(const Input& in, const Linear& linear, const ChangeSink& out) {
  add_by_dof(in, out, [&](int k) { return -in.dt * linear.end_velocity[k]; });
}
void add_armature(const Input& in, const Linear&, const ChangeSink& out) {
  add_by_dof(in, out, [&](int k) { return -in.record.dv[k]; });
}

void add_spring_stiffness(const Input& in, const Linear& linear, const ChangeSink& out) {
  add_by_dof(in, out, [&](int k) {
    if (!in.scene.takes_servo(k)) return 0.0;
    const double error = error_at_start(in, k, in.parameters.spring_rest[k]);
    return in.dt * (error - in.dt * linear.end_velocity[k]);
  });
}
void add_spring_rest(const Input& in, const Linear&, const ChangeSink& out) {
  add_by_dof(in, out, [&](int k) { return in.dt * in.parameters.spring_stiffness[k]; });
}

void add_effort_limit(const Input& in, const Linear&, const ChangeSink& out) {
  add_by_dof(in, out, [&](int k) { return in.dt * in.record.dynamics.saturated[k]; });
}

/// visit(row of the problem, its description) of one source.
template <class Visit>
void each_row(const Input& in, RowSource source, Visit&& visit) {
  for (int i = 0; i < in.record.problem.num_sets(); ++i) {
    const ConstraintRow& row = in.record.rows.rows[i];
    if (row.source == source) visit(i, in.record.problem.sets[i].offset, row);
  }
}

/// A bound of its impulse, where it is at one; on the central path both bounds count. A joint
/// without dry friction has no row: the derivative is that of the first of it, where it moves.
void add_dry_friction(const Input& in, const Linear& linear, const ChangeSink& out) {
  add_by_dof(in, out, [&](int k) {
    const double v = linear.end_velocity[k];
    const bool none = in.parameters.dry_friction[k] == 0.0 && !linear.active.on_path;
    const bool moves = std::abs(v) > kMoves && !joint_facts(in.scene.joint_of_dof(k)).free;
    return none && moves ? -std::copysign(in.dt, v) : 0.0;
  });
  each_row(in, RowSource::kDryFriction, [&](int set, int at, const ConstraintRow& row) {
    const ContactSolution& s = in.record.solution;
    if (linear.active.on_path && row.set.lower < row.set.upper) {
      const BoundRates rates =
          bound_rates(row.set, s.velocity[at], s.path_velocity[at], s.path_energy);
      out.impulse(row.index, at, in.dt * (rates.upper - rates.lower) / (rates.upper + rates.lower));
    }
    if (linear.active.modes[set] != ContactMode::kOpen) return;
    out.impulse(row.index, at, std::copysign(in.dt, in.record.solution.impulse[at]));
  });
}

/// The gap is sign (q - limit): it moves as with q, the other way.
void add_limit(const Input& in, const Linear& linear, RowSource source, const ChangeSink& out) {
  each_row(in, source, [&](int set, int at, const ConstraintRow& row) {
    const RowColumn& by_q = linear.moving.columns[linear.moving.rows[set].start[0]];
    out.velocity(row.index, at, -by_q.velocity[0]);
  });
  each_row(in, RowSource::kLimitRecovery, [&](int set, int at, const ConstraintRow& row) {
    const RowColumn& by_q = linear.moving.columns[linear.moving.rows[set].start[0]];
    const bool at_lower = by_q.velocity[0] > 0.0;
    if (at_lower == (source == RowSource::kLowerLimit))
      out.velocity(row.index, at, -by_q.velocity[0]);
  });
}
void add_lower(const Input& in, const Linear& linear, const ChangeSink& out) {
  add_limit(in, linear, RowSource::kLowerLimit, out);
}
void add_upper(const Input& in, const Linear& linear, const ChangeSink& out) {
  add_limit(in, linear, RowSource::kUpperLimit, out);
}

int gears(const Input& in) { return static_cast<int>(in.scene.gears().size()); }

double gear_gain(const Linear& linear, int set) {
  return linear.moving.columns[linear.moving.rows[set].start[0]].velocity[0];
}
void add_gear_offset(const Input& in, const Linear& linear, const ChangeSink& out) {
  each_row(in, RowSource::kGear, [&](int set, int at, const ConstraintRow& row) {
    out.velocity(row.index, at, -gear_gain(linear, set));
  });
}
/// c = v - ratio v_driver - c*, and -ratio lambda on the driver.
void add_gear_ratio(const Input& in, const Linear& linear, const ChangeSink& out) {
  each_row(in, RowSource::kGear, [&](int set, int at, const ConstraintRow& row) {
    const int driver = in.scene.gears()[row.index].driver;
    const Tree& tree = in.scene.trees()[in.scene.tree_of_dof(driver)];
    const int b = tree.joint_of_dof[driver - tree.v_offset];
    const double x =
        joint_position(tree.joint[b], in.before.q.data() + tree.q_offset + tree.q_index[b]);
    out.velocity(row.index, at, -linear.end_velocity[driver] - gear_gain(linear, set) * x);
    out.force(row.index, driver, -in.record.solution.impulse[at]);
  });
}

}  // namespace

const std::vector<ParameterField>& dof_fields() {
  static const std::vector<ParameterField> fields = {
      {"position_target", dofs, add_position_target},
      {"velocity_target", dofs, add_velocity_target},
      {"kp", dofs, add_kp},
      {"kd", dofs, add_kd},
      {"damping", dofs, add_damping},
      {"armature", dofs, add_armature},
      {"effort_limit", dofs, add_effort_limit},
      {"spring_stiffness", dofs, add_spring_stiffness},
      {"spring_rest", dofs, add_spring_rest},
      {"dry_friction", dofs, add_dry_friction},
      {"lower", dofs, add_lower},
      {"upper", dofs, add_upper},
      {"gear_ratio", gears, add_gear_ratio},
      {"gear_offset", gears, add_gear_offset},
  };
  return fields;
}

}  // namespace stiction
