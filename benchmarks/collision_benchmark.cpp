#include "stiction/collision/manifold.hpp"
#include "stiction/simulator/simulator.hpp"

#include "scenes/scenes.hpp"
#include "tests/support/random.hpp"

#include <benchmark/benchmark.h>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

using namespace stiction;

namespace {

std::vector<Vec3d> box_corners(const Vec3d& h) {
  std::vector<Vec3d> corners;
  for (int k = 0; k < 8; ++k)
    corners.push_back({k & 1 ? h.x : -h.x, k & 2 ? h.y : -h.y, k & 4 ? h.z : -h.z});
  return corners;
}

Shape shape(int kind) {
  switch (kind) {
    case 0:
      return Shape::half_space();
    case 1:
      return Shape::sphere(0.1);
    case 2:
      return Shape::capsule(0.05, 0.1);
    case 3:
      return Shape::box({0.1, 0.08, 0.12});
    default:
      return Shape::convex_mesh(box_corners({0.1, 0.08, 0.12}));
  }
}

/// Manifolds of random poses near contact; 256 poses are cycled so that the branches are not
/// learnt.
void BM_Manifold(benchmark::State& bench) {
  const Shape a = shape(static_cast<int>(bench.range(0))),
              b = shape(static_cast<int>(bench.range(1)));
  test::Rng rng(1);
  std::vector<Transform> poses;
  for (int k = 0; k < 256; ++k) {
    const double reach = a.bounded() ? 0.2 : 0.12;
    poses.push_back({test::rotation(rng), test::unit_vector(rng) * reach});
  }
  const Transform X_WA = Transform::identity();
  Manifold manifold;
  std::size_t next = 0;
  double points = 0.0;
  for (auto _ : bench) {
    contact_manifold(a, X_WA, b, poses[next++ % poses.size()], 1e-3, manifold);
    benchmark::DoNotOptimize(manifold);
    points += manifold.count;
  }
  bench.counters["points"] = benchmark::Counter(points, benchmark::Counter::kAvgIterations);
}

/// A settled pile of YCB hulls (tests/data/piles), quaternions normalised again after rounding.
State settled(const Scene& scene, int n) {
  std::ifstream file(std::string(STICTION_PILES) + "/ycb_pile_" + std::to_string(n) + ".txt");
  std::vector<double> q;
  for (double x; file >> x;) q.push_back(x);
  for (std::size_t i = 0; i + 6 < q.size(); i += 7) {
    double* x = &q[i] + 3;
    const double l = std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]);
    for (int k = 0; k < 4; ++k) x[k] /= l;
  }
  return make_state(scene, q);
}

/// The collision part of a step (kinematics, broad phase, narrow phase, manifolds) of a pile at
/// rest, warm.
void BM_Pile(benchmark::State& bench) {
  SceneOptions options;
  options.n = static_cast<int>(bench.range(0));
  const Scene scene = make_scene("ycb-pile", options);
  SimulatorSettings settings;
  settings.dt = 2e-3;
  Simulator sim(scene, settings);
  State state = settled(scene, options.n);
  CollisionCounters work = sim.find_contacts(state);
  for (auto _ : bench) work = sim.find_contacts(state);
  using Counter = benchmark::Counter;
  bench.counters["contacts"] = static_cast<double>(work.contacts);
  bench.counters["tested"] = static_cast<double>(work.tested_pairs);
  bench.counters["calls"] = static_cast<double>(work.narrow_phase_calls);
  bench.counters["s_per_contact"] = Counter(static_cast<double>(work.contacts),
                                            Counter::kIsIterationInvariantRate | Counter::kInvert);
}

}  // namespace

BENCHMARK(BM_Pile)->ArgName("bodies")->Arg(50)->Arg(400)->Unit(benchmark::kMicrosecond);

// 0 half-space, 1 sphere, 2 capsule, 3 box, 4 convex mesh of the same box.
BENCHMARK(BM_Manifold)
    ->ArgNames({"a", "b"})
    ->Args({0, 1})
    ->Args({0, 2})
    ->Args({0, 3})
    ->Args({0, 4})
    ->Args({1, 1})
    ->Args({1, 3})
    ->Args({2, 2})
    ->Args({2, 3})
    ->Args({3, 3})
    ->Args({3, 4})
    ->Args({4, 4});

BENCHMARK_MAIN();
