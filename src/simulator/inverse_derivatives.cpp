#include "contact/constraint_row.hpp"
#include "derivatives/columns.hpp"
#include "derivatives/kicks.hpp"
#include "derivatives/mean_velocity.hpp"
#include "derivatives/tree_derivatives.hpp"
#include "dynamics/integrate_derivatives.hpp"
#include "simulator/impulses_tangent.hpp"
#include "simulator/inverse_maps.hpp"
#include "simulator/inverse_step.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>

// The step backwards, differentiated: dt tau = M^ (v+ - v_free) - J^T lambda, of which the change
// at fixed impulses is that of the step's own derivative,
//   dt dtau = M^ (u - dv) - rhs - J^T dlambda,   dc = J u + H,
// u the change of v+ in the axes of the start, rhs and H of derivatives/README.md. What dlambda is
// follows from dc and what is missing, see impulses_tangent.hpp.

namespace stiction {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Changes of v+ in the axes of the start by q, v and the velocities in the axes of the end that
/// the step leaves [nv x 3 nv]: root_tangents() and kick_tangents() backwards.
MatrixXd back_to_start(const DerivativeInput& in, const Linearisation& linear) {
  const int nv = in.scene.nv();
  MatrixXd all = MatrixXd::Zero(nv, 3 * nv);
  auto out = all.rightCols(nv);
  out.setIdentity();
  for (std::size_t t = 0; t < in.scene.trees().size(); ++t) {
    const Tree& tree = in.scene.trees()[t];
    if (!tree.free_root) continue;
    const Vec3d c = root_point(in.record.dynamics.views[t],
                               tree_parameters(tree, static_cast<int>(t), in.parameters));
    const RootTurn<double> root(linear.end_velocity.data() + tree.v_offset, c, in.dt);
    const auto set = [&](int column, const Vec3d& com, const Vec3d& dw) {  // com: its velocity's
      const Vec3d u =
          transpose_times(root.turn.E, com - cross(root.Eu, root.turn.P * dw)) - cross(dw, c);
      for (int r = 0; r < 3; ++r) {
        all(tree.v_offset + r, column) = u[r];
        all(tree.v_offset + 3 + r, column) = dw[r];
      }
    };
    const Mat3d one = Mat3d::identity();
    const int t_ = static_cast<int>(t), end = 2 * nv + tree.v_offset, turn = tree.v_offset + 3;
    const Vec3d zero{0, 0, 0};
    for (int k = 0; k < 3; ++k) set(end + k, one.column(k), zero);
    if (!is_kicked(in, t_)) {
      for (int k = 0; k < 3; ++k) set(end + 3 + k, cross(one.column(k), c), one.column(k));
      continue;
    }
    const KickTurn<double> kick = kick_of(in, linear, t_);
    const auto before = [&](const Vec3d& dw) { return solve(kick.by_moved, dw); };
    for (int k = 0; k < 3; ++k) {
      const Vec3d by_q = kick.by_momentum * momentum_by_turn(in, linear, t_, k),
                  by_v = kick.by_momentum * kick.turn.momentum(k);
      set(turn + k, zero, -before(by_q));
      set(nv + turn + k, zero, -before(by_v));
      set(end + 3 + k, cross(one.column(k), c), before(one.column(k)));
    }
  }
  return all;
}

/// A step that ended as was asked, linearised.
class InverseTangents {
 public:
  InverseTangents(DerivativeInput input, StepRecord& record)
      : in_(input), record_(record), nv_(input.scene.nv()), rows_(record.problem.num_rows()) {
    linearise(in_, linear_);
    find_tree_matrices(in_, linear_);
    fill_sides();
    std::vector<int> all(nv_);
    std::iota(all.begin(), all.end(), 0);
    forces_ = forces_on(in_.scene, record_, all);
    const MatrixXd back = back_to_start(in_, linear_), u = back.rightCols(nv_);
    change_.setZero(nv_, 3 * nv_);
    change_.leftCols(2 * nv_) = -rhs_;
    for (int k = 0; k < nv_; ++k) {
      change_.col(nv_ + k) -= mass_times(VectorXd::Unit(nv_, k));
      change_.col(2 * nv_ + k) = mass_times(u.col(k));
    }
    for (int k = 0; k < 2 * nv_; ++k) change_.col(k) += mass_times(back.col(k));
    add_mean_velocities(u);
    dc_.setZero(rows_, 3 * nv_);
    dc_.leftCols(2 * nv_) = H_ + forces_.transpose() * back.leftCols(2 * nv_);
    dc_.rightCols(nv_) = forces_.transpose() * u;
  }

