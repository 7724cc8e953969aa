#pragma once

#include <chrono>
#include <cstdint>
#include <x86intrin.h>

// The processor's time stamp counter: a pair of readings costs some ten nanoseconds, known to one.

namespace stiction::bench {

/// Nothing after it starts before everything before it has finished.
inline std::uint64_t start_ticks() {
  _mm_lfence();
  const std::uint64_t t = __rdtsc();
  _mm_lfence();
  return t;
}
inline std::uint64_t stop_ticks() {
  unsigned core;
  const std::uint64_t t = __rdtscp(&core);
  _mm_lfence();
  return t;
}

/// Ticks per nanosecond against the steady clock, over a fiftieth of a second.
inline double measure_tick_rate() {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const std::uint64_t first = start_ticks();
  while (Clock::now() - begin < std::chrono::milliseconds(20)) {
  }
  const std::uint64_t last = stop_ticks();
  const std::chrono::duration<double, std::nano> passed = Clock::now() - begin;
  return double(last - first) / passed.count();
}

}  // namespace stiction::bench
