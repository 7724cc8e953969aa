#include "model/collision_shapes.hpp"

#include "stiction/geometry/triangle_mesh.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace stiction {
namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

std::vector<fs::path> split_path_list(const char* variable) {
  std::vector<fs::path> result;
  const char* value = std::getenv(variable);
  std::istringstream list(value ? value : "");
  for (std::string item; std::getline(list, item, ':');) {
    if (!item.empty()) result.push_back(item);
  }
  return result;
}

// Where package://package/rest may lie, best first.
std::vector<fs::path> package_candidates(const std::string& package,
                                         const std::string& rest,
                                         const std::string& urdf_path,
                                         const std::vector<std::string>& package_dirs) {
  std::vector<fs::path> result;
  const auto add = [&](const fs::path& folder) {
    result.push_back(folder / package / rest);
    if (folder.filename() == package) result.push_back(folder / rest);
  };
  for (const std::string& dir : package_dirs) {
    const fs::path folder(dir);
    add(folder.has_filename() ? folder : folder.parent_path());
  }
  const fs::path start = fs::absolute(urdf_path).lexically_normal().parent_path();
  for (fs::path folder = start;; folder = folder.parent_path()) {
    add(folder);
    if (folder == folder.parent_path()) break;
  }
  for (const fs::path& folder : split_path_list("ROS_PACKAGE_PATH")) add(folder);
  for (const fs::path& folder : split_path_list("AMENT_PREFIX_PATH")) add(folder / "share");
  return result;
}

std::string three_digits(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", x);
  return text;
}

// `what`: stands for the mesh, with the volume `hull` [m^3].
std::string volume_note(double hull, double mesh, const std::string& what) {
  // An open or badly oriented surface can have any signed volume; below a thousandth of the hull it
  // says nothing.
  if (mesh < 1e-3 * hull) return "the mesh is not a closed surface, its volume is unknown";
  return what + " volume / mesh volume = " + three_digits(hull / mesh);
}

const char* failure(CollisionMeshes wanted) {
  if (wanted == CollisionMeshes::kExact) return "cannot be used: ";
  return wanted == CollisionMeshes::kHull ? "has no convex hull: " : "cannot be decomposed: ";
}

}  // namespace

std::string resolve_mesh(const std::string& uri,
                         const std::string& urdf_path,
                         const std::vector<std::string>& package_dirs,
                         std::vector<std::string>& tried) {
  std::vector<fs::path> candidates;
  const std::size_t scheme_end = uri.find("://");
  const std::string scheme = scheme_end == std::string::npos ? "" : uri.substr(0, scheme_end);
  const std::string rest = scheme.empty() ? uri : uri.substr(scheme_end + 3);
  if (scheme == "package" || scheme == "model") {
    const std::size_t slash = rest.find('/');
    const std::string package = rest.substr(0, slash);
    const std::string inside = slash == std::string::npos ? "" : rest.substr(slash + 1);
    candidates = package_candidates(package, inside, urdf_path, package_dirs);
  } else if (scheme.empty() || scheme == "file") {
    const fs::path path(rest);
    candidates.push_back(path);
    if (path.is_relative()) {
      candidates.front() = fs::absolute(urdf_path).parent_path() / path;
      for (const std::string& dir : package_dirs) candidates.push_back(fs::path(dir) / path);
    }
  }
  for (const fs::path& candidate : candidates) {
    tried.push_back(candidate.lexically_normal().string());
    if (is_file(candidate)) return tried.back();
  }
  return "";
}

// Path of the mesh; an error lists where it was looked for.
std::string ShapeBuilder::find_mesh(const UrdfShape& source, const std::string& head) {
  std::vector<std::string> tried;
  const std::string path = resolve_mesh(source.mesh, file_.name(), options_.package_dirs, tried);
  if (!path.empty()) return path;
  std::string list;
  for (std::size_t i = 0; i < tried.size() && i < 4; ++i) list += (i ? ", " : "") + tried[i];
  if (tried.size() > 4) list += ", and " + std::to_string(tried.size() - 4) + " more";
  file_.fail(source.line,
             head + "is missing (tried " + (list.empty() ? "nothing" : list) +
                 "); set package_dirs to the folder that holds the package");
}