  const MatrixXd& forces() const { return forces_; }  ///< J^T [nv x rows]
  /// By (q, v, v_next): of M^ (v+ - v_free) - J^T lambda at fixed impulses, and of c.
  const MatrixXd& change() const { return change_; }
  const MatrixXd& dc() const { return dc_; }
  /// [N s] The largest change of momentum of a dof in the step.
  double momentum() const {
    const Eigen::Map<const VectorXd> dv(record_.dv.data(), nv_);
    return mass_times(dv).cwiseAbs().maxCoeff();
  }
  int num_inexact() const { return linear_.moving.num_inexact; }

  /// d(J y) [rows x 3 nv] of a motion y [nv] that is held.
  MatrixXd turned(const VectorXd& y) {
    const std::vector<double> dv = record_.dv;
    MatrixXd out = MatrixXd::Zero(rows_, 3 * nv_);
    for (const bool moves : {true, false}) {
      for (int k = 0; k < nv_; ++k) record_.dv[k] = moves * y[k] - in_.before.v[k];
      MovingRows moving;
      find_moving_rows(in_, linear_.active, moving);
      for (int i = 0; i < record_.problem.num_sets(); ++i) {
        const ConstraintSet& set = record_.problem.sets[i];
        const MovingRow& row = moving.rows[i];
        for (int k = row.start[0]; k < row.start[row.num_sides]; ++k) {
          const RowColumn& by = moving.columns[k];
          for (int r = 0; r < set.dim; ++r)
            out(set.offset + r, by.dof) += (moves ? 1.0 : -1.0) * by.velocity[r];
        }
      }
    }
    record_.dv = dv;
    return out;
  }

  /// d(M^^-1) x = -M^^-1 dM^ M^^-1 x [nv x 3 nv] of an x [nv] that is held.
  MatrixXd inverse_mass_change(VectorXd x) {
    solve_mass(in_.scene, record_.dynamics, x.data());
    const TreeMatrices before = linear_.inverse_dynamics;
    for (int k = 0; k < nv_; ++k) linear_.work.acceleration[k] += x[k];
    linear_.inverse_dynamics.known = false;
    find_tree_matrices(in_, linear_);
    MatrixXd out = MatrixXd::Zero(nv_, 3 * nv_);
    for (std::size_t t = 0; t < in_.scene.trees().size(); ++t) {
      const Tree& tree = in_.scene.trees()[t];
      if (is_loose_body(record_.dynamics.views[t])) continue;  // its M^ never changes
      for (int i = 0; i < tree.nv * tree.nv; ++i) {
        const int at = before.start[t] + i;
        out(tree.v_offset + i / tree.nv, tree.v_offset + i % tree.nv) =
            before.dq[at] - linear_.inverse_dynamics.dq[at];
      }
    }
    for (int k = 0; k < nv_; ++k) linear_.work.acceleration[k] -= x[k];
    linear_.inverse_dynamics = before;
    for (int k = 0; k < nv_; ++k) solve_mass(in_.scene, record_.dynamics, out.col(k).data());
    return out;
  }

 private:
  VectorXd mass_times(const VectorXd& x) const {
    return stiction::mass_times(in_.scene, record_.dynamics, x);
  }

  /// The end's share in the velocities of biases: dt/2 B u.
  void add_mean_velocities(const MatrixXd& u) {
    for (std::size_t t = 0; t < in_.scene.trees().size(); ++t) {
      const Tree& tree = in_.scene.trees()[t];
      const double share = 1.0 - start_share(in_, static_cast<int>(t));
      if (share == 0.0) continue;
      const Eigen::Map<const Eigen::Matrix<double, -1, -1, Eigen::RowMajor>> B(
          linear_.inverse_dynamics.dv.data() + linear_.inverse_dynamics.start[t], tree.nv, tree.nv);
      const int first = tree.v_offset;
      change_.block(first, 2 * nv_ + first, tree.nv, tree.nv) +=
          in_.dt * share * B * u.block(first, first, tree.nv, tree.nv);
    }
  }

