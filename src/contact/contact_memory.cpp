#include "contact/contact_memory.hpp"

#include "model/contact_order.hpp"

namespace stiction {
namespace {

bool has_plane(const Shape& s) {
  return s.type == ShapeType::kHalfSpace || s.type == ShapeType::kHeightField ||
         s.type == ShapeType::kTriangleMesh;
}

}  // namespace

const ContactMemory* find_memory(const std::vector<ContactMemory>& memory, const Contact& contact) {
  return find_contact(memory, contact);
}

bool b_carries_anchor(const Scene& scene, const Contact& contact) {
  return has_plane(scene.geometries()[contact.geometry_b].shape) &&
         !has_plane(scene.geometries()[contact.geometry_a].shape);
}

}  // namespace stiction
