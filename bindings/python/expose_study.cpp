#include "stiction/collision/distance.hpp"
#include "stiction/math/constants.hpp"

#include "benchmarks/collision_peers/clock.hpp"
#include "collision/convex/nesmino.hpp"
#include "common.hpp"
#include "inside.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

// Loops of the studies and benchmarks that are too long for Python: many queries of many pairs,
// with their times.

namespace stiction::python {
namespace {

/// What is asked of each pair.
struct Task {
  DistanceSettings settings;
  bool boolean = false;
  int repeats = 0;
  bool cycled = false;
};

struct Item {
  const Shape *a, *b;
  Transform X_AB;
  Vec3d x0{0, 0, 0};  ///< first iterate, frame A; zero: the library's own

  /// Cold. Its direction is minus the first iterate, in the frame of the shape whose type comes
  /// first in ShapeType.
  DistanceCache start() const {
    DistanceCache cache;
    cache.direction = a->type <= b->type ? -x0 : transpose_times(X_AB.R, x0);
    return cache;
  }
};

struct Outcome {
  DistanceResult result;
  bool overlap = false;
  double nanoseconds = std::numeric_limits<double>::quiet_NaN();
};

/// The one call that is measured.
void run(const Item& item, const Task& task, DistanceCache* cache, Outcome& outcome) {
  const Transform A = Transform::identity();
  if (task.boolean) {
    outcome.overlap =
        collide(*item.a, A, *item.b, item.X_AB, task.settings, cache, &outcome.result.iterations);
  } else {
    outcome.result = distance(*item.a, A, *item.b, item.X_AB, task.settings, cache);
  }
}

class Stopwatch {
 public:
  Stopwatch() : rate_(bench::measure_tick_rate()) {
    std::vector<double> readings(10001);
    for (double& x : readings) {
      const std::uint64_t begin = bench::start_ticks();
      x = double(bench::stop_ticks() - begin);
    }
    std::nth_element(readings.begin(), readings.begin() + 5000, readings.end());
    overhead_ = readings[5000];
  }
  double time(const Item& item, const Task& task, Outcome& outcome) const {
    DistanceCache cache = item.start();
    DistanceCache* given = squared_norm(cache.direction) > 0.0 ? &cache : nullptr;
    const std::uint64_t begin = bench::start_ticks();
    run(item, task, given, outcome);
    return std::max(0.0, (double(bench::stop_ticks() - begin) - overhead_) / rate_);
  }

