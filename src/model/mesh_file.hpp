#pragma once

#include "stiction/model/robot.hpp"

#include "model/text_file.hpp"

#include <array>
#include <string>
#include <string_view>
#include <unordered_map>

// Readers of mesh files, our own: a general importer crashes or hangs on files that are damaged.
// They are strict (what is not understood is an error with its line) and take memory and time in
// proportion to the file.

namespace stiction {

/// Triangles collected corner by corner. Corners at one point become one vertex, in the order of
/// their first use. Coordinates are rounded to single precision: that is what the binary formats
/// hold, and a mesh is then the same whichever format it comes in.
class TriangleSoup {
 public:
  /// Throws beyond this many triangles: instances of instances grow without bound.
  static constexpr std::size_t kMost = std::size_t{1} << 25;

  void add(const Vec3d& a, const Vec3d& b, const Vec3d& c);
  /// A planar polygon, convex or not.
  void add_polygon(const std::vector<Vec3d>& corners);
  MeshFile finish(const Vec3d& scale) const;
  bool empty() const { return triangles_.empty(); }

 private:
  struct Hash {
    std::size_t operator()(const std::array<float, 3>& p) const;
  };
  int vertex(const Vec3d& p);

  std::vector<std::array<float, 3>> vertices_;
  std::vector<int> triangles_;
  std::unordered_map<std::array<float, 3>, int, Hash> index_;
};

/// Each appends the triangles of a file's text. Errors (std::runtime_error) begin with "line n: "
/// where there are lines.
void read_stl(std::string_view text, TriangleSoup& soup);
void read_obj(std::string_view text, TriangleSoup& soup);
void read_dae(const std::string& text, TriangleSoup& soup);

/// Corners of the triangles that a simple polygon is cut into (ear clipping; a fan if it is
/// convex), numbers of corners, three each.
std::vector<int> triangulate(const std::vector<Vec3d>& corners);

}  // namespace stiction
