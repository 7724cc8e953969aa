#pragma once

#include "engine.hpp"

#include <map>
#include <string>
#include <vector>

namespace stiction::bench {

enum class Kind { kDistance, kOverlap };

/// Time per query [ns] of every engine, and what it answered.
struct Measured {
  std::vector<double> nanoseconds;
  std::vector<Answer> answers;
  std::vector<bool> overlaps;
};
using Table = std::map<std::string, Measured>;

/// Ticks of the clock and of a call that does nothing, taken off every reading.
class Stopwatch {
 public:
  Stopwatch();
  /// [ns], never negative.
  double time(Engine& engine, Kind kind, Measured& result, int query) const;

 private:
  double rate_, overhead_ = 0.0;
};

/// Every engine goes through all queries, one timed call each, `sweeps` times in turn with the
/// others; the best of each query counts. No branch predictor learns a query.
Table cycled(const Stopwatch& watch, const Engines& engines, int queries, Kind kind, int sweeps);

/// The best of `repeats` equal calls in a row: with trained branch predictors.
Table hot(const Stopwatch& watch, const Engines& engines, int queries, Kind kind, int repeats);

/// Sequences of `pairs` slots side by side, all slots of a step before the next step. The first
/// step, which is cold, is left out of the result.
Table warm(const Stopwatch& watch, const Engines& engines, int queries, int pairs, int sweeps);

}  // namespace stiction::bench
