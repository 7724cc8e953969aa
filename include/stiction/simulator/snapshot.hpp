#pragma once

#include "stiction/simulator/report.hpp"

#include <Eigen/Core>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

namespace stiction {

/// The end of a whole step, for who only looks.
struct Snapshot {
  double time = 0.0;                    ///< [s]
  Eigen::VectorXd q, v;                 ///< [nq] [nv]
  std::vector<Transform> body_poses;    ///< world, by body
  std::vector<ContactReport> contacts;  ///< of that step
};

/// What the thread that steps leaves for others. Steps that nobody watches cost one read of a flag;
/// a request is good for the next kSteps steps.
class Watch {
 public:
  static constexpr int kSteps = 100;
  bool wanted() const { return wanted_.load(std::memory_order_relaxed) > 0; }
  /// By the thread that steps, at the end of a whole step, if wanted().
  template <class Fill>
  void publish(Fill&& fill) {
    const std::lock_guard lock(mutex_);
    fill(last_);
    valid_ = wanted_.fetch_sub(1, std::memory_order_relaxed) > 1;
    answered_ = requests_;
  }
  /// By any thread. False if no step ended since the request; call again then with the same
  /// `request`, which is 0 at first.
  bool read(std::uint64_t& request, Snapshot& out) {
    const std::lock_guard lock(mutex_);
    wanted_.store(kSteps, std::memory_order_relaxed);
    if (request == 0) request = ++requests_;
    if (!valid_ && answered_ < request) return false;
    out = last_;
    return true;
  }

 private:
  std::atomic<int> wanted_{0};
  std::mutex mutex_;
  bool valid_ = false;  ///< every step is being published
  std::uint64_t requests_ = 0, answered_ = 0;
  Snapshot last_;
};

}  // namespace stiction
