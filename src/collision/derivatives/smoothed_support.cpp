#include "collision/derivatives/smoothed_support.hpp"

#include "collision/derivatives/normal_samples.hpp"
#include "geometry/mesh_support.hpp"
#include "math/elementary.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace stiction::detail {
namespace {

constexpr int kMaxNear = 256;  // vertices of a neighbourhood; farther ones are left out

/// The plane normal to the outward direction d, in the frame of the shape.
struct Tangents {
  Vec3d d, s, t;
};
Tangents tangents(const Vec3d& d) {
  const Vec3d helper = std::abs(d.x) < 0.6 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0};
  const Vec3d across = cross(d, helper), s = across * (1.0 / norm(across));
  return {d, s, cross(d, s)};
}

/// Second derivatives along the tangents.
struct Hessian {
  double ss = 0.0, st = 0.0, tt = 0.0;
};

void set_feature(const ContactSide& side, const Tangents& T, const Hessian& H, PointFeature& f) {
  const Vec3d s = side.X.R * T.s, t = side.X.R * T.t;
  const double r = side.core.radius;
  const Mat3d m = sum(outer(s * (H.ss + r) + t * H.st, s), outer(s * H.st + t * (H.tt + r), t));
  f = {};
  f.by_normal = scaled(m, side.sign());
}

/// sigma = e log sum exp(sigma_i / e) of the parts of a shape: its second derivative is the mean of
/// theirs and the covariance of their points over e.
class Softmax {
 public:
  Softmax(const Tangents& T, double temperature) : T_(T), inverse_(1.0 / temperature) {}
  /// p: of the part, from the farthest point; `height` along d, <= 0.
  void add(const Vec3d& p, double height) {
    const double exponent = height * inverse_;
    if (exponent < kNothing) return;
    const double a = exponential(exponent), x = dot(T_.s, p), y = dot(T_.t, p);
    weight_ += a;
    x_ += a * x;
    y_ += a * y;
    xx_ += a * x * x;
    xy_ += a * x * y;
    yy_ += a * y * y;
  }
  /// `own`: of each part.
  Hessian hessian(const Hessian& own = {}) const {
    const double i = 1.0 / weight_, x = x_ * i, y = y_ * i, e = inverse_;
    return {(xx_ * i - x * x) * e + own.ss,
            (xy_ * i - x * y) * e + own.st,
            (yy_ * i - y * y) * e + own.tt};
  }

 private:
  static constexpr double kNothing = -40.0;  // its exponential is below rounding
  const Tangents& T_;
  double inverse_, weight_ = 0.0, x_ = 0.0, y_ = 0.0, xx_ = 0.0, xy_ = 0.0, yy_ = 0.0;
};

/// See DerivativeSettings::temperature. `square`: mean of the squared edges [m^2]; `radius` [m] of
/// the shape at the point.
double temperature(const DerivativeSettings& s, double depth, double square, double radius) {
  const double wanted = s.temperature > 0.0 ? s.temperature : square / (4.0 * radius);
  return depth > 0.0 ? std::min(wanted, square / (4.0 * depth)) : wanted;
}

Hessian gumbel_of_mesh(const ConvexMesh& m,
                       const Tangents& T,
                       const DerivativeSettings& settings,
                       double depth) {
  int near[kMaxNear];
  near[0] = mesh_support(m, T.d);
  int count = 1, first = 0;
  for (int level = 0; level < settings.level; ++level) {
    const int last = count;
    for (; first < last; ++first) {
      for (int k = m.neighbour_start[near[first]]; k < m.neighbour_start[near[first] + 1]; ++k) {
        const int v = m.neighbours[k];
        const bool known = level > 0 && std::find(near, near + count, v) != near + count;
        if (!known && count < kMaxNear) near[count++] = v;
      }
    }
  }
  const Vec3d top = m.vertices[near[0]];
  const int ring = std::min(m.neighbour_start[near[0] + 1] - m.neighbour_start[near[0]], count - 1);
  double square = 0.0;
  for (int i = 1; i <= ring; ++i) square += squared_norm(m.vertices[near[i]] - top);
  Softmax softmax(T, temperature(settings, depth, square / ring, norm(top - m.centroid)));
  softmax.add({0, 0, 0}, 0.0);
  for (int i = 1; i < count; ++i) {
    const Vec3d p = m.vertices[near[i]] - top;
    softmax.add(p, dot(T.d, p));
  }
  return softmax.hessian();
}

