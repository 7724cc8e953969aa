#include "support/step_differences.hpp"

#include <algorithm>
#include <cmath>

namespace stiction::test {

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
    const Eigen::VectorXd x = Eigen::VectorXd::Unit(3 * nv, k) * h;
    const Eigen::VectorXd plus = stepped(simulator, state, control, end, x),
                          minus = stepped(simulator, state, control, end, -x);
    out.forward.col(k) = plus / h;
    out.backward.col(k) = -minus / h;
    out.central.col(k) = (plus - minus) / (2.0 * h);
  }
  return out;
}

double ColumnErrors::worst(int first, int count) const {
  double most = 0.0;
  for (int k = first; k < first + count; ++k) {
    if (!kink[k]) most = std::max(most, error[k]);
  }
  return most;
}
int ColumnErrors::kinks() const {
  return static_cast<int>(std::count(kink.begin(), kink.end(), true));
}

ColumnErrors column_errors(Simulator& simulator,
                           const State& state,
                           const Control& control,
                           const Eigen::MatrixXd& J) {
  const int n = static_cast<int>(J.cols()), nv = n / 3;
  ColumnErrors out{Eigen::VectorXd::Constant(n, 1e300), std::vector<bool>(n, true)};
  for (const double h : {1e-4, 1e-5, 1e-6, 1e-7, 1e-8}) {
    const StepDifferences d = step_differences(simulator, state, control, h);
    for (int k = 0; k < n; ++k) {
      const double size = J.middleCols(k / nv * nv, nv).cwiseAbs().maxCoeff();
      const double split = (d.forward.col(k) - d.backward.col(k)).cwiseAbs().maxCoeff();
      if (split > 1e-2 * std::max(size, d.central.col(k).cwiseAbs().maxCoeff())) continue;
      out.kink[k] = false;
      out.error[k] =
          std::min(out.error[k],
                   (J.col(k) - d.central.col(k)).cwiseAbs().maxCoeff() / std::max(size, 1e-300));
    }
  }
  return out;
}

}  // namespace stiction::test
