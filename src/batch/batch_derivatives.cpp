#include "stiction/batch/batch_derivatives.hpp"

#include "stiction/simulator/simulator.hpp"

#include "batch/forked.hpp"
#include "batch/thread_pool.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

namespace stiction {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct BatchDerivatives::Impl {
  explicit Impl(const Batch& of) : batch(of), pool(new ThreadPool(of.threads())) {
    for (int part = 0; part < pool->parts(); ++part)
      simulators.push_back(std::make_unique<Simulator>(of.scene(), of.settings()));
  }

  /// use(world, simulator) after the world's step, fail(world) where it is not whole.
  template <class Use, class Fail>
  void each_step(const std::uint8_t* mask, Use&& use, Fail&& fail) {
    const auto count = static_cast<long>(batch.worlds());
    pool->run(
        [&](int part) {
          const auto last = static_cast<int>(count * (part + 1) / pool->parts());
          for (auto world = static_cast<int>(count * part / pool->parts()); world < last; ++world) {
            if (mask != nullptr && mask[world] == 0) continue;
            Simulator& simulator = *simulators[part];
            State state = batch.state(world);
            simulator.parameters() = batch.parameters(world);
            try {
              const bool whole = state.q.allFinite() && state.v.allFinite() &&
                                 simulator.step(state, batch.control(world)).whole();
              whole ? use(world, simulator) : fail(world);
            } catch (const std::invalid_argument& e) {
              throw std::invalid_argument("world " + std::to_string(world) + ": " + e.what());
            }
          }
        },
        [] {});
  }

  const Batch& batch;
  OwnThreads<ThreadPool> pool;
  std::vector<std::unique_ptr<Simulator>> simulators;  ///< by part
};

BatchDerivatives::BatchDerivatives(const Batch& batch) : impl_(std::make_unique<Impl>(batch)) {}
BatchDerivatives::~BatchDerivatives() = default;

void BatchDerivatives::jacobians(const std::uint8_t* mask,
                                 double* A,
                                 double* B,
                                 std::uint8_t* exact) {
  const std::ptrdiff_t nv = impl_->batch.scene().nv(), rows = 2 * nv;
  const auto a_of = [&](int world) { return A + world * rows * rows; };
  const auto b_of = [&](int world) { return B + world * rows * nv; };
  impl_->each_step(
      mask,
      [&](int world, Simulator& simulator) {
        const StepDerivatives& d = simulator.step_derivatives();
        Eigen::Map<RowMajor>(a_of(world), rows, rows) = d.A();
        Eigen::Map<RowMajor>(b_of(world), rows, nv) = d.B();
        exact[world] = d.report.exact();
      },
      [&](int world) {
        std::fill_n(a_of(world), rows * rows, std::numeric_limits<double>::quiet_NaN());
        std::fill_n(b_of(world), rows * nv, std::numeric_limits<double>::quiet_NaN());
        exact[world] = 0;
      });
}

void BatchDerivatives::vjp(
    const std::uint8_t* mask, const double* w, double* x, double* torque, std::uint8_t* exact) {
  const std::ptrdiff_t nv = impl_->batch.scene().nv();
  impl_->each_step(
      mask,
      [&](int world, Simulator& simulator) {
        const StepGradient& g =
            simulator.vjp(Eigen::Map<const Eigen::VectorXd>(w + world * 2 * nv, 2 * nv));
        double* out = std::copy_n(g.q.data(), nv, x + world * 2 * nv);
        std::copy_n(g.v.data(), nv, out);
        std::copy_n(g.torque.data(), nv, torque + world * nv);
        exact[world] = simulator.gradient_report().exact();
      },
      [&](int world) {
        std::fill_n(x + world * 2 * nv, 2 * nv, std::numeric_limits<double>::quiet_NaN());
        std::fill_n(torque + world * nv, nv, std::numeric_limits<double>::quiet_NaN());
        exact[world] = 0;
      });
}

}  // namespace stiction
