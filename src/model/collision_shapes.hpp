#pragma once

#include "model/urdf_document.hpp"

#include <map>
#include <string>
#include <vector>

namespace stiction {

/// URDF collision geometry -> shapes. Keeps the meshes of one file, which are often shared.
class ShapeBuilder {
 public:
  ShapeBuilder(XmlFile& file, const LoadOptions& options) : file_(file), options_(options) {}
  /// One shape; of a mesh as many as LoadOptions::collision_meshes makes of it. Errors name the
  /// file and line; approximations are warnings.
  std::vector<Shape> build(const UrdfShape& source, const std::string& link);

 private:
  /// What a mesh becomes.
  struct Parts {
    std::vector<Shape> shapes;
    std::string note;  ///< empty: nothing to warn of
  };
  Shape primitive(const UrdfShape& source, const std::string& link);
  std::string find_mesh(const UrdfShape& source, const std::string& head);
  Parts hull_of(const MeshFile& mesh);
  Parts exact_mesh(const MeshFile& mesh);
  Parts decomposed_mesh(const MeshFile& mesh);
  Parts parts_of(const MeshFile& mesh);

  XmlFile& file_;
  const LoadOptions& options_;
  std::map<std::string, Parts> meshes_;  ///< by path in the file and scale
};

/// Path of a mesh as a URDF names it: package:// (package_dirs, then the folders above the URDF,
/// then ROS_PACKAGE_PATH and AMENT_PREFIX_PATH), file://, absolute, or relative to the URDF. Empty
/// if there is no such file; `tried` lists the candidates.
std::string resolve_mesh(const std::string& uri,
                         const std::string& urdf_path,
                         const std::vector<std::string>& package_dirs,
                         std::vector<std::string>& tried);

}  // namespace stiction