Shape ShapeBuilder::primitive(const UrdfShape& source, const std::string& link) {
  const Vec3d& s = source.size;
  try {
    switch (source.kind) {
      case UrdfShape::Kind::kSphere:
        return Shape::sphere(s.x);
      case UrdfShape::Kind::kBox:
        return Shape::box(s * 0.5);
      case UrdfShape::Kind::kCapsule:
        return Shape::capsule(s.x, 0.5 * s.y);
      case UrdfShape::Kind::kCylinder:
        return Shape::cylinder(s.x, 0.5 * s.y);
      case UrdfShape::Kind::kMesh:
        break;
    }
  } catch (const std::invalid_argument& e) {  // sizes too small or too large to compute with
    file_.fail(source.line, "link '" + link + "': " + e.what());
  }
  throw std::logic_error("primitive: a mesh is none");
}

ShapeBuilder::Parts ShapeBuilder::hull_of(const MeshFile& mesh) {
  const Shape hull = Shape::convex_mesh(mesh.vertices);
  // Convex but for rounding and bevels: nothing is lost.
  const double excess = hull.mesh->volume - mesh.volume;
  if (std::abs(excess) <= 0.01 * mesh.volume) return {{hull}, ""};
  return {{hull},
          "is replaced by its convex hull, " + volume_note(hull.mesh->volume, mesh.volume, "hull")};
}

// A mirroring scale, or a careless exporter, turns a closed surface inside out.
ShapeBuilder::Parts ShapeBuilder::exact_mesh(const MeshFile& mesh) {
  Shape shape = Shape::triangle_mesh(mesh.vertices, mesh.triangles, true);
  if (shape.surface->closed && shape.surface->volume < 0.0) {
    std::vector<int> turned = mesh.triangles;
    for (std::size_t i = 0; i < turned.size(); i += 3) std::swap(turned[i], turned[i + 1]);
    shape = Shape::triangle_mesh(mesh.vertices, turned, true);
  }
  if (shape.surface->closed) return {{shape}, ""};
  return {{shape}, "is not a closed surface: it stops only what comes from outside"};
}

ShapeBuilder::Parts ShapeBuilder::decomposed_mesh(const MeshFile& mesh) {
  if (!options_.decompose) {
    throw std::invalid_argument("collision_meshes = decompose needs LoadOptions::decompose");
  }
  Parts parts;
  double volume = 0.0;
  for (const std::vector<Vec3d>& points : options_.decompose(mesh.vertices, mesh.triangles)) {
    parts.shapes.push_back(Shape::convex_mesh(points));
    volume += parts.shapes.back().mesh->volume;
  }
  parts.note = "is replaced by " + std::to_string(parts.shapes.size()) + " convex parts, " +
               volume_note(volume, mesh.volume, "parts");
  return parts;
}

ShapeBuilder::Parts ShapeBuilder::parts_of(const MeshFile& mesh) {
  switch (options_.collision_meshes) {
    case CollisionMeshes::kExact:
      return exact_mesh(mesh);
    case CollisionMeshes::kDecompose:
      return decomposed_mesh(mesh);
    case CollisionMeshes::kHull:
      break;
  }
  return hull_of(mesh);
}

std::vector<Shape> ShapeBuilder::build(const UrdfShape& source, const std::string& link) {
  if (source.kind != UrdfShape::Kind::kMesh) return {primitive(source, link)};
  const Vec3d& s = source.size;
  const std::string file = source.mesh.substr(source.mesh.find_last_of('/') + 1);
  const std::string head = "link '" + link + "': collision mesh '" + file + "' ";
  const std::string key =
      source.mesh + " " + format_number(s.x) + " " + format_number(s.y) + " " + format_number(s.z);
  auto found = meshes_.find(key);
  if (found == meshes_.end()) {
    const std::string path = find_mesh(source, head);
    try {
      found = meshes_.emplace(key, parts_of(load_mesh(path, s))).first;
    } catch (const std::exception& e) {
      file_.fail(source.line, head + failure(options_.collision_meshes) + e.what());
    }
  }
  if (!found->second.note.empty()) file_.note_mesh(source.line, head + found->second.note);
  return found->second.shapes;
}

}  // namespace stiction
