#include "model/mesh_file.hpp"

#include <stdexcept>

namespace stiction {
namespace {

Vec3d read_vertex(std::string_view line, int number) {
  double x[3];
  for (double& value : x) {
    const std::string_view word = next_word(line);
    if (!parse_number(word, value)) fail_at(number, shown(word) + " is not a finite number");
  }
  return {x[0], x[1], x[2]};
}

/// One corner "v", "v/vt", "v//vn" or "v/vt/vn"; v counts from 1, or back from the last vertex.
const Vec3d& corner(std::string_view word, const std::vector<Vec3d>& vertices, int number) {
  const long long count = static_cast<long long>(vertices.size());
  long long index = 0;
  if (!parse_integer(word.substr(0, word.find('/')), index)) {
    fail_at(number, shown(word) + " is no corner of a face");
  }
  if (index == 0 || index > count || index < -count) {
    fail_at(number,
            "vertex " + std::to_string(index) + " does not exist; there are " +
                std::to_string(count) + " so far");
  }
  return vertices[static_cast<std::size_t>(index > 0 ? index - 1 : count + index)];
}

}  // namespace

// Only what makes the surface is read: "v" and "f". Normals, textures, groups, lines and free-form
// surfaces are passed over.
void read_obj(std::string_view text, TriangleSoup& soup) {
  std::vector<Vec3d> vertices, face;
  int number = 0;
  while (!text.empty()) {
    std::string_view line = next_line(text);
    ++number;
    const std::string_view word = next_word(line);
    if (word == "v") {
      vertices.push_back(read_vertex(line, number));
    } else if (word == "f") {
      face.clear();
      for (std::string_view w = next_word(line); !w.empty() && w.front() != '#';
           w = next_word(line)) {
        if (w == "\\") fail_at(number, "a face that goes on in the next line is not read");
        face.push_back(corner(w, vertices, number));
      }
      if (face.size() < 3) {
        fail_at(number, "a face has " + std::to_string(face.size()) + " corners");
      }
      soup.add_polygon(face);
    }
  }
}

}  // namespace stiction
