#include "stiction/batch/velocity_task.hpp"

#include "stiction/batch/counted_random.hpp"

#include "batch/foot_heights_impl.hpp"
#include "math/elementary.hpp"
#include "model/joint.hpp"

#include <algorithm>
#include <stdexcept>

namespace stiction {
namespace {

constexpr int kRootQ = 7, kRootV = 6, kMostFeet = 8, kMostJoints = 64;
constexpr int kChunk = 64;  ///< worlds whose feet are looked at together
constexpr int kVaryStream = 1;

Vec3d up_of(const double* q) { return up_in_body(q[3], q[4], q[5], q[6]); }

/// In [0, 1) of x in [0, 2^53]; std::floor is a call without SSE4.
double wrapped(double x) { return x - static_cast<double>(static_cast<std::int64_t>(x)); }

}  // namespace

struct VelocityTask::Feet {
  std::vector<FootChain> chains;
  std::vector<std::vector<FootHinge>> hinges;
  FootHeights kernel = foot_heights();

  void add(const Scene& scene, const std::string& name);
  void join() {
    for (std::size_t k = 0; k < chains.size(); ++k) chains[k].hinges = hinges[k].data();
  }
  /// Of rows of q, to out [worlds, feet].
  void heights(const double* q, int nq, int worlds, double* out) const {
    kernel(chains.data(), static_cast<int>(chains.size()), q, nq, worlds, out);
  }
};

void VelocityTask::Feet::add(const Scene& scene, const std::string& name) {
  const Tree& tree = scene.trees()[0];
  const Parameters& p = scene.parameters;
  const int g = scene.geometry(name);
  const Geometry& geometry = scene.geometries()[g];
  if (geometry.body < 0 || geometry.shape.type != ShapeType::kSphere)
    throw std::invalid_argument("foot \"" + name + "\": must be a sphere of a moving body");
  std::vector<FootHinge> chain;
  for (int b = geometry.body; b > 0; b = tree.parent[b]) {
    const JointFacts& joint = joint_facts(tree.joint[b]);
    if (joint.nq != 1 || joint.linear_dofs > 0)
      throw std::invalid_argument("foot \"" + name + "\": its chain must have revolute joints");
    FootHinge hinge{tree.q_index[b], {}, {}, {}};
    for (int k = 0; k < 3; ++k) {
      hinge.axis[k] = p.axis[b][k];
      hinge.p[k] = p.placement[b].p[k];
      for (int j = 0; j < 3; ++j) hinge.R[3 * k + j] = p.placement[b].R.column(k)[j];
    }
    chain.push_back(hinge);
  }
  const Vec3d at = p.geometry_placement[g].p;
  chains.push_back(
      {{at.x, at.y, at.z}, p.geometry_size[g].x, nullptr, static_cast<int>(chain.size())});
  hinges.push_back(std::move(chain));
}

VelocityTask::VelocityTask(Batch& batch, const VelocityTaskSettings& settings)
    : batch_(batch), settings_(settings) {
  const Scene& scene = batch.scene();
  const std::vector<Tree>& trees = scene.trees();
  if (trees.size() != 1 || !trees[0].free_root)
    throw std::invalid_argument(
        "the scene must have one robot with a free-flyer, and nothing else");
  if (scene.nv() - kRootV > kMostJoints || scene.nq() - kRootQ != scene.nv() - kRootV)
    throw std::invalid_argument("joints must be revolute, " + std::to_string(kMostJoints) +
                                " at most");
  if (settings.feet.empty() || settings.feet.size() > kMostFeet ||
      settings.feet.size() != settings.stance_phase.size())
    throw std::invalid_argument("feet and stance_phase must be of one length of 1 to " +
                                std::to_string(kMostFeet));
  const auto at = scene.configurations().find(settings.configuration);
  if (at == scene.configurations().end())
    throw std::invalid_argument("configuration \"" + settings.configuration + "\" is unknown");
  standing_ = at->second;
  auto feet = std::make_shared<Feet>();
  for (const std::string& name : settings.feet) feet->add(scene, name);
  feet->join();
  feet_ = std::move(feet);
}

double VelocityTask::clock(const VelocityTaskArrays& of, std::ptrdiff_t world) const {
  const double time = static_cast<double>(of.steps[world]) * settings_.control_dt;
  return wrapped(of.phase[world] + time * settings_.clock_frequency);
}

void VelocityTask::act(const VelocityTaskArrays& of) const {
  const int n = joints(), nv = kRootV + n;
  double* targets = batch_.arrays().position_target;
  batch_.each_world(nullptr, [&](std::ptrdiff_t world) {
    double* target = targets + world * nv + kRootV;
    const double* action = of.action + world * n;
    for (int k = 0; k < n; ++k) target[k] = action[k] * settings_.reach + standing_[kRootQ + k];
  });
}

void VelocityTask::observe(const VelocityTaskArrays& of,
                           const std::uint8_t* mask,
                           float* out) const {
  const int n = joints(), nq = kRootQ + n, nv = kRootV + n, size = observation_size();
  const BatchArrays& rows = batch_.arrays();
  batch_.each_world(mask, [&](std::ptrdiff_t world) {
    const double *q = rows.q + world * nq, *v = rows.v + world * nv;
    const double *command = of.command + 3 * world, *action = of.action + n * world;
    float* x = out + world * size;
    const auto put = [&x](double value) { *x++ = static_cast<float>(value); };
    for (int k = 0; k < kRootV; ++k) put(v[k]);
    const Vec3d up = up_of(q);
    for (int k = 0; k < 3; ++k) put(up[k]);
    for (int k = 0; k < 3; ++k) put(command[k]);
    for (int k = kRootQ; k < nq; ++k) put(q[k] - standing_[k]);
    for (int k = kRootV; k < nv; ++k) put(0.1 * v[k]);
    for (int k = 0; k < n; ++k) put(action[k]);
    double s, c;
    sincos(2.0 * kPi * clock(of, world), s, c);
    put(s);
    put(c);
  });
}

double VelocityTask::reward(const VelocityTaskArrays& of,
                            std::ptrdiff_t world,
                            const double* q,
                            const double* v,
                            int stance) const {
  const double* command = of.command + 3 * world;
  const double ex = v[0] - command[0], ey = v[1] - command[1], turn = v[5] - command[2];
  const int n = joints();
  const double* action = of.action + n * world;
  double* before = of.before + n * world;
  double change = 0.0;
  for (int k = 0; k < n; ++k) {
    const double d = action[k] - before[k];
    change += d * d;
    before[k] = action[k];
  }
  return exponential(-20.0 * (ex * ex + ey * ey)) + 0.5 * exponential(-5.0 * (turn * turn)) +
         0.15 * stance - 2.0 * (v[2] * v[2]) - 0.05 * (v[3] * v[3] + v[4] * v[4]) -
         (1.0 - up_of(q).z) - 0.01 * change;
}

void VelocityTask::judge(const VelocityTaskArrays& of, double* rewards, std::uint8_t* ended) const {
  const int n = joints(), nq = kRootQ + n, nv = kRootV + n;
  const BatchArrays& rows = batch_.arrays();
  batch_.each_range([&](int from, int to) {
    double heights[kChunk * kMostFeet];
    for (std::ptrdiff_t world = from; world < to; ++world) {
      const double* q = rows.q + world * nq;
      const int at = static_cast<int>(world - from) % kChunk;
      if (at == 0) feet_->heights(q, nq, std::min(kChunk, to - static_cast<int>(world)), heights);
      const double* height = heights + at * num_feet();
      const double now = clock(of, world);
      int stance = 0;
      for (int k = 0; k < num_feet(); ++k) {
        const bool stands = wrapped(now + settings_.stance_phase[k]) < 0.5;
        stance += stands == (height[k] < settings_.touching);
      }
      rewards[world] = reward(of, world, q, rows.v + world * nv, stance);
      ended[world] = q[2] < 0.12 || up_of(q).z < 0.5;
    }
  });
}

void VelocityTask::start(const std::uint8_t* mask,
                         std::uint64_t seed,
                         const std::int64_t* episodes,
                         const VelocityTaskArrays& of,
                         double* q) const {
  const int n = joints(), nq = kRootQ + n;
  batch_.each_world(mask, [&](std::ptrdiff_t world) {
    double x[5 + kMostJoints], height[kMostFeet];
    counted_uniform(
        {seed, static_cast<std::uint32_t>(world), static_cast<std::uint32_t>(episodes[world])},
        5 + n,
        x);
    for (int k = 0; k < 3; ++k)
      of.command[3 * world + k] = settings_.command_low[k] + settings_.command_span[k] * x[k];
    of.phase[world] = x[3];
    std::fill_n(of.before + n * world, n, 0.0);
    double* row = std::copy_n(standing_.data(), nq, q + nq * world) - nq;
    sincos(kPi * x[4], row[5], row[6]);
    for (int k = 0; k < n; ++k) row[kRootQ + k] += 0.2 * x[5 + k] - 0.1;
    feet_->heights(row, nq, 1, height);
    row[2] -= *std::min_element(height, height + num_feet());
  });
}

void VelocityTask::vary(const std::uint8_t* mask,
                        std::uint64_t seed,
                        const std::int64_t* episodes) {
  const int geometries = world_field_size(WorldField::kFriction, batch_.scene());
  const int bodies = world_field_size(WorldField::kMassScale, batch_.scene());
  const std::size_t n = batch_.worlds();
  if (friction_ == nullptr) {  // rows that are never varied stay untouched pages
    friction_ = std::make_unique_for_overwrite<double[]>(n * geometries);
    mass_ = std::make_unique_for_overwrite<double[]>(n * bodies);
  }
  batch_.each_world(mask, [&](std::ptrdiff_t world) {
    double* mass = mass_.get() + world * bodies;
    double x[2 + kMostJoints];
    counted_uniform({seed,
                     static_cast<std::uint32_t>(world),
                     static_cast<std::uint32_t>(episodes[world]),
                     kVaryStream},
                    1 + bodies,
                    x);
    std::fill_n(friction_.get() + world * geometries,
                geometries,
                settings_.friction_low + settings_.friction_span * x[0]);
    for (int k = 0; k < bodies; ++k) mass[k] = settings_.mass_low + settings_.mass_span * x[1 + k];
  });
  batch_.assign(WorldField::kFriction, friction_.get(), mask);
  batch_.assign(WorldField::kMassScale, mass_.get(), mask);
}

}  // namespace stiction
