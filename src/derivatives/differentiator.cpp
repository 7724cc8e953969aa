#include "derivatives/differentiator.hpp"

#include "derivatives/tree_derivatives.hpp"
#include "dynamics/column_solves.hpp"
#include "solver/ncp_newton/ncp_newton.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>

namespace stiction {
namespace {

/// On its way to the limit of vanishing compliance ncp-newton takes no more sweeps than this; what
/// takes more is solved by sweeps.
constexpr int kSweepsToLimit = 40;

using Block = StepDerivatives::Island;

void refuse_large(const std::vector<DerivativeIsland>& islands) {
  for (const DerivativeIsland& island : islands) {
    if (island.num_dofs > kMaxMatrixDofs)
      throw std::invalid_argument("step_derivatives: bodies in touch have " +
                                  std::to_string(island.num_dofs) +
                                  " dofs together, matrices are for up to " +
                                  std::to_string(kMaxMatrixDofs) + ": take vjp() or jvp()");
  }
}

Eigen::MatrixXd assemble(const StepDerivatives& d, int first, int count) {
  const int nv = d.nv();
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(2 * nv, count * nv);
  for (const Block& island : d.islands) {
    const int n = static_cast<int>(island.dofs.size());
    for (int i = 0; i < 2 * n; ++i) {
      for (int j = 0; j < count * n; ++j)
        out(i / n * nv + island.dofs[i % n], j / n * nv + island.dofs[j % n]) =
            island.values(i, first * n + j);
    }
  }
  return out;
}

/// Of kLimitRecovery: what brings it back at its bound, or on the central path near it.
int bounded_recoveries(const DerivativeInput& in, const Linearisation& linear) {
  int count = 0;
  for (int i = 0; i < in.record.problem.num_sets(); ++i) {
    const ConstraintSet& set = in.record.problem.sets[i];
    if (in.record.rows.rows[i].source != RowSource::kLimitRecovery) continue;
    const bool bounded = linear.active.modes[i] == ContactMode::kOpen &&
                         in.record.solution.impulse[set.offset] > 0.5 * set.upper;
    count += linear.active.on_path || bounded;
  }
  return count;
}

/// Nothing moves.
void sleeping(int n, RowMajorMatrix& values) {
  values.setZero(2 * n, 3 * n);
  values.leftCols(2 * n).setIdentity();
}

}  // namespace

int StepDerivatives::nv() const {
  int nv = 0;
  for (const Island& island : islands) nv += static_cast<int>(island.dofs.size());
  return nv;
}
Eigen::MatrixXd StepDerivatives::A() const { return assemble(*this, 0, 2); }
Eigen::MatrixXd StepDerivatives::B() const { return assemble(*this, 2, 1); }
Eigen::MatrixXd StepDerivatives::dx_dx() const {
  const Eigen::Index n = 2 * nv(), ns = springs_by.rows();
  Eigen::MatrixXd out(n + ns, n + ns);
  out.topLeftCorner(n, n) = A();
  if (ns > 0) {
    out.bottomLeftCorner(ns, n) = springs_by.leftCols(n);
    out.rightCols(ns) = by_springs;
  }
  return out;
}
Eigen::MatrixXd StepDerivatives::dx_dtorque() const {
  const Eigen::Index n = 2 * nv(), ns = springs_by.rows();
  Eigen::MatrixXd out(n + ns, n / 2);
  out.topRows(n) = B();
  if (ns > 0) out.bottomRows(ns) = springs_by.rightCols(n / 2);
  return out;
}

constexpr int kNotLooked = -1;  // for contradictions

void Differentiator::prepare(const DerivativeInput& in) {
  if (linearised_) return;
  linearise(in, linear_);
  find_springs(in, springs_);
  fill_report(in);
  linearised_ = true;
}

const GradientReport& Differentiator::report(const DerivativeInput& in) {
  prepare(in);
  look_for_contradictions(in);
  return out_.report;
}

/// The price is that of a tangent: products do not ask.
void Differentiator::look_for_contradictions(const DerivativeInput& in) {
  int& count = out_.report.num_contradicting;
  if (count == kNotLooked) count = count_contradictions(in, linear_, scratch_.direction, columns_);
}

/// A counting sort.
void Differentiator::sort_changes(const DerivativeInput& in) {
  const int n = static_cast<int>(linear_.islands.size());
  island_of_row_.assign(in.record.problem.num_rows(), 0);
  for (int k = 0; k < n; ++k) {
    const DerivativeIsland& island = linear_.islands[k];
    std::fill_n(island_of_row_.begin() + island.first_row, island.num_rows, k);
  }
  const auto island_of = [&](const ParameterChange& c) {
    if (c.kind == ParameterChange::kExtension) return 0;  // of no column of an island
    if (c.kind == ParameterChange::kVelocity || c.kind == ParameterChange::kImpulse)
      return island_of_row_[c.index];
    return linear_.island_of_tree[in.scene.tree_of_dof(c.index)];
  };
  start_.assign(n + 2, 0);
  for (const ParameterChange& c : parameters_.changes) ++start_[island_of(c) + 2];
  for (int k = 0; k < n; ++k) start_[k + 2] += start_[k + 1];
  order_.resize(parameters_.changes.size());
  for (std::size_t i = 0; i < order_.size(); ++i)
    order_[start_[island_of(parameters_.changes[i]) + 1]++] = static_cast<int>(i);
}

/// dx+/dp of one island.
void Differentiator::fill_parameters(const DerivativeInput& in, int k) {
  const DerivativeIsland& island = linear_.islands[k];
  const int nv = in.scene.nv();
  const bool pushed =
      std::any_of(order_.begin() + start_[k], order_.begin() + start_[k + 1], [&](int i) {
        return parameters_.changes[i].kind == ParameterChange::kImpulse;
      });
  columns_.resize(island, parameters_.count, pushed);
  const auto add = [&](std::vector<double>& rows, int row, const ParameterChange& c) {
    rows[static_cast<std::size_t>(row) * columns_.stride + c.column] += c.value;
  };
  for (int i = start_[k]; i < start_[k + 1]; ++i) {
    const ParameterChange& c = parameters_.changes[order_[i]];
    if (c.kind == ParameterChange::kForce) add(columns_.force, linear_.local[c.index], c);
    if (c.kind == ParameterChange::kVelocity) add(columns_.velocity, c.index - island.first_row, c);
    if (c.kind == ParameterChange::kImpulse) add(columns_.impulse, c.index - island.first_row, c);
  }
  propagate(in, linear_, island, -1, columns_);
  const int* dofs = linear_.dofs.data() + linear_.first_dof[k];
  for (int i = 0; i < island.num_dofs; ++i) {
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(i) * columns_.stride;
    std::copy_n(columns_.position.data() + at, parameters_.count, out_.P.row(dofs[i]).data());
    std::copy_n(columns_.force.data() + at, parameters_.count, out_.P.row(nv + dofs[i]).data());
  }
  for (int i = start_[k]; i < start_[k + 1]; ++i) {
    const ParameterChange& c = parameters_.changes[order_[i]];
    if (c.kind == ParameterChange::kPosition) out_.P(c.index, c.column) += c.value;
    if (c.kind == ParameterChange::kEndVelocity) out_.P(nv + c.index, c.column) += c.value;
  }
}

const StepDerivatives& Differentiator::derivatives(const DerivativeInput& in,
                                                   const std::vector<std::string>& parameters) {
  prepare(in);
  refuse_large(linear_.islands);
  look_for_contradictions(in);
  find_tree_matrices(in, linear_);
  parameters_.fields = parameters;
  find_parameter_changes(in, linear_, springs_, parameters_);
  out_.report.num_parameter_kinks = parameters_.num_kinks;
  sort_changes(in);
  out_.parameters = parameters_.ranges;
  out_.P.setZero(2 * in.scene.nv() + 3 * springs_.names.size(), parameters_.count);
  fill_springs(in);
  out_.islands.resize(linear_.islands.size());
  for (std::size_t k = 0; k < linear_.islands.size(); ++k) {
    const DerivativeIsland& island = linear_.islands[k];
    Block& block = out_.islands[k];
    const int n = island.num_dofs;
    const int* dofs = linear_.dofs.data() + linear_.first_dof[k];
    block.dofs.assign(dofs, dofs + n);
    if (island.asleep) {
      sleeping(n, block.values);
      continue;
    }
    columns_.resize(island, 3 * n, false);
    fill_state_columns(in, linear_, island, columns_);
    propagate(in, linear_, island, n, columns_);
    block.values.resize(2 * n, 3 * n);
    for (int i = 0; i < n; ++i) {
      const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(i) * columns_.stride;
      std::copy_n(columns_.position.data() + at, 3 * n, block.values.row(i).data());
      std::copy_n(columns_.force.data() + at, 3 * n, block.values.row(n + i).data());
    }
    if (parameters_.count > 0) fill_parameters(in, static_cast<int>(k));
  }
  return out_;
}

/// Springs' rows and columns: row by row, as gradients.
void Differentiator::fill_springs(const DerivativeInput& in) {
  const Eigen::Index nv = in.scene.nv(), ns = 3 * static_cast<Eigen::Index>(springs_.names.size());
  out_.springs_by.resize(ns, ns > 0 ? 3 * nv : 0);
  out_.by_springs.resize(ns > 0 ? 2 * nv + ns : 0, ns);
  scratch_.unit.setZero(out_.by_springs.rows());
  for (Eigen::Index i = 0; i < scratch_.unit.size(); ++i) {
    scratch_.unit[i] = 1.0;
    take_back(in, scratch_.unit);
    out_.by_springs.row(i) = gradient_.springs;
    if (i >= 2 * nv) {
      auto row = out_.springs_by.row(i - 2 * nv);
      row.head(nv) = gradient_.q;
      row.segment(nv, nv) = gradient_.v;
      row.tail(nv) = gradient_.torque;
      gradient_.parameters.setZero(parameters_.count);
      add_parameter_gradient(scratch_.unit);
      out_.P.row(i) = gradient_.parameters;
    }
    scratch_.unit[i] = 0.0;
  }
}

/// After the cotangents of all islands.
void Differentiator::add_parameter_gradient(const Eigen::VectorXd& w) {
  const Eigen::Index nv = gradient_.q.size();
  const bool extended = w.size() > 2 * nv;
  for (const ParameterChange& c : parameters_.changes) {
    const double by[] = {
        force_[c.kind == ParameterChange::kForce ? c.index : 0],
        c.kind == ParameterChange::kVelocity ? -velocity_[c.index] : 0.0,
        c.kind == ParameterChange::kImpulse ? impulse_[c.index] : 0.0,
        w[c.kind == ParameterChange::kPosition ? c.index : 0],
        w[c.kind == ParameterChange::kEndVelocity ? nv + c.index : 0],
        extended && c.kind == ParameterChange::kExtension ? w[2 * nv + c.index] : 0.0};
    gradient_.parameters[c.column] += by[c.kind] * c.value;
  }
}

/// One island: its share of the gradient, and of the cotangents.
void Differentiator::take_back_island(const DerivativeInput& in,
                                      const Eigen::VectorXd& w,
                                      std::size_t k) {
  const DerivativeIsland& island = linear_.islands[k];
  const int n = island.num_dofs, nv = in.scene.nv();
  const int* dofs = linear_.dofs.data() + linear_.first_dof[k];
  adjoint_.position.resize(n);
  adjoint_.velocity_end.resize(n);
  for (int i = 0; i < n; ++i) {
    adjoint_.position[i] = w[dofs[i]];
    adjoint_.velocity_end[i] = w[nv + dofs[i]];
  }
  adjoint_.on_impulse.clear();
  if (!cotangents_.on_impulse.empty() && island.num_rows > 0)
    adjoint_.on_impulse.assign(cotangents_.on_impulse.begin() + island.first_row,
                               cotangents_.on_impulse.begin() + island.first_row + island.num_rows);
  q_.assign(n, 0.0);
  v_.assign(n, 0.0);
  torque_.assign(n, 0.0);
  if (island.asleep) {
    q_ = adjoint_.position;
    v_ = adjoint_.velocity_end;
  } else {
    pull_back(in, linear_, island, adjoint_);
    state_gradient(in, linear_, island, adjoint_, q_.data(), v_.data(), torque_.data());
    std::copy_n(adjoint_.velocity.data(), island.num_rows, velocity_.data() + island.first_row);
    std::copy_n(adjoint_.impulse.data(), island.num_rows, impulse_.data() + island.first_row);
    for (int i = 0; i < n; ++i) force_[dofs[i]] = adjoint_.force[i];
  }
  for (int i = 0; i < n; ++i) {
    gradient_.q[dofs[i]] = q_[i];
    gradient_.v[dofs[i]] = v_[i];
    gradient_.torque[dofs[i]] = torque_[i];
  }
}

/// By the state, torques and springs.
void Differentiator::take_back(const DerivativeInput& in, const Eigen::VectorXd& w) {
  const int nv = in.scene.nv(), ns = 3 * static_cast<int>(springs_.names.size());
  force_.assign(nv, 0.0);
  velocity_.assign(in.record.problem.num_rows(), 0.0);
  impulse_.assign(in.record.problem.num_rows(), 0.0);
  for (Eigen::VectorXd* x : {&gradient_.q, &gradient_.v, &gradient_.torque}) x->setZero(nv);
  gradient_.springs.setZero(ns);
  cotangents_.by_springs.assign(ns, 0.0);
  if (w.size() > 2 * nv) std::copy_n(w.data() + 2 * nv, ns, cotangents_.by_springs.data());
  cotangents_.on_impulse.clear();
  if (w.size() > 2 * nv)
    spring_impulses(in, springs_, cotangents_.by_springs.data(), cotangents_.on_impulse);
  for (std::size_t k = 0; k < linear_.islands.size(); ++k) take_back_island(in, w, k);
  if (ns > 0)
    add_spring_gradients(in,
                         linear_,
                         springs_,
                         cotangents_.by_springs.data(),
                         velocity_,
                         gradient_.q.data(),
                         gradient_.springs.data());
}

const StepGradient& Differentiator::gradient(const DerivativeInput& in,
                                             const Eigen::VectorXd& w,
                                             const std::vector<std::string>& parameters) {
  prepare(in);
  parameters_.fields = parameters;
  find_parameter_changes(in, linear_, springs_, parameters_);
  out_.report.num_parameter_kinks = parameters_.num_kinks;
  gradient_.ranges = parameters_.ranges;
  gradient_.parameters.setZero(parameters_.count);
  take_back(in, w);
  add_parameter_gradient(w);
  return gradient_;
}

void Differentiator::fill_report(const DerivativeInput& in) {
  GradientReport& r = out_.report;
  r.springs = springs_.names;
  r.modes = linear_.active.modes;
  r.margin = linear_.active.margin;
  r.unknowns = r.rank = r.not_unique = r.num_not_followed = r.num_asleep = r.num_saturated =
      r.num_slowed = 0;
  r.num_contradicting = kNotLooked;
  r.smallest_pivot = 1.0;
  for (const DerivativeIsland& island : linear_.islands) {
    r.num_asleep += island.asleep;
    if (island.reduced < 0) continue;
    const ReducedSystem& reduced = linear_.reduced[island.reduced];
    r.unknowns += reduced.size();
    r.rank += reduced.rank();
    const int moving = moving_nullity(linear_, island);
    r.not_unique += moving;
    const int most = most_limit_rows({in.record.problem, island.first_set, island.last_set});
    r.num_not_followed +=
        moving > 0 && (island.num_rows > most || in.record.solution.iterations > kSweepsToLimit);
    r.smallest_pivot = std::min(r.smallest_pivot, reduced.smallest_pivot());
  }
  r.num_safe_islands = in.safe_islands;
  r.num_not_converged = in.record.solution.status > SolveStatus::kRoundingLimited;
  for (std::size_t t = 0; t < in.scene.trees().size(); ++t)
    r.num_slowed += in.record.dynamics.fast[t] != 0 ||
                    turns_fast(in.record.dynamics, static_cast<int>(t), in.dt);
  for (std::size_t i = 0; i < r.margin.size(); ++i)
    r.margin[i] = std::min(r.margin[i], linear_.moving.to_bounce[i]);
  r.num_at_switch = linear_.active.num_at_switch + linear_.moving.num_at_threshold;
  r.num_undecided = linear_.active.num_undecided;
  r.num_bounded_recoveries = bounded_recoveries(in, linear_);
  r.num_parameter_kinks = 0;
  r.num_gap_kinks = linear_.moving.num_gap_kinks;
  r.smallest_gap = linear_.moving.smallest_gap;
  r.num_capped = linear_.moving.num_capped;
  r.num_scaled_impacts = linear_.moving.num_scaled_impacts;
  r.num_swept = linear_.moving.num_swept;
  r.num_inexact = linear_.moving.num_inexact;
  for (const std::int8_t saturated : in.record.dynamics.saturated)
    r.num_saturated += saturated != 0;
}

}  // namespace stiction
