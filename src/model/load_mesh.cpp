#include "model/mesh_file.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <stdexcept>

namespace stiction {
namespace {

/// In lower case, without the dot.
std::string ending(const std::string& path) {
  const std::size_t dot = path.find_last_of('.'), slash = path.find_last_of('/');
  if (dot == std::string::npos || (slash != std::string::npos && dot < slash)) return "";
  std::string result = path.substr(dot + 1);
  std::transform(result.begin(), result.end(), result.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return result;
}

/// Signed tetrahedra about the first vertex, which keeps the terms small for a mesh far from its
/// origin. A mirroring scale turns the surface inside out: the volume is its absolute value.
double enclosed_volume(const MeshFile& mesh) {
  double volume = 0.0;
  const Vec3d o = mesh.vertices[0];
  for (std::size_t i = 0; i < mesh.triangles.size(); i += 3) {
    const Vec3d a = mesh.vertices[mesh.triangles[i]] - o;
    const Vec3d b = mesh.vertices[mesh.triangles[i + 1]] - o;
    const Vec3d c = mesh.vertices[mesh.triangles[i + 2]] - o;
    volume += dot(a, cross(b, c)) / 6.0;
  }
  return std::abs(volume);
}

}  // namespace

MeshFile load_mesh(const std::string& path, const Vec3d& scale) {
  const std::string format = ending(path);
  if (format != "stl" && format != "obj" && format != "dae") {
    throw std::runtime_error(path.substr(0, path.find('\0')) +
                             ": meshes are read from STL, OBJ and DAE files, not from '." + format +
                             "'; convert it, for instance with trimesh or Blender");
  }
  const std::string text = read_text_file(path, kLargestMesh);
  try {
    TriangleSoup soup;
    if (format == "stl") read_stl(text, soup);
    if (format == "obj") read_obj(text, soup);
    if (format == "dae") read_dae(text, soup);
    if (soup.empty()) throw std::runtime_error("the mesh has no triangles");
    MeshFile mesh = soup.finish(scale);
    mesh.volume = enclosed_volume(mesh);
    return mesh;
  } catch (const std::exception& e) {
    throw std::runtime_error(path + ": " + e.what());
  }
}

}  // namespace stiction
