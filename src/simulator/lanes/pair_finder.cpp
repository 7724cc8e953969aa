#include "simulator/lanes/pair_finder.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace stiction {
namespace {

Vec3d vector_of(const double* x) { return {x[0], x[1], x[2]}; }

}  // namespace

PairFinder::PairFinder(const Scene& scene, const SimulatorSettings& settings)
    : scene_(&scene), settings_(settings.collision), dt_(settings.dt) {
  work_.resize(scene);
}

void PairFinder::place(int geometry, const LaneShape& shape) {
  const double* pose = shape.pose;
  work_.poses[geometry] = {{vector_of(pose), vector_of(pose + 3), vector_of(pose + 6)},
                           vector_of(pose + 9)};
  work_.linear[geometry] = vector_of(shape.linear);
  work_.angular[geometry] = vector_of(shape.angular);
  work_.reach[geometry] = shape.reach;
  const Vec3d size = vector_of(shape.size);
  if (std::memcmp(&work_.shapes[geometry].size, &size, sizeof size) != 0)
    work_.take_size(geometry, size);
}

int PairFinder::find(const LanePairQuery& query, LanePairPoint* out, int most) {
  const auto finite = [](const LaneShape& s) {
    return std::all_of(s.pose, s.pose + 12, [](double x) { return std::isfinite(x); }) &&
           std::isfinite(s.reach);
  };
  if (!finite(query.a) || !finite(query.b)) return -1;
  place(query.geometry_a, query.a);
  place(query.geometry_b, query.b);
  const double near = contact_target(settings_.margin, dt_, query.gravity);
  find_pair_points(
      *scene_, query.geometry_a, query.geometry_b, settings_, dt_, near, query.rest_offset, work_);
  const int count = static_cast<int>(work_.points.size());
  if (count > most) return -1;
  for (int k = 0; k < count; ++k) {
    const PairPoint& p = work_.points[k];
    out[k] = {{p.position.x, p.position.y, p.position.z},
              {p.normal.x, p.normal.y, p.normal.z},
              p.distance,
              static_cast<double>(p.feature)};
  }
  return count;
}

int PairFinder::call(void* finder, const LanePairQuery& query, LanePairPoint* out, int most) {
  return static_cast<PairFinder*>(finder)->find(query, out, most);
}

}  // namespace stiction
