#pragma once

#include "stiction/batch/batch.hpp"
#include "stiction/simulator/simulator.hpp"

#include "batch/background.hpp"
#include "batch/forked.hpp"
#include "batch/thread_pool.hpp"
#include "batch/world_rows.hpp"

#include <algorithm>
#include <stdexcept>

namespace stiction {

/// Throws std::invalid_argument naming what is out of range.
inline void check_range(const char* name, long value, long low, long high) {
  if (value >= low && value <= high) return;
  throw std::invalid_argument(std::string(name) + " = " + std::to_string(value) + ": must be in [" +
                              std::to_string(low) + ", " + std::to_string(high) + "]");
}

/// Column of each geometry of a scene, -1: none. Throws std::invalid_argument for one that is not
/// there or given twice.
std::vector<int> geometry_columns(const Scene& scene, const int* geometries, int count);

struct Batch::Impl {
  Impl(const Scene& scene, int worlds, const SimulatorSettings& settings, const BatchOptions& o);
  ~Impl() {
    stop.stopped = true;  // of step_async()
    background.reset();
  }

  void step(int substeps, const std::uint8_t* mask);
  void check_idle(const char* caller) const {
    if (background->started())
      throw std::logic_error(std::string("Batch.") + caller +
                             ": step_async() is under way: call wait() first");
  }

  int part_of(int world) const {
    return static_cast<int>(std::upper_bound(first.begin(), first.end(), world) - first.begin()) -
           1;
  }
  WorldRange& range_of(int world) { return *ranges[part_of(world)]; }
  int place(int world) const { return world - first[part_of(world)]; }
  void check_world(int world) const { check_range("world", world, 0, worlds - 1); }
  void put(int world, const State& state);
  State start_of(int world, const double* q, const double* v) const;

  /// work(world) for the worlds of the mask, on all threads.
  template <class Work>
  void each_world(const std::uint8_t* mask, Work&& work) {
    pool->run(
        [&](int part) {
          for (int world = first[part]; world < first[part + 1]; ++world) {
            if (mask == nullptr || mask[world] != 0) work(world);
          }
        },
        [] {});
  }

  int worlds;
  SimulatorSettings settings;
  std::string why_not;
  Simulator simulator;  ///< to check, and for starts
  State start;
  RowMemory memory;
  BatchArrays arrays;
  Stop stop;
  std::vector<StopPoll> polls;                      ///< by part
  std::vector<int> first;                           ///< world of each part, and their number
  std::vector<std::unique_ptr<WorldRange>> ranges;  ///< by part
  OwnThreads<ThreadPool> pool;
  /// What step_async() was asked for, and its thread.
  int later_substeps = 0;
  bool later_all = true;
  std::vector<std::uint8_t> later_mask;
  OwnThreads<Background> background;
};

}  // namespace stiction
