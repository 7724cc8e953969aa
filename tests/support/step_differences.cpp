#include "support/step_differences.hpp"

#include "stiction/math/constants.hpp"

#include <algorithm>
#include <cmath>

namespace stiction::test {
namespace {

/// Of a torque's step, of one of a coordinate: the end of a step depends on it less.
constexpr double kTorqueStep = 1e3;  // [N m]

}  // namespace

Eigen::VectorXd stepped(Simulator& simulator,
                        const State& state,
                        const Control& control,
                        const State& end,
                        const Eigen::VectorXd& x) {
  const int nv = simulator.scene().nv();
  State other = state;
  Control pushed = control;
  other.q = integrate(simulator.scene(), state.q, x.head(nv));
  other.v += x.segment(nv, nv);
  if (pushed.torque.size() == 0) pushed.torque.setZero(nv);
  pushed.torque += x.tail(nv);
  simulator.step(other, pushed);
  Eigen::VectorXd out(2 * nv);
  out << difference(simulator.scene(), end.q, other.q), other.v - end.v;
  return out;
}

StepDifferences step_differences(Simulator& simulator,
                                 const State& state,
                                 const Control& control,
                                 double h) {
  const int nv = simulator.scene().nv();
  State end = state;
  simulator.step(end, control);
  StepDifferences out;
  for (Eigen::MatrixXd* m : {&out.central, &out.forward, &out.backward}) m->resize(2 * nv, 3 * nv);
  for (int k = 0; k < 3 * nv; ++k) {
    const double size = k < 2 * nv ? h : kTorqueStep * h;
    const Eigen::VectorXd x = Eigen::VectorXd::Unit(3 * nv, k) * size;
    const Eigen::VectorXd plus = stepped(simulator, state, control, end, x),
                          minus = stepped(simulator, state, control, end, -x);
    out.forward.col(k) = plus / size;
    out.backward.col(k) = -minus / size;
    out.central.col(k) = (plus - minus) / (2.0 * size);
  }
  return out;
}

double ColumnErrors::worst(int first, int count) const {
  double most = kinks(first, count) < count ? 0.0 : kInfinity;
  for (int k = first; k < first + count; ++k) {
    if (!kink[k]) most = std::max(most, error.col(k).maxCoeff());
  }
  return most;
}
int ColumnErrors::kinks(int first, int count) const {
  return static_cast<int>(std::count(kink.begin() + first, kink.begin() + first + count, true));
}

ColumnErrors column_errors(Simulator& simulator,
                           const State& state,
                           const Control& control,
                           const Eigen::MatrixXd& J) {
  const int n = static_cast<int>(J.cols()), nv = n / 3;
  ColumnErrors out{Eigen::MatrixXd::Constant(2, n, kInfinity), std::vector<bool>(n, true)};
  for (const double h : {1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9}) {
    const StepDifferences d = step_differences(simulator, state, control, h);
    for (int k = 0; k < n; ++k) {
      double size[2];
      bool smooth = true;
      for (int r = 0; r < 2; ++r) {
        const auto rows = [&](const Eigen::MatrixXd& x) { return x.col(k).segment(r * nv, nv); };
        size[r] = J.block(r * nv, k / nv * nv, nv, nv).cwiseAbs().maxCoeff();
        const double split = (rows(d.forward) - rows(d.backward)).cwiseAbs().maxCoeff();
        smooth = smooth && split <= 1e-2 * std::max(size[r], rows(d.central).cwiseAbs().maxCoeff());
      }
      if (!smooth) continue;
      out.kink[k] = false;
      const Eigen::VectorXd error = (J.col(k) - d.central.col(k)).cwiseAbs();
      for (int r = 0; r < 2; ++r)
        out.error(r, k) = std::min(
            out.error(r, k), error.segment(r * nv, nv).maxCoeff() / std::max(size[r], 1e-300));
    }
  }
  return out;
}

Transform tangent_motion(int k, double size) {
  Vec3d x{0, 0, 0};
  x[k % 3] = size;
  if (k < 3) return {Mat3d::identity(), x};
  const Mat3d I = Mat3d::identity();
  return {{turned(x, I.c0), turned(x, I.c1), turned(x, I.c2)}, {0, 0, 0}};
}

void ColumnCheck::add(const Eigen::VectorXd& column,
                      const Eigen::VectorXd& plus,
                      const Eigen::VectorXd& base,
                      const Eigen::VectorXd& minus,
                      double h) {
  const Eigen::VectorXd central = (plus - minus) / (2.0 * h),
                        bend = (plus + minus - 2.0 * base) / h;
  const Eigen::Index nv = column.size() / 2;
  for (int k = 0; k < 2; ++k) {
    const auto size = [&](const Eigen::VectorXd& x) {
      return x.segment(k * nv, nv).cwiseAbs().maxCoeff();
    };
    const double rounding = kRounding[k] / h;
    if (size(bend) > std::max(1e-2 * size(central), rounding)) continue;
    const double allowed = std::max(3e-5 * size(central), rounding);
    if (allowed > 0.5 * allowed_[k]) continue;
    allowed_[k] = allowed;
    error_[k] = size(column - central) / allowed;
    seen_[k] = size(column) / allowed;
  }
}

ColumnCheck check_column(Simulator& simulator,
                         const State& state,
                         const Control& control,
                         const State& end,
                         const Eigen::VectorXd& column,
                         double unit,
                         const std::function<void(double)>& shift) {
  const int nv = simulator.scene().nv();
  const auto at = [&](double h) {
    shift(h);
    Eigen::VectorXd x = stepped(simulator, state, control, end, Eigen::VectorXd::Zero(3 * nv));
    shift(0.0);
    return x;
  };
  const Eigen::VectorXd base = at(0.0);
  ColumnCheck check;
  for (const double step : {1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3})
    check.add(column, at(step * unit), base, at(-step * unit), step * unit);
  return check;
}

}  // namespace stiction::test
