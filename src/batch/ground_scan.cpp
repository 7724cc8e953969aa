#include "batch/ground_scan.hpp"

#include "stiction/geometry/height_field.hpp"

#include "collision/rays/ray_shapes.hpp"
#include "math/number_text.hpp"

#include <cmath>
#include <stdexcept>

namespace stiction {
namespace {

constexpr double kUpright = 1e-9;  ///< a frame's x axis closer to the vertical has no heading

bool upright(const Transform& X) { return X.R.c2.x == 0.0 && X.R.c2.y == 0.0 && X.R.c2.z == 1.0; }

HeightScanSettings checked(const Scene& scene, HeightScanSettings s) {
  const auto refuse = [](const std::string& text) { throw std::invalid_argument("scan." + text); };
  if (s.points.empty() || s.points.size() % 2 != 0) refuse("points: must be pairs of x and y");
  for (std::size_t i = 0; i < s.points.size(); ++i) {
    if (!std::isfinite(s.points[i]))
      refuse("points[" + std::to_string(i / 2) + ", " + std::to_string(i % 2) +
             "] = " + number_text(s.points[i]) + ": must be finite");
  }
  if (!(s.above >= 0.0 && s.above < kInfinity))
    refuse("above = " + number_text(s.above) + ": must be >= 0 and finite [m]");
  const int all = static_cast<int>(scene.geometries().size());
  for (const int g : s.ground) {
    if (g < 0 || g >= all || scene.geometries()[g].body >= 0)
      refuse("ground: geometry " + std::to_string(g) + " is none of the world");
  }
  if (s.ground.empty()) {
    for (int g = 0; g < all; ++g) {
      if (scene.geometries()[g].body < 0) s.ground.push_back(g);
    }
  }
  if (s.ground.empty()) refuse("ground: the scene has no geometry of the world");
  return s;
}

}  // namespace

GroundScan::GroundScan(const Scene& scene, const HeightScanSettings& settings)
    : scene_(&scene),
      settings_(checked(scene, settings)),
      shared_(scene, scene.parameters, settings_.ground) {}

GroundScan::Ground::Ground(const Scene& scene,
                           const Parameters& p,
                           const std::vector<int>& geometries) {
  std::vector<Aabb> boxes;
  for (const int g : geometries) {
    const int k = static_cast<int>(shapes.size());
    shapes.push_back(scene.shape(p, g));
    poses.push_back(p.geometry_placement[g]);
    if (!shapes[k].bounded()) {
      unbounded.push_back(k);
      continue;
    }
    bounded.push_back(k);
    boxes.push_back(bounding_box(shapes[k], poses[k]));
  }
  tree = Bvh::build(boxes);
}

double GroundScan::Ground::ray(const Vec3d& origin) const {
  const Vec3d down{0.0, 0.0, -1.0};
  double most = kInfinity;
  const auto offer = [&](int k) {
    const Transform& X = poses[k];
    const Vec3d o = transpose_times(X.R, origin - X.p);
    RayHit hit;
    if (shapes[k].field != nullptr && upright(X)) {  // the cell, where a ray would search for it
      const double length = o.z - shapes[k].field->height(o.x, o.y);
      if (length >= 0.0 && length < most) most = length;
    } else if (detail::ray_shape(shapes[k], o, transpose_times(X.R, down), most, hit)) {
      most = hit.distance;
    }
  };
  for (const int k : unbounded) offer(k);
  tree.descend([&](const Aabb& box) { return detail::ray_meets_box(box, origin, down, most); },
               [&](int n) { offer(bounded[n]); });
  return most;
}

void GroundScan::heights(const Parameters* own, const Transform& X_WF, double* out) const {
  const Vec3d &x = X_WF.R.c0, &p = X_WF.p;
  const double flat = std::sqrt(x.x * x.x + x.y * x.y);
  if (!(std::abs(flat + p.x + p.y + p.z) < kInfinity)) {
    std::fill_n(out, size(), std::numeric_limits<double>::quiet_NaN());
    return;
  }
  const double c = flat > kUpright ? x.x / flat : 1.0, s = flat > kUpright ? x.y / flat : 0.0;
  const auto scan = [&](const Ground& ground) {
    for (int k = 0; k < size(); ++k) {
      const double a = settings_.points[2 * k], b = settings_.points[2 * k + 1];
      const double length =
          ground.ray({p.x + (c * a - s * b), p.y + (s * a + c * b), p.z + settings_.above});
      out[k] = length < kInfinity ? length - settings_.above : settings_.miss;
    }
  };
  own == nullptr ? scan(shared_) : scan(Ground(*scene_, *own, settings_.ground));
}

}  // namespace stiction
