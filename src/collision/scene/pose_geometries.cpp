#include "collision/scene/pose_geometries.hpp"

#include <algorithm>
#include <cstring>

namespace stiction {

double half_pair_offset(const Parameters& p) {
  double largest = 0.0;
  for (const Material& m : p.pair_material) largest = std::max(largest, m.rest_offset);
  return 0.5 * largest;
}

bool surface_moves(const Parameters& p, int geometry) {
  const Twist &own = p.geometry_velocity[geometry], &belt = p.surface_velocity[geometry];
  const auto zero = [](const Vec3d& x) { return squared_norm(x) == 0.0; };
  return !zero(own.linear) || !zero(own.angular) || !zero(belt.linear) || !zero(belt.angular);
}

/// Of the middle of a geometry that the user moves, beside its body; R_WG.
static Motion<double> own_velocity(const Parameters& p,
                                   int geometry,
                                   const Mat3d& R,
                                   const Vec3d& centre) {
  const Twist& own = p.geometry_velocity[geometry];
  return {R * (own.linear + cross(own.angular, centre)), R * own.angular};
}

void pose_geometries(const Scene& scene,
                     const Parameters& p,
                     const DynamicsWorkspace& dynamics,
                     const CollisionSettings& settings,
                     double dt,
                     CollisionWorkspace& work) {
  const std::vector<Geometry>& geometries = scene.geometries();
  const double least_offset = half_pair_offset(p);
  const double fall = dt * norm(p.gravity);  // [m/s] gained in this step by a body that is let go
  for (std::size_t g = 0; g < geometries.size(); ++g) {
    const int body = geometries[g].body;
    const Vec3d& size = p.geometry_size[g];
    if (std::memcmp(&work.shapes[g].size, &size, sizeof size) != 0)
      work.take_size(static_cast<int>(g), size);
    if (body < 0) {
      work.poses[g] = p.geometry_placement[g];
      work.reach[g] = 0.5 * settings.margin;
    } else {
      const int t = scene.tree_of_body(body);
      const TreeData<double>& data = dynamics.trees[t];
      const int local = body - scene.trees()[t].body_offset;
      const Transform X_RG = data.X_RB[local] * p.geometry_placement[g];
      work.poses[g] = data.X_WR * X_RG;
      // Speed bound of any of its points: |v(centre)| + |w| radius.
      const Motion<double>& V = data.V[local];
      const Vec3d c = X_RG * work.centre[g];
      work.linear[g] = data.X_WR.R * (V.linear + cross(V.angular, c));
      work.angular[g] = data.X_WR.R * V.angular;
      const double speed = norm(work.linear[g]) + norm(work.angular[g]) * work.radius[g];
      work.reach[g] = std::max(0.5 * settings.margin, dt * (speed + fall));
    }
    work.own[g] = own_velocity(p, static_cast<int>(g), work.poses[g].R, work.centre[g]);
    const double radius = work.shapes[g].bounded() ? work.radius[g] : 0.0;
    work.reach[g] += dt * (norm(work.own[g].linear) + norm(work.own[g].angular) * radius);
    if (work.shapes[g].bounded()) {
      const double offset = std::max(least_offset, p.material[g].rest_offset);
      work.boxes[g] = grown(bounding_box(work.shapes[g], work.poses[g]), work.reach[g] + offset);
    }
  }
}

}  // namespace stiction
