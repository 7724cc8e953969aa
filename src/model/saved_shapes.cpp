#include "model/saved_shapes.hpp"

#include "stiction/geometry/height_field.hpp"
#include "stiction/geometry/triangle_mesh.hpp"

#include "geometry/restored_mesh.hpp"
#include "geometry/size_range.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

// What is derived is not stored. A convex mesh is its vertices and triangles, a triangle mesh
// likewise, a height field its samples and lower end: what is built of them again has the same
// bits.

namespace stiction {
namespace {

const void* asset_of(const Shape& s) {
  if (s.type == ShapeType::kConvexMesh) return s.mesh.get();
  if (s.type == ShapeType::kHeightField) return s.field.get();
  return s.type == ShapeType::kTriangleMesh ? s.surface.get() : nullptr;
}

bool has_asset(ShapeType type) { return type == ShapeType::kConvexMesh || is_surface(type); }

const std::vector<std::string>& type_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (int k = 0; k <= static_cast<int>(ShapeType::kTriangleMesh); ++k)
      all.push_back(to_string(static_cast<ShapeType>(k)));
    return all;
  }();
  return names;
}

ShapeType get_type(ByteReader& in) {
  return static_cast<ShapeType>(in.choice("type", type_names()));
}

void put_mesh(ByteWriter& out,
              const std::vector<Vec3d>& vertices,
              const std::vector<int>& corners) {
  out.put_list(vertices);
  out.put_list(corners);
}

void put_field(ByteWriter& out, const HeightField& f) {
  out.put(f.nx);
  out.put(f.ny);
  for (const double x : {f.dx, f.dy, f.base}) out.put(x);
  out.put_list(f.heights);
}

Shape get_field(ByteReader& in) {
  int nx = 0, ny = 0;
  double dx = 0.0, dy = 0.0, base = 0.0;
  std::vector<double> heights;
  in.get(nx);
  in.get(ny);
  in.get(dx);
  in.get(dy);
  in.get(base);
  in.get_list(heights);
  HeightField field = HeightField::build(nx, ny, heights, dx, dy, 1.0);
  const double farthest = std::max({-field.x0, -field.y0, field.highest, -base});
  if (!(base <= field.lowest && farthest <= kLargestSize))
    throw std::invalid_argument(
        "height_field: its base must lie below all samples, at most 1e30 m");
  field.base = base;  // lowest - depth, which rounds
  Shape shape{ShapeType::kHeightField, {0.0, 0.0, 0.0}, nullptr};
  shape.field = std::make_shared<const HeightField>(std::move(field));
  return shape;
}

Shape get_mesh(ByteReader& in, ShapeType type) {
  std::vector<Vec3d> vertices;
  std::vector<int> triangles;
  in.get_list(vertices);
  in.get_list(triangles);
  if (type == ShapeType::kTriangleMesh) return Shape::triangle_mesh(vertices, triangles);
  Shape shape{type, {0.0, 0.0, 0.0}, nullptr};
  shape.mesh = std::make_shared<const ConvexMesh>(restore_convex_mesh(vertices, triangles));
  return shape;
}

}  // namespace

void ShapeWriter::add(const Shape& shape, const std::string& field) {
  validate_size(shape.type, shape.size, field + ": ");
  if (!has_asset(shape.type)) return;
  const void* asset = asset_of(shape);
  if (asset == nullptr)
    throw std::invalid_argument(field + ": a " + to_string(shape.type) + " without its mesh");
  if (number_.emplace(asset, static_cast<int>(assets_.size())).second) assets_.push_back(shape);
}

void ShapeWriter::put_assets(ByteWriter& out) const {
  out.put_count(assets_.size());
  for (const Shape& s : assets_) {
    out.put_text(to_string(s.type), "type");
    if (s.type == ShapeType::kHeightField) {
      put_field(out, *s.field);
    } else if (s.type == ShapeType::kTriangleMesh) {
      put_mesh(out, s.surface->vertices, s.surface->triangles);
    } else {
      put_mesh(out, s.mesh->vertices, s.mesh->triangles);
    }
  }
}

void ShapeWriter::put(ByteWriter& out, const Shape& shape) const {
  out.put_text(to_string(shape.type), "type");
  out.put(shape.size);
  if (has_asset(shape.type)) out.put(number_.at(asset_of(shape)));
}

void ShapeReader::get_assets(ByteReader& in) {
  in.what = "meshes";
  const std::size_t count = in.count(1);
  for (std::size_t i = 0; i < count; ++i) {
    in.what = "meshes[" + std::to_string(i) + "]";
    const ShapeType type = get_type(in);
    if (!has_asset(type)) in.refuse("type", "a " + std::string(to_string(type)) + " has no mesh");
    try {
      assets_.push_back(type == ShapeType::kHeightField ? get_field(in) : get_mesh(in, type));
    } catch (const std::invalid_argument& error) {
      const std::string text = error.what();
      if (text.starts_with(in.what)) throw;
      in.fail(text);
    }
  }
}

Shape ShapeReader::get(ByteReader& in) const {
  const ShapeType type = get_type(in);
  Vec3d size{0.0, 0.0, 0.0};
  in.get(size);
  validate_size(type, size, in.what + ".");
  if (!has_asset(type)) return {type, size, nullptr};
  const int number = in.index("mesh", 0, assets_.size());
  const Shape& asset = assets_[static_cast<std::size_t>(number)];
  if (asset.type != type)
    in.refuse("mesh", std::to_string(number) + " is a " + to_string(asset.type));
  return asset;
}

}  // namespace stiction
