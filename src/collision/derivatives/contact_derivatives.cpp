#include "collision/derivatives/contact_derivatives.hpp"

namespace stiction {
namespace {

Mat3d scaled(const Mat3d& m, double s) { return {m.c0 * s, m.c1 * s, m.c2 * s}; }
/// x -> x cross n.
Mat3d cross_with(const Vec3d& n) { return {{0, -n.z, n.y}, {n.z, 0, -n.x}, {-n.y, n.x, 0}}; }

/// A vertex, or a centre with a radius around it, against a flat face: the normal turns with the
/// face; the point is on the plane of a half-space, half a gap above it else.
void on_face(bool face_on_a,
             double height,
             double share,
             double radius,
             const Vec3d& n,
             ContactDerivatives& d) {
  const Mat3d turned = cross_with(n),
              along{n * (n.x * share), n * (n.y * share), n * (n.z * share)};
  d.position_w = scaled(turned, radius + height);
  if (face_on_a) {
    const Mat3d I = Mat3d::identity();
    d.position_u = {I.c0 - along.c0, I.c1 - along.c1, I.c2 - along.c2};
  } else {
    d.normal_w = turned;
    d.position_u = along;
  }
}

}  // namespace

ContactDerivatives contact_derivatives(
    const Contact& contact, const Shape& a, const Transform&, const Shape& b, const Transform&) {
  ContactDerivatives d{};
  const bool plane = a.type == ShapeType::kHalfSpace || b.type == ShapeType::kHalfSpace;
  const double share = plane ? 1.0 : 0.5, height = share * contact.gap;
  const Witness& witness = contact.witness;
  switch (witness.kind) {
    case WitnessKind::kVertexFace:
    case WitnessKind::kRoundFace:
      on_face(false, height, share, witness.radius, contact.frame.c2, d);
      break;
    case WitnessKind::kFaceVertex:
    case WitnessKind::kFaceRound:
      on_face(true, height, share, witness.radius, contact.frame.c2, d);
      break;
    default:
      d.exact = false;
  }
  return d;
}

}  // namespace stiction