 private:
  double rate_, overhead_;
};

/// Mean of the lowest nine tenths.
double trimmed_mean(std::vector<double>& readings) {
  std::sort(readings.begin(), readings.end());
  const std::size_t kept = std::max<std::size_t>(1, readings.size() * 9 / 10);
  double sum = 0.0;
  for (std::size_t k = 0; k < kept; ++k) sum += readings[k];
  return sum / double(kept);
}

void time_hot(const std::vector<Item>& items,
              const Task& task,
              const Interrupt& interrupt,
              std::vector<Outcome>& outcomes) {
  const Stopwatch watch;
  std::vector<double> readings;
  for (std::size_t k = 0; k < items.size(); ++k) {
    if (interrupt.requested()) return;
    readings.clear();
    for (int r = 0; r < task.repeats; ++r)
      readings.push_back(watch.time(items[k], task, outcomes[k]));
    outcomes[k].nanoseconds = trimmed_mean(readings);
  }
}

void time_cycled(const std::vector<Item>& items,
                 const Task& task,
                 const Interrupt& interrupt,
                 std::vector<Outcome>& outcomes) {
  const Stopwatch watch;
  for (int r = 0; r < task.repeats && !interrupt.requested(); ++r) {
    for (std::size_t k = 0; k < items.size(); ++k) {
      const double ns = watch.time(items[k], task, outcomes[k]);
      outcomes[k].nanoseconds = r == 0 ? ns : std::min(outcomes[k].nanoseconds, ns);
    }
  }
}

std::vector<Outcome> run_all(const std::vector<Item>& items,
                             const Task& task,
                             const Interrupt& interrupt) {
  std::vector<Outcome> outcomes(items.size());
  if (task.repeats == 0) {
    for (std::size_t k = 0; k < items.size() && !interrupt.requested(); ++k) {
      DistanceCache cache = items[k].start();
      run(items[k], task, &cache, outcomes[k]);
    }
  } else if (task.cycled) {
    time_cycled(items, task, interrupt, outcomes);
  } else {
    time_hot(items, task, interrupt, outcomes);
  }
  return outcomes;
}

Transform transform_of(const double* m) {
  return {{{m[0], m[4], m[8]}, {m[1], m[5], m[9]}, {m[2], m[6], m[10]}}, {m[3], m[7], m[11]}};
}

std::vector<const Shape*> shapes_from(const bp::list& shapes) {
  std::vector<const Shape*> list;
  for (long k = 0; k < bp::len(shapes); ++k) list.push_back(bp::extract<const Shape*>(shapes[k])());
  return list;
}

std::vector<Item> items_from(const std::vector<const Shape*>& shapes,
                             const bp::object& pairs,
                             const bp::object& placements,
                             const bp::object& start) {
  const RowMatrix chosen = matrix_from(pairs, "pairs", -1, 2);
  const long count = chosen.rows();
  const RowMatrix X =
      matrix_from(placements.attr("reshape")(-1, 16), "X_AB (n, 4, 4) as (n, 16)", count, 16);
  RowMatrix starts;
  if (!start.is_none()) starts = matrix_from(start, "start", count, 3);
  std::vector<Item> items;
  for (long k = 0; k < count; ++k) {
    const Shape* of_pair[2];
    for (int side = 0; side < 2; ++side) {
      const double index = chosen(k, side);
      if (!(index >= 0.0 && index < double(shapes.size())))
        throw std::invalid_argument("pairs[" + std::to_string(k) + "] = " + number(index) +
                                    ": there are " + std::to_string(shapes.size()) + " shapes");
      of_pair[side] = shapes[std::size_t(index)];
    }
    Item item{of_pair[0], of_pair[1], transform_of(X.row(k).data()), {}};
    if (starts.rows() > 0) item.x0 = {starts(k, 0), starts(k, 1), starts(k, 2)};
    items.push_back(item);
  }
  return items;
}

/// One column per number of the outcomes, as NumPy arrays; of a boolean query only what it finds.
bp::dict columns(const std::vector<Outcome>& outcomes, bool boolean) {
  std::vector<double> distance, iterations, epa_iterations, overlap, nanoseconds;
  std::vector<Vec3d> normal, witness_a, witness_b;
  bp::list status;
  for (const Outcome& o : outcomes) {
    distance.push_back(o.result.distance);
    iterations.push_back(o.result.iterations);
    epa_iterations.push_back(o.result.epa_iterations);
    overlap.push_back(boolean ? o.overlap : o.result.distance <= 0.0);
    nanoseconds.push_back(o.nanoseconds);
    normal.push_back(o.result.normal);
    witness_a.push_back(o.result.witness_a);
    witness_b.push_back(o.result.witness_b);
    status.append(std::string(to_string(o.result.status)));
  }
  bp::dict d;
  d["iterations"] = to_array(iterations).attr("astype")("int64");
  d["epa_iterations"] = to_array(epa_iterations).attr("astype")("int64");
  d["overlap"] = to_array(overlap).attr("astype")("bool");
  d["nanoseconds"] = to_array(nanoseconds);
  if (boolean) return d;
  d["distance"] = to_array(distance);
  d["normal"] = to_array(normal);
  d["witness_a"] = to_array(witness_a);
  d["witness_b"] = to_array(witness_b);
  d["status"] = status;
  return d;
}

/// Iterations of NESMINO until its point is within 1e-4 m of the target (GJK++, Table III).
bp::object nesmino_iterations(const bp::object& shapes,
                              const bp::object& pairs,
                              const bp::object& X_AB,
                              const bp::object& start,
                              const bp::object& target,
                              int max_iterations) {
  const bp::list kept(shapes);
  const std::vector<Item> items = items_from(shapes_from(kept), pairs, X_AB, start);
  const RowMatrix targets = matrix_from(target, "target", long(items.size()), 3);
  DistanceSettings settings;
  settings.tolerance = 1e-8;  // [m^2], the gap of the other methods of that table
  settings.stopping = StoppingRule::kPaperGap;
  settings.max_iterations = max_iterations;
  settings.validate();
  for (std::size_t k = 0; k < items.size(); ++k) {
    if (!(squared_norm(items[k].x0) > 0.0))
      throw std::invalid_argument("start[" + std::to_string(k) + "]: must not be zero");
  }
  std::vector<double> counts(items.size());
  SignalPoll signals;
  signals.begin();
  {
    AllowThreads free;
    for (std::size_t k = 0; k < items.size() && !signals.interrupt().requested(); ++k) {
      const Item& item = items[k];
      const double size = bounding_radius(*item.a) + bounding_radius(*item.b);
      const detail::SupportDifference D{
          detail::core_of(*item.a), detail::core_of(*item.b), item.X_AB, size};
      const Vec3d goal{targets(long(k), 0), targets(long(k), 1), targets(long(k), 2)};
      counts[k] = detail::nesmino(D, item.x0, settings, kInfinity, &goal).iterations;
    }
  }
  signals.end();
  return to_array(counts).attr("astype")("int64");
}

bp::dict time_distances(const bp::object& shapes,
                        const bp::object& pairs,
                        const bp::object& X_AB,
                        const std::string& method,
                        const std::string& stopping,
                        double tolerance,
                        int max_iterations,
                        bool boolean,
                        const bp::object& start,
                        int repeats,
                        bool cycled) {
  if (repeats < 0)
    throw std::invalid_argument("repeats = " + std::to_string(repeats) + ": must be >= 0");
  const bp::list kept(shapes);  // alive while the lock is released
  const std::vector<Item> items = items_from(shapes_from(kept), pairs, X_AB, start);
  const DistanceSettings settings{
      tolerance, max_iterations, distance_method(method), stopping_rule(stopping)};
  const Task task{settings, boolean, repeats, cycled};
  std::vector<Outcome> outcomes;
  SignalPoll signals;
  signals.begin();
  {
    AllowThreads free;
    outcomes = run_all(items, task, signals.interrupt());
  }
  signals.end();
  return columns(outcomes, boolean);
}

}  // namespace

void expose_study() {
  using bp::arg;
  bp::def("time_distances",
          &time_distances,
          (arg("shapes"),
           arg("pairs"),
           arg("X_AB"),
           arg("method") = "auto",
           arg("stopping") = "bounds",
           arg("tolerance") = 1e-10,
           arg("max_iterations") = 128,
           arg("boolean") = false,
           arg("start") = bp::object(),
           arg("repeats") = 0,
           arg("cycled") = false),
          "Many distance (or boolean) queries in one call, and how long each took.\n\n"
          "pairs: (n, 2) numbers into `shapes`; X_AB: (n, 4, 4) pose of B in the frame of A [m].\n"
          "start: (n, 3) first iterate of the search, a point of A - B in the frame of A [m].\n"
          "repeats: calls per query, 0: not timed; in a row, or `cycled` through all queries.\n\n"
          "Returns a dict of arrays: distance [m], iterations, epa_iterations, overlap, normal, "
          "witness_a, witness_b (frame of A), status, nanoseconds (mean of the lowest nine tenths; "
          "cycled: the lowest); boolean: only iterations, overlap and nanoseconds.");
  bp::def(
      "nesmino_iterations",
      &nesmino_iterations,
      (arg("shapes"),
       arg("pairs"),
       arg("X_AB"),
       arg("start"),
       arg("target"),
       arg("max_iterations") = 200000),
      "(n,) iterations of NESMINO until its point of A - B is within 1e-4 m of `target` (n, 3), "
      "as in Table III of the GJK++ paper.");
}

}  // namespace stiction::python
