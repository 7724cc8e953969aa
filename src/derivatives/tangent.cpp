#include "derivatives/differentiator.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>

// J x: one column for the state, the torques and all parameters together.

namespace stiction {

/// The entries of the parameters' columns, and the changes of these, one after the other.
void Differentiator::find_direction(const DerivativeInput& in,
                                    const std::vector<ParameterDirection>& parameters) {
  if (parameters.empty()) {  // names that are kept need no memory anew
    parameters_.changes.clear();
    out_.report.num_parameter_kinks = 0;
    return;
  }
  parameters_.fields.resize(parameters.size());
  for (std::size_t k = 0; k < parameters.size(); ++k) parameters_.fields[k] = parameters[k].name;
  find_parameter_changes(in, linear_, springs_, parameters_);
  out_.report.num_parameter_kinks = parameters_.num_kinks;
  scratch_.change.resize(parameters_.count);
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    const ParameterRange& range = parameters_.ranges[k];
    const Eigen::VectorXd& change = parameters[k].change;
    if (change.size() != range.count)
      throw std::invalid_argument("parameters[\"" + range.name + "\"] has " +
                                  std::to_string(change.size()) + " entries: must have " +
                                  std::to_string(range.count));
    scratch_.change.segment(range.first, range.count) = change;
  }
}

/// What parameters change of right-hand sides, row velocities and impulses.
void Differentiator::add_parameter_sides() {
  for (const ParameterChange& c : parameters_.changes) {
    const double x = c.value * scratch_.change[c.column];
    if (c.kind == ParameterChange::kForce) force_[c.index] += x;
    if (c.kind == ParameterChange::kVelocity) velocity_[c.index] += x;
    if (c.kind == ParameterChange::kImpulse) impulse_[c.index] += x;
  }
}

/// What they change of the end of the step itself.
void Differentiator::add_parameter_ends(Eigen::Index nv) {
  for (const ParameterChange& c : parameters_.changes) {
    const double x = c.value * scratch_.change[c.column];
    if (c.kind == ParameterChange::kPosition) tangent_[c.index] += x;
    if (c.kind == ParameterChange::kEndVelocity) tangent_[nv + c.index] += x;
    if (c.kind == ParameterChange::kExtension && tangent_.size() > 2 * nv)
      tangent_[2 * nv + c.index] += x;
  }
}

/// One island: its share of the tangent and, added to those that parameters change, of impulses.
void Differentiator::push_island(const DerivativeInput& in,
                                 const Eigen::VectorXd& x,
                                 std::size_t k) {
  const DerivativeIsland& island = linear_.islands[k];
  const int* dofs = linear_.dofs.data() + linear_.first_dof[k];
  const int nv = in.scene.nv();
  if (island.asleep) {
    for (int i = 0; i < island.num_dofs; ++i) {
      tangent_[dofs[i]] = x[dofs[i]];
      tangent_[nv + dofs[i]] = x[nv + dofs[i]];
    }
    return;
  }
  double* impulse = impulse_.data() + island.first_row;
  const double* velocity = velocity_.data() + island.first_row;
  const bool pushed =
      std::any_of(impulse, impulse + island.num_rows, [](double l) { return l != 0.0; });
  columns_.resize(island, 1, pushed);
  fill_state_direction(in, linear_, island, x.data(), columns_);
  const auto at = [&](int row) { return static_cast<std::size_t>(row) * columns_.stride; };
  for (int i = 0; i < island.num_dofs; ++i) columns_.force[at(i)] += force_[dofs[i]];
  for (int r = 0; r < island.num_rows; ++r) columns_.velocity[at(r)] += velocity[r];
  for (int r = 0; r < island.num_rows && pushed; ++r) columns_.impulse[at(r)] = impulse[r];
  propagate(in, linear_, island, -1, columns_);
  if (tangent_.size() > 2 * nv) add_impulse_tangent(linear_, island, columns_, impulse_.data());
  for (int i = 0; i < island.num_dofs; ++i) {
    tangent_[dofs[i]] = columns_.position[at(i)];
    tangent_[nv + dofs[i]] = columns_.force[at(i)];
  }
}

const Eigen::VectorXd& Differentiator::tangent(const DerivativeInput& in,
                                               const Eigen::VectorXd& x,
                                               const std::vector<ParameterDirection>& parameters) {
  prepare(in);
  find_direction(in, parameters);
  const int nv = in.scene.nv(), rows = in.record.problem.num_rows();
  const Eigen::Index ns = x.size() - 3 * nv;
  tangent_.setZero(2 * nv + ns);
  force_.assign(nv, 0.0);
  velocity_.assign(rows, 0.0);
  impulse_.assign(rows, 0.0);
  if (ns > 0) spring_velocities(in, springs_, x.data() + 3 * nv, velocity_);
  add_parameter_sides();
  for (std::size_t k = 0; k < linear_.islands.size(); ++k) push_island(in, x, k);
  if (ns > 0)
    extension_tangent(in,
                      linear_,
                      springs_,
                      x.data(),
                      x.data() + 3 * nv,
                      impulse_.data(),
                      tangent_.data() + 2 * nv);
  add_parameter_ends(nv);
  return tangent_;
}

}  // namespace stiction
