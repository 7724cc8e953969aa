#include "errors.hpp"
#include "json.hpp"
#include "queries.hpp"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <map>
#include <stdexcept>

// collision_peers HULLS [key=value ...]: every row of `stiction bench collision` as one JSON
// document on standard output, progress on standard error. All times in nanoseconds.

using namespace stiction;
using namespace stiction::bench;

namespace {

constexpr double kDistances[] = {-3e-2, -1e-2, -1e-3, -1e-4, 1e-4, 1e-2, 1e-1, 1.0};
constexpr int kVertices[] = {240, 900, 1800, 3600};

struct Plan {
  std::string hulls;
  std::map<std::string, double> values{
      {"pairs", 1000}, {"sweeps", 7}, {"steps", 60}, {"sequences", 200}, {"seed", 1}};
  int operator[](const std::string& key) const { return int(values.at(key)); }
};

Plan parse(int count, char** arguments) {
  if (count < 2) throw std::runtime_error("usage: collision_peers HULLS [key=value ...]");
  Plan plan;
  plan.hulls = arguments[1];
  for (int k = 2; k < count; ++k) {
    const std::string text = arguments[k];
    const std::size_t equals = text.find('=');
    const std::string key = text.substr(0, equals);
    if (equals == std::string::npos || plan.values.count(key) == 0)
      throw std::runtime_error("unknown argument " + text);
    const double value = std::atof(text.c_str() + equals + 1);
    if (!(value >= 1.0)) throw std::runtime_error(text + ": must be at least 1");
    plan.values[key] = value;
  }
  return plan;
}

// Engines that share code are kept apart: one would run on branches the other has just trained.
Engines all_engines(const Shapes& shapes) {
  std::vector<Engines> families;
  families.push_back(our_engines(shapes));
#ifdef STICTION_WITH_COAL
  families.push_back(coal_engines(shapes));
#endif
#ifdef STICTION_WITH_MUJOCO
  families.push_back(mujoco_engines(shapes));
#endif
  Engines engines;
  for (std::size_t k = 0; k < 16; ++k) {
    for (Engines& family : families) {
      if (k < family.size()) engines.push_back(std::move(family[k]));
    }
  }
  return engines;
}

Engines cold_only(Engines engines) {
  std::erase_if(engines, [](const auto& engine) { return engine->warm(); });
  return engines;
}

void load(const Engines& engines, const std::vector<Query>& queries) {
  for (const auto& engine : engines) engine->load(queries);
}

std::string statistics(std::vector<double> ns) {
  std::sort(ns.begin(), ns.end());
  double mean = 0.0;
  for (const double x : ns) mean += x / double(ns.size());
  return Object()
      .add("median", ns[ns.size() / 2])
      .add("mean", mean)
      .add("p95", ns[ns.size() * 95 / 100])
      .text();
}

std::string error_text(const Errors& e) {
  return Object()
      .add("median", e.median)
      .add("p99", e.p99)
      .add("max", e.worst)
      .add("wrong_signs", e.wrong_signs)
      .add("normal", e.normal)
      .add("witness", e.witness)
      .add("outside", e.outside)
      .text();
}

double mean_iterations(const Measured& m) {
  double sum = 0.0;
  for (const Answer& a : m.answers) sum += a.iterations;
  return sum / double(m.answers.size());
}

int worst_iterations(const Measured& m) {
  int worst = 0;
  for (const Answer& a : m.answers) worst = std::max(worst, a.iterations);
  return worst;
}

double share_at_limit(const Measured& m) {
  double sum = 0.0;
  for (const Answer& a : m.answers) sum += a.at_limit;
  return sum / double(m.answers.size());
}

Object distance_entry(const Measured& m, const Errors& errors) {
  Object entry;
  entry.add("cycled", statistics(m.nanoseconds)).add("error", error_text(errors));
  const double iterations = mean_iterations(m);
  if (iterations >= 0.0)
    entry.add("iterations", iterations).add("iterations_max", worst_iterations(m));
  const double limited = share_at_limit(m);
  if (limited >= 0.0) entry.add("at_limit", limited);
  return entry;
}

double median_of(std::vector<double> x) {
  std::nth_element(x.begin(), x.begin() + long(x.size() / 2), x.end());
  return x[x.size() / 2];
}

std::string distance_row(const Stopwatch& watch,
                         const Judge& judge,
                         const Engines& engines,
                         const std::vector<Query>& queries,
                         double distance,
                         const Plan& plan) {
  load(engines, queries);
  const int count = int(queries.size());
  const Table cold = cycled(watch, engines, count, Kind::kDistance, plan["sweeps"]);
  const Table trained = hot(watch, engines, count, Kind::kDistance, 20);
  const Truth truth = judge.truth(queries, cold);
  Object entries;
  for (const auto& [name, m] : cold) {
    const std::string repeated = statistics(trained.at(name).nanoseconds);
    const Errors errors = judge.errors(queries, m, truth);
    entries.add(name, distance_entry(m, errors).add("hot", repeated).text());
  }
  return Object()
      .add("distance", distance)
      .add("queries", count)
      .add("distance_median", median_of(truth.distance))
      .add("bracket", truth.bracket)
      .add("engines", entries.text())
      .text();
}

std::string overlap_row(const Stopwatch& watch,
                        const Engines& engines,
                        const std::vector<Query>& queries,
                        double distance,
                        const Plan& plan) {
  load(engines, queries);
  const int count = int(queries.size());
  const Table cold = cycled(watch, engines, count, Kind::kOverlap, plan["sweeps"]);
  const Table trained = hot(watch, engines, count, Kind::kOverlap, 20);
  Object entries;
  for (const auto& [name, m] : cold) {
    const auto hits = std::count(m.overlaps.begin(), m.overlaps.end(), true);
    entries.add(name,
                Object()
                    .add("cycled", statistics(m.nanoseconds))
                    .add("hot", statistics(trained.at(name).nanoseconds))
                    .add("overlaps", double(hits) / count)
                    .text());
  }
  return Object().add("distance", distance).add("engines", entries.text()).text();
}

std::string warm_row(const Stopwatch& watch,
                     const Shapes& shapes,
                     const Judge& judge,
                     const Engines& engines,
                     double motion,
                     bool penetrating,
                     const Plan& plan) {
  const int pairs = plan["sequences"];
  const std::vector<Query> queries = sequences(
      shapes, pairs, plan["steps"], motion, penetrating, std::uint64_t(plan["seed"] + 100));
  load(engines, queries);
  const Table table = warm(watch, engines, int(queries.size()), pairs, plan["sweeps"]);
  const std::vector<Query> later(queries.begin() + pairs, queries.end());
  const Truth truth = judge.truth(later, table);
  Object entries;
  for (const auto& [name, m] : table)
    entries.add(name, distance_entry(m, judge.errors(later, m, truth)).text());
  return Object()
      .add("motion", motion)
      .add("penetrating", penetrating ? "true" : "false")
      .add("distance_median", median_of(truth.distance))
      .add("engines", entries.text())
      .text();
}

std::string growth_rows(const Stopwatch& watch, const Plan& plan) {
  Array rows;
  for (const int vertices : kVertices) {
    std::cerr << "growth: " << vertices << " vertices" << std::endl;
    const Shapes shapes = sampled_hulls(6, vertices, 5);
    const Judge judge(shapes);
    const Engines engines = cold_only(all_engines(shapes));
    for (const double distance : {-1e-2, 1e-4, 1e-2}) {
      const auto queries = random_pairs(shapes, plan["pairs"], distance, 11);
      load(engines, queries);
      const Table table =
          cycled(watch, engines, int(queries.size()), Kind::kDistance, plan["sweeps"]);
      const Truth truth = judge.truth(queries, table);
      Object entries;
      for (const auto& [name, m] : table)
        entries.add(name, distance_entry(m, judge.errors(queries, m, truth)).text());
      rows.add(Object()
                   .add("vertices", vertices)
                   .add("distance", distance)
                   .add("engines", entries.text())
                   .text());
    }
  }
  return rows.text();
}

std::string sizes(const Shapes& shapes) {
  Array counts;
  for (const Shape& s : shapes) counts.add(number(double(s.mesh->vertices.size())));
  return counts.text();
}

std::string run(const Plan& plan) {
  const Stopwatch watch;
  const Shapes shapes = load_hulls(plan.hulls);
  const Judge judge(shapes);
  const Engines every = all_engines(shapes), methods = our_methods(shapes);
  const Engines cold = cold_only(all_engines(shapes));
  Array distances, overlaps, by_method, sequence_rows;
  for (const double distance : kDistances) {
    std::cerr << "distance " << distance << " m" << std::endl;
    const auto queries = random_pairs(shapes, plan["pairs"], distance, std::uint64_t(plan["seed"]));
    distances.add(distance_row(watch, judge, cold, queries, distance, plan));
    overlaps.add(overlap_row(watch, cold, queries, distance, plan));
    by_method.add(distance_row(watch, judge, methods, queries, distance, plan));
  }
  for (const bool penetrating : {false, true}) {
    for (const double motion : {1e-4, 1e-3}) {
      std::cerr << "sequences, " << motion << " m and rad per step" << std::endl;
      sequence_rows.add(warm_row(watch, shapes, judge, every, motion, penetrating, plan));
    }
  }
  Object plan_text;
  for (const auto& [key, value] : plan.values) plan_text.add(key, value);
  return Object()
      .add("plan", plan_text.text())
      .add("vertices", sizes(shapes))
      .add("distances", distances.text())
      .add("overlaps", overlaps.text())
      .add("methods", by_method.text())
      .add("sequences", sequence_rows.text())
      .add("growth", growth_rows(watch, plan))
      .text();
}

}  // namespace

int main(int count, char** arguments) {
  try {
    std::cout << run(parse(count, arguments)) << std::endl;
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "collision_peers: " << error.what() << std::endl;
    return 1;
  }
}
