#include "collision/derivatives/outline.hpp"

#include "stiction/math/lanes.hpp"

#include <algorithm>
#include <cmath>

namespace stiction::detail {
namespace {

bool is_round(const Outline& o) {
  return o.side.core.type == ShapeType::kCylinder || o.side.core.type == ShapeType::kCone;
}

Vec3d point_of(const Outline& o) { return o.side.p - o.side.outward * o.inside; }

/// The radius around a core, and the turn of a line, of a rim or of its octagon.
PointFeature moving_part(const Outline& o, bool turns) {
  const ContactSide& s = o.side;
  PointFeature f;
  if (s.core.radius > 0.0) f.by_normal = scaled(across(s.outward), s.sign() * s.core.radius);
  if (turns && is_round(o)) {
    f.by_turn = scaled(turn_about_axis(s, o.follows, o.level) * cross_with(o.follows), s.sign());
  }
  return f;
}

/// From the rim of a disc.
double off_rim(const Polygon& disc, const Vec3d& p) {
  const Vec3d q = p - disc.disc.centre;
  const double up = dot(q, disc.normal);
  return length(norm(q - disc.normal * up) - disc.disc.radius, up);
}

double off_segment(const Vec3d& a, const Vec3d& b, const Vec3d& p) {
  const Vec3d e = b - a;
  const double ee = squared_norm(e);
  const double t = ee > 0.0 ? std::clamp(dot(p - a, e) / ee, 0.0, 1.0) : 0.0;
  return norm(a + e * t - p);
}

}  // namespace

OutlineFeature vertex_of(const Outline& o, bool rim) {
  OutlineFeature found;
  const Vec3d p = point_of(o);
  if (o.polygon.is_disc()) {
    if (!rim) return found;
    found.off = off_rim(o.polygon, p);
  }
  for (int i = 0; i < o.polygon.count; ++i)
    found.off = std::min(found.off, norm(o.polygon.p[i] - p));
  found.feature = moving_part(o, true);
  if (o.side.core.type == ShapeType::kEllipsoid) touching_feature(o.side, found.feature);
  return found;
}

OutlineFeature edge_of(const Outline& o) {
  OutlineFeature found;
  const Vec3d p = point_of(o);
  const Polygon& face = o.polygon;
  Vec3d along{0, 0, 0};
  if (face.is_disc()) {
    found.off = off_rim(face, p);
    along = cross(face.normal, p - face.disc.centre);
  }
  for (int i = 0; i < (face.count == 2 ? 1 : face.count); ++i) {
    const Vec3d &a = face.p[i], &b = face.p[i + 1 == face.count ? 0 : i + 1];
    const double off = off_segment(a, b, p);
    if (!(off < found.off)) continue;
    found.off = off;
    along = b - a;
  }
  const double length = norm(along);
  if (!(length > 0.0)) return {};
  found.feature = moving_part(o, !face.is_disc());
  found.feature.flat = 1;
  found.feature.e[0] = along * (1.0 / length);
  return found;
}

OutlineFeature face_of(const Outline& o) {
  if (o.polygon.count == 1 || o.polygon.count == 2) return {};
  return {plane_feature(o.polygon.normal),
          std::abs(dot(o.polygon.normal, o.side.p) - o.polygon.offset)};
}

CrossingFeatures crossing_features(const Outline& a, const Outline& b, bool rim, bool b_first) {
  CrossingFeatures best;
  const auto offer = [&](const OutlineFeature& x, const OutlineFeature& y, double slack) {
    const double off = std::max(x.off, y.off);
    if (off + slack < best.off) {
      best = {x.feature, y.feature, off, best.off};
    } else {
      best.next = std::min(best.next, off);
    }
  };
  // Discs of one size share their rims.
  const double slack = rim ? 1e-5 * std::max(norm(a.side.p - a.side.X.p), 1e-300) : 0.0;
  if (b_first) {
    offer(face_of(a), vertex_of(b, rim), 0.0);
    offer(vertex_of(a, rim), face_of(b), slack);
  } else {
    offer(vertex_of(a, rim), face_of(b), 0.0);
    offer(face_of(a), vertex_of(b, rim), slack);
  }
  if (!rim) offer(edge_of(a), edge_of(b), 0.0);
  return best;
}

}  // namespace stiction::detail
