#pragma once

#include <memory>

namespace stiction {

/// In a process forked from the one that has its threads an object can neither work nor end: it is
/// forgotten.
struct ForgetForked {
  template <class Threads>
  void operator()(Threads* threads) const {
    if (!threads->forked()) delete threads;
  }
};
template <class Threads>
using OwnThreads = std::unique_ptr<Threads, ForgetForked>;

}  // namespace stiction