/// Of a box: its corners; of a capsule: the two ends of its axis.
Hessian gumbel_of_corners(const Core& c,
                          const Tangents& T,
                          const DerivativeSettings& settings,
                          double depth) {
  int number;
  const Vec3d top = core_support(c, T.d, number);
  const bool capsule = c.type == ShapeType::kCapsule;
  const double edge = 2.0 * (capsule ? c.half.z : (c.half.x + c.half.y + c.half.z) / 3.0);
  if (!(edge > 0.0)) return {};  // a capsule that is a ball
  Softmax softmax(T, temperature(settings, depth, edge * edge, norm(top) + c.radius));
  for (int i = 0; i < (capsule ? 2 : 8); ++i) {
    if (std::popcount(unsigned(i ^ number)) > settings.level) continue;
    const Vec3d p = core_vertex(c, i) - top;
    softmax.add(p, dot(T.d, p));
  }
  return softmax.hessian();
}

/// Of a cylinder or cone: two rims, or a rim and the apex. A rim is made smooth over the axis by
/// r sqrt(|d_xy|^2 + w^2), whose second derivatives are at most r / w, with w = temperature / r.
/// Along a line of the side both ends are equally far: how round it is there, the point tells.
Hessian gumbel_of_rims(const ContactSide& side,
                       const Tangents& T,
                       const DerivativeSettings& settings,
                       double depth) {
  const Core& c = side.core;
  const double r = c.half.x, l = c.half.z, edge = std::min(r, 2.0 * l);
  const double e = temperature(settings, depth, edge * edge, length(r, l)), w = e / r;
  const double s = std::sqrt(T.d.x * T.d.x + T.d.y * T.d.y + w * w);
  const bool cone = c.type == ShapeType::kCone;
  const double at = cone ? r * std::clamp(0.5 * (l - side.local(side.p).z) / l, 0.0, 1.0) : r;
  const auto along = [&](const Vec3d& x, const Vec3d& y) {
    const double qx = T.d.x * x.x + T.d.y * x.y, qy = T.d.x * y.x + T.d.y * y.y;
    return at / s * (x.x * y.x + x.y * y.y - qx * qy / (s * s));
  };
  const Hessian round{along(T.s, T.s), along(T.s, T.t), along(T.t, T.t)};
  const Vec3d rim{T.d.x * r / s, T.d.y * r / s, 0.0};
  const double low = r * (s - w) - l * T.d.z, high = l * T.d.z + (cone ? 0.0 : r * (s - w));
  const double top = std::max(low, high);
  Softmax softmax(T, e);
  softmax.add(rim - Vec3d{0, 0, l}, low - top);
  softmax.add((cone ? Vec3d{0, 0, 0} : rim) + Vec3d{0, 0, l}, high - top);
  return softmax.hessian(round);
}

/// Eq. 26 for normals in the tangent plane, less the unperturbed point, symmetric part.
Hessian gaussian(const Core& c, const Tangents& T, const DerivativeSettings& settings) {
  NormalSamples normal(settings.seed);
  int number;
  const Vec3d top = core_support(c, T.d, number);
  Hessian H;
  for (int j = 0; j < settings.samples; ++j) {
    const auto [x, y] = normal.next();
    const Vec3d d = T.d + (T.s * x + T.t * y) * settings.spread_direction;
    const Vec3d p = core_support(c, d, number) - top;
    const double ps = dot(T.s, p), pt = dot(T.t, p);
    H.ss += ps * x;
    H.st += 0.5 * (ps * y + pt * x);
    H.tt += pt * y;
  }
  const double f = 1.0 / (settings.samples * settings.spread_direction);
  return {H.ss * f, H.st * f, H.tt * f};
}

}  // namespace

bool smoothed_feature(const ContactSide& side,
                      const DerivativeSettings& settings,
                      double depth,
                      PointFeature& feature) {
  const Core& c = side.core;
  const Tangents T = tangents(side.local_direction(side.outward));
  if (c.type == ShapeType::kHalfSpace || is_surface(c.type)) return false;
  if (c.type == ShapeType::kSphere) {
    set_feature(side, T, {}, feature);
  } else if (settings.method == DerivativeMethod::kGaussian1) {
    set_feature(side, T, gaussian(c, T, settings), feature);
  } else if (c.type == ShapeType::kEllipsoid) {
    touching_feature(side, feature);
  } else if (c.type == ShapeType::kConvexMesh) {
    set_feature(side, T, gumbel_of_mesh(*c.mesh, T, settings, depth), feature);
  } else if (c.type == ShapeType::kCylinder || c.type == ShapeType::kCone) {
    set_feature(side, T, gumbel_of_rims(side, T, settings, depth), feature);
  } else {
    set_feature(side, T, gumbel_of_corners(c, T, settings, depth), feature);
  }
  return true;
}

}  // namespace stiction::detail
