#include "measure.hpp"

#include "clock.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stiction::bench {
namespace {

class Idle : public Engine {
 public:
  Idle() : Engine("idle") {}
  void load(const std::vector<Query>&) override {}
  void select(int) override {}
  void distance(Answer&) override {}
  bool overlap() override { return false; }
};

Table empty_table(const Engines& engines, int queries) {
  Table table;
  for (const auto& engine : engines) {
    Measured& m = table[engine->name()];
    m.nanoseconds.assign(queries, std::numeric_limits<double>::infinity());
    m.answers.resize(queries);
    m.overlaps.resize(queries);
  }
  return table;
}

}  // namespace

Stopwatch::Stopwatch() : rate_(measure_tick_rate()) {
  Idle idle;
  Measured scratch;
  scratch.answers.resize(1);
  std::vector<double> readings;
  for (int k = 0; k < 20000; ++k) readings.push_back(time(idle, Kind::kDistance, scratch, 0));
  std::nth_element(readings.begin(), readings.begin() + 10000, readings.end());
  overhead_ = readings[10000];
}

double Stopwatch::time(Engine& engine, Kind kind, Measured& result, int query) const {
  std::uint64_t begin, end;
  if (kind == Kind::kDistance) {
    begin = start_ticks();
    engine.distance(result.answers[query]);
    end = stop_ticks();
  } else {
    begin = start_ticks();
    const bool overlap = engine.overlap();
    end = stop_ticks();
    result.overlaps[query] = overlap;
  }
  return std::max(0.0, double(end - begin) / rate_ - overhead_);
}

Table cycled(const Stopwatch& watch, const Engines& engines, int queries, Kind kind, int sweeps) {
  Table table = empty_table(engines, queries);
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (const auto& engine : engines) {
      Measured& m = table[engine->name()];
      for (int q = 0; q < queries; ++q) {
        engine->select(q);
        m.nanoseconds[q] = std::min(m.nanoseconds[q], watch.time(*engine, kind, m, q));
      }
    }
  }
  return table;
}

Table hot(const Stopwatch& watch, const Engines& engines, int queries, Kind kind, int repeats) {
  Table table = empty_table(engines, queries);
  for (const auto& engine : engines) {
    Measured& m = table[engine->name()];
    for (int q = 0; q < queries; ++q) {
      for (int k = 0; k < repeats; ++k) {
        engine->select(q);
        m.nanoseconds[q] = std::min(m.nanoseconds[q], watch.time(*engine, kind, m, q));
      }
    }
  }
  return table;
}

Table warm(const Stopwatch& watch, const Engines& engines, int queries, int pairs, int sweeps) {
  Table table = empty_table(engines, queries);
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (const auto& engine : engines) {
      Measured& m = table[engine->name()];
      engine->make_slots(pairs);
      for (int q = 0; q < queries; ++q) {
        if (engine->warm()) engine->select_slot(q % pairs);
        engine->select(q);
        m.nanoseconds[q] = std::min(m.nanoseconds[q], watch.time(*engine, Kind::kDistance, m, q));
      }
    }
  }
  for (auto& [name, m] : table) {
    m.nanoseconds.erase(m.nanoseconds.begin(), m.nanoseconds.begin() + pairs);
    m.answers.erase(m.answers.begin(), m.answers.begin() + pairs);
  }
  return table;
}

}  // namespace stiction::bench
