#include "model/mesh_file.hpp"

#include <bit>
#include <cstring>
#include <stdexcept>

namespace stiction {
namespace {

static_assert(std::endian::native == std::endian::little, "binary STL is little endian");

constexpr std::size_t kHeader = 84, kFacet = 50;

std::size_t facet_count(std::string_view text) {
  std::uint32_t count = 0;
  if (text.size() >= kHeader) std::memcpy(&count, text.data() + 80, sizeof count);
  return count;
}

void read_binary(std::string_view text, TriangleSoup& soup) {
  if (text.size() < kHeader)
    throw std::runtime_error("is no STL file: it is shorter than a header");
  const std::size_t count = facet_count(text);
  if ((text.size() - kHeader) / kFacet < count) {
    throw std::runtime_error("is truncated: its header tells of " + std::to_string(count) +
                             " triangles, it has room for " +
                             std::to_string((text.size() - kHeader) / kFacet));
  }
  for (std::size_t i = 0; i < count; ++i) {
    float x[9];  // after the normal, which the corners give as well
    std::memcpy(x, text.data() + kHeader + i * kFacet + 12, sizeof x);
    soup.add({x[0], x[1], x[2]}, {x[3], x[4], x[5]}, {x[6], x[7], x[8]});
  }
}

/// solid [name] { facet [normal x y z] outer loop { vertex x y z } x 3 endloop endfacet } endsolid
void read_ascii(std::string_view text, TriangleSoup& soup) {
  std::vector<Vec3d> corners;
  int number = 0;
  while (!text.empty()) {
    std::string_view line = next_line(text);
    ++number;
    const std::string_view word = next_word(line);
    if (word == "vertex") {
      Vec3d p;
      for (int k = 0; k < 3; ++k) {
        const std::string_view x = next_word(line);
        double value = 0.0;
        if (!parse_number(x, value)) fail_at(number, shown(x) + " is not a finite number");
        (k == 0 ? p.x : k == 1 ? p.y : p.z) = value;
      }
      corners.push_back(p);
    } else if (word == "endloop") {
      if (corners.size() != 3) {
        fail_at(number, "a facet has " + std::to_string(corners.size()) + " vertices, not 3");
      }
      soup.add(corners[0], corners[1], corners[2]);
      corners.clear();
    } else if (!word.empty() && word != "facet" && word != "outer" && word != "endfacet" &&
               word != "solid" && word != "endsolid") {
      fail_at(number, shown(word) + " is no word of an STL file");
    }
  }
  if (!corners.empty()) fail_at(number, "is truncated: its last facet has no end");
}

}  // namespace

void read_stl(std::string_view text, TriangleSoup& soup) {
  // Binary files may begin with "solid" as well: their size tells them apart.
  const bool fits = text.size() >= kHeader && text.size() - kHeader == kFacet * facet_count(text);
  if (fits || !text.starts_with("solid")) {
    read_binary(text, soup);
  } else {
    read_ascii(text, soup);
  }
}

}  // namespace stiction
