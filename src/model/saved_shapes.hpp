#pragma once

#include "stiction/geometry/shape.hpp"

#include "model/byte_stream.hpp"

#include <map>
#include <string>
#include <vector>

// Shapes in a saved scene. Meshes and height fields stand in one list, each once; shapes name them
// by number, so that those which shared one share it again.

namespace stiction {

class ShapeWriter {
 public:
  /// Takes its mesh or field into the list; `field` names the shape in errors.
  void add(const Shape& shape, const std::string& field);
  void put_assets(ByteWriter& out) const;
  void put(ByteWriter& out, const Shape& shape) const;

 private:
  std::vector<Shape> assets_;
  std::map<const void*, int> number_;
};

class ShapeReader {
 public:
  void get_assets(ByteReader& in);
  Shape get(ByteReader& in) const;

 private:
  std::vector<Shape> assets_;
};

}  // namespace stiction
