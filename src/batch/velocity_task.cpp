#include "stiction/batch/velocity_task.hpp"

#include "stiction/batch/counted_random.hpp"
#include "stiction/math/lanes.hpp"

#include "math/elementary.hpp"
#include "model/joint.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace stiction {
namespace {

using Pair = Pack<2>;
constexpr int kRootQ = 7, kRootV = 6, kMostFeet = 8, kMostJoints = 64;

/// The world's z axis in the axes of a free-flyer; `a` to `w`: its quaternion.
template <class Real>
Vec3<Real> up_in_body(Real a, Real b, Real c, Real w) {
  const Real two(2.0), tx = -two * b, ty = two * a;
  return {w * tx + c * ty, w * ty - c * tx, Real(1.0) + b * tx - a * ty};
}
Vec3d up_in_body(const double* q) { return up_in_body(q[3], q[4], q[5], q[6]); }

/// In [0, 1) of x >= 0.
double wrapped(double x) { return x - std::floor(x); }

}  // namespace

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
  for (const std::string& name : settings.feet) feet_.push_back(foot_of(scene, name));
}

VelocityTask::Foot VelocityTask::foot_of(const Scene& scene, const std::string& name) const {
  const Tree& tree = scene.trees()[0];
  const Parameters& p = scene.parameters;
  const int g = scene.geometry(name);
  const Geometry& geometry = scene.geometries()[g];
  if (geometry.body < 0 || geometry.shape.type != ShapeType::kSphere)
    throw std::invalid_argument("foot \"" + name + "\": must be a sphere of a moving body");
  Foot foot{p.geometry_placement[g].p, p.geometry_size[g].x, {}};
  for (int b = geometry.body; b > 0; b = tree.parent[b]) {
    const JointFacts& joint = joint_facts(tree.joint[b]);
    if (joint.nq != 1 || joint.linear_dofs > 0)
      throw std::invalid_argument("foot \"" + name + "\": its chain must have revolute joints");
    foot.hinges.push_back({tree.q_index[b], p.axis[b], p.placement[b]});
  }
  return foot;
}

void VelocityTask::heights(const double* first, const double* second, double (*out)[2]) const {
  const auto of = [&](int k) { return Pair::from(Pair::Vector{first[k], second[k]}); };
  const auto all = [](double x) { return Pair(x); };
  const auto vec = [&](const Vec3d& x) { return Vec3<Pair>{all(x.x), all(x.y), all(x.z)}; };
  const Vec3<Pair> up = up_in_body(of(3), of(4), of(5), of(6));
  const Pair z = of(2), one(1.0);
  for (std::size_t k = 0; k < feet_.size(); ++k) {
    Vec3<Pair> p = vec(feet_[k].point);
    for (const Hinge& hinge : feet_[k].hinges) {
      Pair s, c;
      sincos(of(hinge.q), s, c);
      const Vec3<Pair> a = vec(hinge.axis);
      p = p * c + cross(a, p) * s + a * ((one - c) * dot(a, p));
      const Mat3d& R = hinge.placement.R;
      const Vec3<Pair> x = vec(R.column(0)), y = vec(R.column(1)), w = vec(R.column(2));
      p = x * p.x + y * p.y + w * p.z + vec(hinge.placement.p);
    }
    const Pair height = z + dot(up, p) - all(feet_[k].radius);
    out[k][0] = height.v[0];
    out[k][1] = height.v[1];
  }
}

double VelocityTask::clock(const VelocityTaskArrays& of, std::ptrdiff_t world) const {
  const double time = static_cast<double>(of.steps[world]) * settings_.control_dt;
  return wrapped(of.phase[world] + time * settings_.clock_frequency);
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
    const Vec3d up = up_in_body(q);
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
         (1.0 - up_in_body(q).z) - 0.01 * change;
}

void VelocityTask::judge(const VelocityTaskArrays& of, double* rewards, std::uint8_t* ended) const {
  const int n = joints(), nq = kRootQ + n, nv = kRootV + n;
  const BatchArrays& rows = batch_.arrays();
  batch_.each_range([&](int from, int to) {
    double height[kMostFeet][2];
    for (std::ptrdiff_t world = from; world < to; ++world) {
      const double* q = rows.q + world * nq;
      const int second = static_cast<int>(world - from) % 2;
      if (second == 0) heights(q, world + 1 < to ? q + nq : q, height);
      const double now = clock(of, world);
      int stance = 0;
      for (int k = 0; k < num_feet(); ++k) {
        const bool stands = wrapped(now + settings_.stance_phase[k]) < 0.5;
        stance += stands == (height[k][second] < settings_.touching);
      }
      rewards[world] = reward(of, world, q, rows.v + world * nv, stance);
      ended[world] = q[2] < 0.12 || up_in_body(q).z < 0.5;
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
    double x[5 + kMostJoints], height[kMostFeet][2], lowest = kInfinity;
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
    heights(row, row, height);
    for (int k = 0; k < num_feet(); ++k) lowest = std::min(lowest, height[k][0]);
    row[2] -= lowest;
  });
}

}  // namespace stiction