  /// rhs but for the inertia's share in v, and H.
  void fill_sides() {
    rhs_.setZero(nv_, 2 * nv_);
    H_.setZero(rows_, 2 * nv_);
    Columns columns;
    for (std::size_t k = 0; k < linear_.islands.size(); ++k) {
      const DerivativeIsland& island = linear_.islands[k];
      if (island.asleep) continue;
      const int n = island.num_dofs;
      const int* dofs = linear_.dofs.data() + linear_.first_dof[k];
      columns.resize(island, 3 * n, false);
      fill_state_columns(in_, linear_, island, columns);
      for (int j = 0; j < 2 * n; ++j) {
        const int to = j / n * nv_ + dofs[j % n];
        for (int i = 0; i < n; ++i) rhs_(dofs[i], to) = columns.force[i * columns.stride + j];
        for (int r = 0; r < island.num_rows; ++r)
          H_(island.first_row + r, to) = columns.velocity[r * columns.stride + j];
      }
    }
  }

  DerivativeInput in_;
  StepRecord& record_;
  int nv_, rows_;
  Linearisation linear_;
  MatrixXd rhs_, H_, forces_, change_, dc_;
};

/// Of dofs.
MatrixXd rows_of(const MatrixXd& x, const std::vector<int>& dofs) { return x(dofs, Eigen::all); }

ImpulsesTangent impulse_change(InverseTangents& tangents,
                               const Scene& scene,
                               const StepRecord& record,
                               const InverseContactDynamics& at,
                               const std::vector<int>& loose,
                               const VectorXd& momentum) {
  const ContactProblem& problem = record.problem;
  if (problem.num_rows() == 0) return {tangents.dc()};
  if (all_compliant(problem))
    return compliant_impulses_tangent(problem, at.velocity, tangents.dc());
  const auto spread = [&](const VectorXd& y) {
    VectorXd out = VectorXd::Zero(scene.nv());
    out(loose) = y;
    return out;
  };
  return impulses_tangent(
      {problem,
       at.velocity,
       at.modes,
       at.impulse,
       momentum(loose),
       rows_of(tangents.forces(), loose),
       inverse_mass(scene, record.dynamics, loose),
       tangents.dc(),
       rows_of(tangents.change(), loose),
       std::max(momentum.cwiseAbs().maxCoeff(), tangents.momentum()),
       [&](const VectorXd& y) { return tangents.turned(spread(y)); },
       [&](const VectorXd& y) { return rows_of(tangents.inverse_mass_change(spread(y)), loose); }});
}

}  // namespace

InverseContactDerivatives Simulator::inverse_contact_derivatives(const State& state,
                                                                 const Control& control,
                                                                 const VectorXd& v_next,
                                                                 const std::vector<int>* actuated,
                                                                 double tolerance) {
  const int nv = scene_.nv();
  if (nv > kMaxMatrixDofs)
    throw std::invalid_argument("derivatives of inverse dynamics: the scene has " +
                                std::to_string(nv) + " dofs, matrices are for up to " +
                                std::to_string(kMaxMatrixDofs));
  InverseContactDerivatives out;
  out.at = inverse_contact_dynamics(state, control, v_next, actuated, tolerance);
  StepRecord& record = inverse_->step.prepared_record();
  record.dv.assign(inverse_->dv.begin(), inverse_->dv.end());
  record.solution = {};
  record.solution.impulse = out.at.impulse;
  record.solution.velocity = out.at.velocity;
  InverseTangents tangents(
      {scene_, parameters_, settings_.contact, settings_.dt, control, inverse_->before, record},
      record);
  const std::vector<int> loose = loose_dofs(scene_, actuated);
  const ImpulsesTangent impulse =
      impulse_change(tangents, scene_, record, out.at, loose, inverse_->momentum);
  out.torque = (tangents.change() - tangents.forces() * impulse.by) / settings_.dt;
  out.residual.setZero(nv, 3 * nv);
  for (const int dof : loose) out.residual.row(dof).swap(out.torque.row(dof));
  out.num_inexact = tangents.num_inexact();
  out.num_at_bounds = impulse.num_at_bounds;
  out.smallest_eigenvalue = impulse.smallest;
  return out;
}

}  // namespace stiction
