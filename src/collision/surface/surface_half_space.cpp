#include "collision/manifold/manifold_workspace.hpp"
#include "collision/surface/surface_manifold.hpp"

// The corners of a surface within the margin of a plane.

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
    for (int v = 0; v < surface.vertices(); ++v) offer(v);
  }
  std::sort(work.vertices.begin(), work.vertices.end());
  work.vertices.erase(std::unique(work.vertices.begin(), work.vertices.end()), work.vertices.end());
  const auto append = [&](const Vec3d& p, int number) {
    work.points.push_back({-up, p, dot(up, p - X_SH.p), std::uint32_t(number), 0});
  };
  for (const int v : work.vertices) append(surface.vertex(v), v);
  if (surface.mesh != nullptr) return;
  const HeightField& f = *surface.field;
  for (int k = 0; k < 4; ++k) {  // the solid ends at its base
    const Vec3d p{k & 1 ? f.x0 : -f.x0, k & 2 ? f.y0 : -f.y0, f.base};
    if (dot(up, p) <= level) append(p, surface.vertices() + k);
  }
}

}  // namespace stiction::detail
