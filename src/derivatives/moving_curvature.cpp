#include "derivatives/moving_contact.hpp"
#include "math/dual.hpp"
#include "math/rotation_jacobian.hpp"

// dt/2 kappa of a contact (contact/curvature.hpp) differentiated: on numbers that carry a
// derivative, from those of its materials, its point, its frame and its maps. The maps have no
// derivatives in closed form; theirs are central differences.

namespace stiction {
namespace {

struct PlacedPair {
  Shape a, b;
  Transform X_WA, X_WB;
};
PlacedPair placed_pair(const MovingContact& p) {
  const auto shape = [&](int g) { return p.in.scene.shape(p.in.parameters, g); };
  return {shape(p.contact.geometry_a),
          shape(p.contact.geometry_b),
          geometry_pose(p.in, p.contact.geometry_a),
          geometry_pose(p.in, p.contact.geometry_b)};
}

/// Maps of the contact after a change that moves it as `found` says, to first order.
FeatureMaps<double> maps_after(const MovingContact& p,
                               const PlacedPair& pair,
                               const ContactChange& found,
                               double step) {
  Contact c = p.contact;
  const Vec3d n = c.frame.c2 + found.normal * step;
  c.frame.c2 = n * (1.0 / norm(n));
  c.position += found.position * step;
  c.gap += found.gap * step;
  return feature_maps(c, pair.a, pair.X_WA, pair.b, pair.X_WB);
}

/// Central differences along change(pair, step), in which the contact moves as `found` says.
template <class Change>
FeatureMaps<double> maps_difference(const MovingContact& p,
                                    double step,
                                    const ContactChange& found,
                                    Change&& change) {
  FeatureMaps<double> out{};
  for (const double sign : {1.0, -1.0}) {
    PlacedPair pair = placed_pair(p);
    change(pair, sign * step);
    add_maps(maps_after(p, pair, found, sign * step), 0.5 * sign / step, out);
  }
  return out;
}

constexpr double kMapStep = 1e-6;  // of the size; rad

/// The size of the bounded shapes of a pair [m].
double size_of(const MovingContact& p) {
  const PlacedPair pair = placed_pair(p);
  return (pair.a.bounded() ? bounding_radius(pair.a) : 0.0) +
         (pair.b.bounded() ? bounding_radius(pair.b) : 0.0);
}

/// By a shift (k < 3) or a turn of B about the point, A held.
FeatureMaps<double> maps_by_motion(const MovingContact& p, int k) {
  const Vec3d axis = Mat3d::identity().column(k % 3), zero{0, 0, 0};
  const Vec3d u = k < 3 ? axis : zero, w = k < 3 ? zero : axis;
  const ContactChange found{p.d.normal_u * u + p.d.normal_w * w,
                            p.d.position_u * u + p.d.position_w * w,
                            dot(p.d.gap_u, u) + dot(p.d.gap_w, w)};
  const double step = k < 3 ? kMapStep * size_of(p) : kMapStep;
  return maps_difference(p, step, found, [&](PlacedPair& pair, double by) {
    const Vec3d& x = p.contact.position;
    const Mat3d turn = turn_matrix(w * by);
    pair.X_WB = {turn * pair.X_WB.R, x + turn * (pair.X_WB.p - x) + u * by};
  });
}

/// By a shift of the point along the normal, both shapes at rest.
FeatureMaps<double> maps_by_shift(const MovingContact& p) {
  const ContactChange found{{0, 0, 0}, p.normal(), 0.0};
  return maps_difference(p, kMapStep * size_of(p), found, [](PlacedPair&, double) {});
}

/// Adds what a turn w of A does to maps in world axes.
void turn_maps(const Vec3d& w, const FeatureMaps<double>& maps, FeatureMaps<double>& out) {
  const auto turned = [&](const Mat3d& m, Mat3d& change) {
    const Mat3d W{{0, w.z, -w.y}, {-w.z, 0, w.x}, {w.y, -w.x, 0}};  // x -> w x x
    const Mat3d a = W * m, b = m * W;
    for (int k = 0; k < 3; ++k) change.column(k) += a.column(k) - b.column(k);
  };
  turned(maps.position_u, out.position_u);
  turned(maps.position_w, out.position_w);
  turned(maps.normal_u, out.normal_u);
  turned(maps.normal_w, out.normal_w);
}

}  // namespace

void add_maps(const FeatureMaps<double>& x, double by, FeatureMaps<double>& out) {
  const Mat3d* from[] = {&x.position_u, &x.position_w, &x.normal_u, &x.normal_w};
  Mat3d* to[] = {&out.position_u, &out.position_w, &out.normal_u, &out.normal_w};
  for (int i = 0; i < 4; ++i) {
    for (int k = 0; k < 3; ++k) to[i]->column(k) += from[i]->column(k) * by;
  }
  out.bend_a += x.bend_a * by;
  out.bend_b += x.bend_b * by;
}

void add_maps_change(const MovingContact& p,
                     const Vec3d& u,
                     const Vec3d& w,
                     const Vec3d& turn_of_a,
                     FeatureMaps<double>& out) {
  for (int k = 0; k < 3; ++k) {
    add_maps(p.maps_by.motion[k], u[k], out);
    add_maps(p.maps_by.motion[3 + k], w[k], out);
  }
  turn_maps(turn_of_a, p.curving.feature.maps, out);
}

FeatureMaps<double> maps_by_size(const MovingContact& p, int k, const ContactChange& found) {
  return maps_difference(p, kMapStep * size_of(p), found, [&](PlacedPair& pair, double by) {
    Shape& shape = k < 3 ? pair.a : pair.b;
    shape.size[k % 3] += by;
  });
}

Vec3d curvature_change(const MovingContact& p, const PointChange& moved, const RowMotion& motion) {
  using Number = Dual<1>;
  const auto number = [](double x, double change) {
    Number out(x);
    out.d[0] = change;
    return out;
  };
  const auto vector = [&](const Vec3d& x, const Vec3d& d) {
    return Vec3<Number>{number(x.x, d.x), number(x.y, d.y), number(x.z, d.z)};
  };
  const auto matrix = [&](const Mat3d& x, const Mat3d& d) {
    return Mat3<Number>{vector(x.c0, d.c0), vector(x.c1, d.c1), vector(x.c2, d.c2)};
  };
  const auto material = [&](const MaterialMotion<double>& x,
                            const MaterialMotion<double>& d,
                            const MaterialMotion<double>& shifted) {
    return MaterialMotion<Number>{vector(x.velocity, d.velocity + shifted.velocity),
                                  vector(x.turning, d.turning),
                                  vector(x.acceleration, d.acceleration + shifted.acceleration)};
  };
  MaterialMotion<double> shifted[2] = {MaterialMotion<double>::at_rest(),
                                       MaterialMotion<double>::at_rest()};
  for (int s = 0; s < p.start.count; ++s)
    shifted[p.start.sign[s] > 0.0] = p.start.at[s].material_shift(moved.position);
  for (int k = 0; k < 2 && p.surfaces.any; ++k) {
    const MaterialMotion<double> own = change_with_point(p.surfaces.of[k], moved.position).all;
    shifted[k].velocity += own.velocity;
    shifted[k].acceleration += own.acceleration;
  }
  const Mat3d& R = p.contact.frame;
  const Mat3<Number> frame =
      matrix(R, {cross(moved.turn, R.c0), cross(moved.turn, R.c1), cross(moved.turn, R.c2)});
  const auto a = material(p.curving.a, motion.a, shifted[0]),
             b = material(p.curving.b, motion.b, shifted[1]);
  const ContactFeature& f = p.curving.feature;
  const Number dt(p.in.dt);
  HalfStep<Number> found;
  if (f.on_face) {
    const Number radius = number(f.radius, motion.radius + f.by_gap * moved.gap);
    found = half_step_on_face(a, b, frame, radius, f.face_of_a, dt);
  } else {
    const FeatureMaps<Number> maps{matrix(f.maps.position_u, moved.maps.position_u),
                                   matrix(f.maps.position_w, moved.maps.position_w),
                                   matrix(f.maps.normal_u, moved.maps.normal_u),
                                   matrix(f.maps.normal_w, moved.maps.normal_w),
                                   number(f.maps.bend_a, moved.maps.bend_a),
                                   number(f.maps.bend_b, moved.maps.bend_b)};
    found = half_step_by_maps(a, b, frame, maps, dt);
  }
  const Vec3d& s = p.row.slides;  // of another contact it is taken as it is
  const Vec3<Number> slides =
      p.row.alone ? found.slides : Vec3<Number>{Number(s.x), Number(s.y), Number(s.z)};
  const Vec3<Number> k = with_sliding(found.rolls, slides, frame);
  Vec3d out{k.x.d[0], k.y.d[0], k.z.d[0]};
  if (p.row.compliance[0] > 0.0) out.x = out.y = 0.0;
  return out;
}

void find_curvature(const DerivativeInput& in, MovingContact& p) {
  if (!p.row.curves) return;
  constexpr double kStill = 1e-12;  // of a step [m or rad]: kappa and its derivatives are rounding
  const auto size = [](const MaterialMotion<double>& x) {
    return norm(x.velocity) + norm(x.turning);
  };
  find_curving(
      {in.scene, in.parameters, in.before, in.record.dynamics, in.dt}, p.contact, p.curving, true);
  p.curves = in.dt * (size(p.curving.a) + size(p.curving.b)) > kStill;
  if (!p.curves || p.curving.feature.on_face) return;
  for (int k = 0; k < 6; ++k) p.maps_by.motion[k] = maps_by_motion(p, k);
  if (p.touch.by_gap != 0.0 || p.touch.by_approach != 0.0) p.maps_by.shift = maps_by_shift(p);
}

}  // namespace stiction
