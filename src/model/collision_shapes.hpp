#pragma once

#include "urdf_document.hpp"

#include <map>
#include <string>
#include <vector>

namespace stiction {

/// URDF collision geometry -> convex shapes. Keeps the hulls of one file, meshes are often shared.
class ShapeBuilder {
 public:
  ShapeBuilder(XmlFile& file, const LoadOptions& options) : file_(file), options_(options) {}
  /// Errors name the file and line; approximations are warnings.
  Shape build(const UrdfShape& source, const std::string& link);
  /// The same; a mesh as LoadOptions::collision_meshes says, which may be several shapes.
  std::vector<Shape> build_all(const UrdfShape& source, const std::string& link);

 private:
  Shape primitive(const UrdfShape& source, const std::string& link);
  Shape mesh_hull(const UrdfShape& source, const std::string& link);
  std::string find_mesh(const UrdfShape& source, const std::string& head);

  XmlFile& file_;
  const LoadOptions& options_;
  struct Hull {
    Shape shape;
    std::string note;
  };
  std::map<std::string, Hull> hulls_;
  struct Parts {
    std::vector<Shape> shapes;
    std::string note;  ///< empty: nothing to warn of
  };
  Parts exact_mesh(const MeshFile& mesh);
  Parts decomposed_mesh(const MeshFile& mesh);
  std::map<std::string, Parts> parts_;
};

/// Path of a mesh as a URDF names it: package:// (package_dirs, then the folders above the URDF,
/// then ROS_PACKAGE_PATH and AMENT_PREFIX_PATH), file://, absolute, or relative to the URDF. Empty
/// if there is no such file; `tried` lists the candidates.
std::string resolve_mesh(const std::string& uri,
                         const std::string& urdf_path,
                         const std::vector<std::string>& package_dirs,
                         std::vector<std::string>& tried);

}  // namespace stiction
