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

ColumnErrors column_errors(const Eigen::MatrixXd& J,
                           int nv,
                           int block,
                           const Eigen::VectorXd& units,
                           const Eigen::Vector3d& least,
                           const std::function<Eigen::VectorXd(int, double)>& at) {
  const int n = static_cast<int>(J.cols()), rows = static_cast<int>(J.rows());
  const int groups = rows > 2 * nv ? 3 : 2;
  ColumnErrors out{Eigen::MatrixXd::Constant(groups, n, kInfinity), std::vector<bool>(n, true)};
  for (int k = 0; k < n; ++k) {
    for (const double h : {1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9}) {
      const double step = units[k] * h;
      const Eigen::VectorXd plus = at(k, step) / step, minus = at(k, -step) / -step,
                            central = 0.5 * (plus + minus);
      Eigen::Vector3d size, error;
      bool smooth = true;
      for (int r = 0; r < groups; ++r) {
        const int first = r * nv, count = r < 2 ? nv : rows - first;
        const auto most = [&](const Eigen::VectorXd& x) {
          return x.segment(first, count).cwiseAbs().maxCoeff();
        };
        size[r] = std::max(J.block(first, k / block * block, count, block).cwiseAbs().maxCoeff(),
                           least[r]);
        error[r] = most(J.col(k) - central) / size[r];
        smooth = smooth && most(plus - minus) <= 1e-2 * std::max(size[r], most(central));
      }
      if (!smooth) continue;
      out.kink[k] = false;
      for (int r = 0; r < groups; ++r) out.error(r, k) = std::min(out.error(r, k), error[r]);
    }
  }
  return out;
}

ColumnErrors column_errors(Simulator& simulator,
                           const State& state,
                           const Control& control,
                           const Eigen::MatrixXd& J) {
  const int n = static_cast<int>(J.cols()), nv = n / 3;
  State end = state;
  simulator.step(end, control);
  Eigen::VectorXd units = Eigen::VectorXd::Ones(n);
  units.tail(nv).setConstant(kTorqueStep);
  const Eigen::Vector3d least = Eigen::Vector3d::Constant(1e-300);
  return column_errors(J, nv, nv, units, least, [&](int k, double h) {
    return stepped(simulator, state, control, end, Eigen::VectorXd::Unit(n, k) * h);
  });
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
    const double relative = 3e-5 * size(central), allowed = std::max(relative, rounding);
    // Larger steps than rounding asks for only bend more.
    if (allowed > allowed_[k] || settled_[k]) continue;
    settled_[k] = relative >= rounding;
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
