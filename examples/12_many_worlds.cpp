// 256 Solo-12 on floors of different friction are pushed: how far do they slide?

#include "stiction/batch/batch.hpp"

#include "scenes/scenes.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

namespace {

constexpr int kWorlds = 256;
constexpr double kPush = 6.0;  // [N]

/// Worlds with these frictions, pushed sideways for 0.3 s and left alone for 0.5 s.
std::unique_ptr<stiction::Batch> slide(const stiction::Scene& scene,
                                       const std::vector<double>& friction) {
  const int worlds = static_cast<int>(friction.size()), nv = scene.nv();
  const int shapes = static_cast<int>(scene.geometries().size());
  stiction::SimulatorSettings settings;
  settings.dt = 1e-3;
  stiction::BatchOptions options;
  options.threads = 2;
  options.configuration = "standing";
  auto batch = std::make_unique<stiction::Batch>(scene, worlds, settings, options);
  std::vector<double> of_shapes;  // of all surfaces of a world
  for (const double mu : friction) of_shapes.insert(of_shapes.end(), shapes, mu);
  batch->assign(stiction::WorldField::kFriction, of_shapes.data());
  double* torque = batch->arrays().torque;  // of a free-flyer: a force in the axes of its body
  for (int w = 0; w < worlds; ++w) torque[w * nv + 1] = kPush;
  batch->step(300);
  for (int w = 0; w < worlds; ++w) torque[w * nv + 1] = 0.0;
  batch->step(500);
  return batch;
}

}  // namespace

int main() {
  const stiction::Scene scene = stiction::make_scene("solo12");
  std::vector<double> friction(kWorlds);
  for (int w = 0; w < kWorlds; ++w) friction[w] = 0.05 + 0.75 * w / (kWorlds - 1);
  const auto batch = slide(scene, friction);
  const stiction::BatchArrays& a = batch->arrays();

  const int nq = scene.nq();
  for (int w = 0; w < kWorlds; w += 51)
    std::printf("friction %.2f: slid by %.1f mm\n", friction[w], 1e3 * a.q[w * nq + 1]);
  const double worst = *std::max_element(a.certificate, a.certificate + kWorlds);
  std::printf("worst certificate: %.0e\n", worst);

  const auto alone = slide(scene, {friction[17]});
  const bool same = std::equal(alone->arrays().q, alone->arrays().q + nq, a.q + 17 * nq);
  std::printf("world 17 alone is bit for bit the same: %s\n", same ? "yes" : "no");
  return same && worst <= 1e-8 ? 0 : 1;
}
