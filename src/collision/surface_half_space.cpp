#include "surface_manifold.hpp"

// The vertices of a surface within the margin of a plane.

namespace stiction::detail {

void half_space_on_surface(const Shape& s,
                           const Transform& X_SH,
                           double margin,
                           ManifoldWorkspace& work) {
  const Surface surface(s);
  const Vec3d& up = X_SH.R.c2;
  const double level = dot(up, X_SH.p) + margin;
  work.vertices.clear();
  const auto offer = [&](int vertex) {
    if (dot(up, surface.vertex(vertex)) <= level) work.vertices.push_back(vertex);
  };
  if (surface.mesh != nullptr) {
    const auto lowest = [&](const Aabb& b) {
      double z = 0.0;
      for (int k = 0; k < 3; ++k) z += up[k] * (up[k] > 0.0 ? b.lower[k] : b.upper[k]);
      return z;
    };
    const auto reaches = [&](const Aabb& b) { return lowest(b) <= level; };
    const auto offer_corners = [&](int t) {
      for (int k = 0; k < 3; ++k) offer(surface.mesh->triangles[3 * t + k]);
    };
    work.boxes_tested = surface.mesh->bvh.descend(reaches, offer_corners);
  } else {
    for (int v = 0; v < surface.field->nx * surface.field->ny; ++v) offer(v);
  }
  std::sort(work.vertices.begin(), work.vertices.end());
  work.vertices.erase(std::unique(work.vertices.begin(), work.vertices.end()), work.vertices.end());
  for (const int v : work.vertices) {
    const Vec3d p = surface.vertex(v);
    work.points.push_back({-up, p, dot(up, p - X_SH.p), std::uint32_t(v), 0});
  }
}

}  // namespace stiction::detail
