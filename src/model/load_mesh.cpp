#include "stiction/model/robot.hpp"

#include <coal/BVH/BVH_model.h>
#include <coal/mesh_loader/loader.h>

#include <cmath>
#include <stdexcept>

namespace stiction {

MeshFile load_mesh(const std::string& path, const Vec3d& scale) {
  coal::BVHModelPtr_t bvh;
  try {
    coal::MeshLoader loader(coal::BV_AABB);
    bvh = loader.load(path, coal::Vec3s(scale.x, scale.y, scale.z));
  } catch (const std::exception& e) {
    throw std::runtime_error(path + ": " + e.what());
  }
  if (!bvh || !bvh->vertices || !bvh->tri_indices || bvh->vertices->empty()) {
    throw std::runtime_error(path + ": the mesh has no triangles");
  }
  MeshFile mesh;
  for (const coal::Vec3s& p : *bvh->vertices) {
    if (!p.allFinite()) throw std::runtime_error(path + ": a vertex is not finite");
    mesh.vertices.push_back({p.x(), p.y(), p.z()});
  }
  for (const auto& t : *bvh->tri_indices) {
    for (int k = 0; k < 3; ++k) mesh.triangles.push_back(static_cast<int>(t[k]));
  }
  // Signed tetrahedra about the first vertex, which keeps the terms small for a mesh far from its
  // origin. A mirroring scale turns the surface inside out: the volume is its absolute value.
  const Vec3d o = mesh.vertices[0];
  for (std::size_t i = 0; i < mesh.triangles.size(); i += 3) {
    const Vec3d a = mesh.vertices[mesh.triangles[i]] - o;
    const Vec3d b = mesh.vertices[mesh.triangles[i + 1]] - o;
    const Vec3d c = mesh.vertices[mesh.triangles[i + 2]] - o;
    mesh.volume += dot(a, cross(b, c)) / 6.0;
  }
  mesh.volume = std::abs(mesh.volume);
  return mesh;
}

}  // namespace stiction
