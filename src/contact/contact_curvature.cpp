#include "contact/contact_curvature.hpp"

#include "contact/contact_memory.hpp"
#include "contact/surface_motion.hpp"

#include <algorithm>

namespace stiction {
namespace {

MaterialMotion<double> body_motion(const StartOfStep& start, int body, const Vec3d& p) {
  if (body < 0) return MaterialMotion<double>::at_rest();
  const int t = start.scene.tree_of_body(body);
  const Tree& tree = start.scene.trees()[t];
  return material_motion(start.dynamics.views[t],
                         tree_parameters(tree, t, start.parameters),
                         start.dynamics.trees[t],
                         body - tree.body_offset,
                         p);
}

Transform pose_of(const StartOfStep& start, int geometry) {
  return geometry_pose(start.scene, start.parameters, start.dynamics, geometry);
}

FeatureMaps<double> maps_of(const StartOfStep& start, const Contact& c) {
  const auto shape = [&](int g) { return start.scene.shape(start.parameters, g); };
  return feature_maps(c,
                      shape(c.geometry_a),
                      pose_of(start, c.geometry_a),
                      shape(c.geometry_b),
                      pose_of(start, c.geometry_b));
}

bool carried(const State& state, const Contact& contact) {
  const ContactMemory* kept = find_memory(state.contacts, contact);
  return kept != nullptr && squared_norm(kept->impulse_A) > 0.0;
}

MaterialMotion<double> side_motion(const StartOfStep& start,
                                   int body,
                                   int geometry,
                                   const Vec3d& p) {
  MaterialMotion<double> out = body_motion(start, body, p);
  if (!surface_moves(start.parameters, geometry)) return out;
  const MaterialMotion<double> own =
      surface_motion(start.parameters, geometry, pose_of(start, geometry), p).all;
  out.acceleration += own.acceleration + cross(out.turning, own.velocity) * 2.0;
  out.velocity += own.velocity;
  out.turning += own.turning;
  return out;
}

/// A number for the two bodies.
std::uint64_t bodies_of(const Contact& c) {
  return static_cast<std::uint64_t>(c.body_a + 1) << 32 | static_cast<std::uint32_t>(c.body_b + 1);
}

}  // namespace

FeatureMaps<double> feature_maps(const Contact& contact,
                                 const Shape& a,
                                 const Transform& X_WA,
                                 const Shape& b,
                                 const Transform& X_WB) {
  const auto bend = [](const Shape& s) { return s.bounded() ? 1.0 / bounding_radius(s) : 0.0; };
  const ContactDerivatives d = contact_derivatives(contact, a, X_WA, b, X_WB);
  if (d.exact) return {d.position_u, d.position_w, d.normal_u, d.normal_w, bend(a), bend(b)};
  const Mat3d zero{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  const Mat3d half{{0.5, 0, 0}, {0, 0.5, 0}, {0, 0, 0.5}};
  const Vec3d r = contact.frame.c2 * 0.5;
  const Mat3d turning{{0, -r.z, r.y}, {r.z, 0, -r.x}, {-r.y, r.x, 0}};
  return {half, zero, zero, turning, bend(a), bend(b)};
}

bool find_curving(const StartOfStep& start, const Contact& contact, CurvingContact& out, bool all) {
  const Vec3d& p = contact.position;
  out.a = side_motion(start, contact.body_a, contact.geometry_a, p);
  out.b = side_motion(start, contact.body_b, contact.geometry_b, p);
  ContactFeature& f = out.feature;
  f.face_of_a = contact.witness.on_face_of_a();
  f.on_face = f.face_of_a || contact.witness.on_face_of_b();
  if (f.on_face) {
    const int face = f.face_of_a ? contact.geometry_a : contact.geometry_b;
    const ShapeType type = start.scene.geometries()[face].shape.type;
    f.by_gap = radius_by_gap(type == ShapeType::kHalfSpace || is_surface(type));
    f.radius = contact.witness.radius + f.by_gap * contact.distance();
    return may_curve(out.a, out.b, f.radius, start.dt);
  }
  const bool curves = may_curve(out.a, out.b, kAnyArm, start.dt);
  if (curves || all) f.maps = maps_of(start, contact);
  return curves;
}

static HalfStep<double> half_step_of(const CurvingContact& x, const Mat3d& frame, double dt) {
  const ContactFeature& f = x.feature;
  if (f.on_face) return half_step_on_face(x.a, x.b, frame, f.radius, f.face_of_a, dt);
  return half_step_by_maps(x.a, x.b, frame, f.maps, dt);
}

/// Those of contacts that carried in the last step, by their numbers; sets ConstraintRow::carried.
static std::vector<TouchingBodies>& find_touching(const RowContext& context,
                                                  const ContactSet& contacts) {
  std::vector<TouchingBodies>& all = context.scratch.touching;
  all.clear();
  all.reserve(context.out.rows.size());
  for (ConstraintRow& row : context.out.rows) {
    if (row.source != RowSource::kContact) continue;
    const Contact& contact = contacts[row.index];
    row.carried = carried(context.state, contact);
    if (row.carried) all.push_back({bodies_of(contact), 1, false, {0.0, 0.0, 0.0}});
  }
  std::sort(
      all.begin(), all.end(), [](const auto& x, const auto& y) { return x.bodies < y.bodies; });
  std::size_t last = 0;
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i].bodies == all[last].bodies)
      ++all[last].points;
    else
      all[++last] = all[i];
  }
  if (!all.empty()) all.resize(last + 1);
  return all;
}

/// Null: none of their contacts carried.
static TouchingBodies* touching_of(std::vector<TouchingBodies>& all, const Contact& contact) {
  const auto at = std::lower_bound(
      all.begin(),
      all.end(),
      bodies_of(contact),
      [](const TouchingBodies& x, std::uint64_t bodies) { return x.bodies < bodies; });
  return at != all.end() && at->bodies == bodies_of(contact) ? &*at : nullptr;
}

/// Whether two bodies meet at a contact that carried, faster than the threshold of restitution.
/// Before the step the velocity of what goes on touching is dt/2 kappa; restitution knows none.
static bool meets(const ConstraintRow& row, const Contact& contact, double least, double dt) {
  const double known = contact.material.restitution > 0.0 ? 0.0 : row.curvature.z;
  const double v = row.velocity[row.set.dim - 1] - known;
  return row.carried && gap_closes(contact.gap, v, dt) && -v > least;
}

/// Sets ConstraintRow::curvature of all contacts of `touching`, without sliding.
static void find_curvatures(const RowContext& context,
                            const ContactSet& contacts,
                            std::vector<TouchingBodies>& touching) {
  const StartOfStep start{
      context.scene, context.parameters, context.state, context.dynamics, context.dt};
  const double least =
      restitution_threshold(context.settings, context.parameters.gravity, context.dt);
  CurvingContact x;
  for (ConstraintRow& row : context.out.rows) {
    if (row.source != RowSource::kContact || row.kind == ReferenceKind::kImmovable) continue;
    const Contact& contact = contacts[row.index];
    TouchingBodies* const bodies = touching_of(touching, contact);
    if (bodies == nullptr) continue;
    row.curves = !contact.witness.swept && row.kind != ReferenceKind::kRestitution;
    row.alone = row.carried && bodies->points == 1;
    if (row.curves && find_curving(start, contact, x)) {
      const HalfStep<double> found = half_step_of(x, contact.frame, context.dt);
      row.curvature = found.rolls;
      if (row.alone) bodies->slides = found.slides;
    }
    bodies->meet = bodies->meet || meets(row, contact, least, context.dt);
  }
}

/// c*_N of drift_reference(), if it is more.
static void correct_drift(double gap, double least, double dt, ConstraintRow& row, double* g) {
  const int n = row.set.dim - 1;
  const double more = drift_reference(gap, row.curvature.z, dt) - row.reference[n];
  if (!(-gap > least * dt) || !(more > 0.0) || row.curvature.z == 0.0) return;
  row.reference[n] += more;
  g[n] -= more;
}

void add_contact_curvature(const RowContext& context,
                           const ContactSet& contacts,
                           ContactProblem& problem) {
  std::vector<TouchingBodies>& touching = find_touching(context, contacts);
  if (touching.empty()) return;
  find_curvatures(context, contacts, touching);
  const double least = least_drift(speed_caps(context.settings));
  for (std::size_t i = 0; i < context.out.rows.size(); ++i) {
    ConstraintRow& row = context.out.rows[i];
    if (row.source != RowSource::kContact || !row.curves) continue;
    const Contact& contact = contacts[row.index];
    const TouchingBodies& bodies = *touching_of(touching, contact);
    row.curves = !bodies.meet;
    row.slides = bodies.slides;
    row.curvature =
        row.curves ? with_sliding(row.curvature, row.slides, contact.frame) : Vec3d{0.0, 0.0, 0.0};
    if (row.compliance[0] > 0.0) row.curvature.x = row.curvature.y = 0.0;
    double* g = problem.g.data() + problem.sets[i].offset;
    for (int r = 0; r < row.set.dim; ++r) g[r] += curvature_in_row(row, r);
    if (row.kind != ReferenceKind::kSpring) correct_drift(contact.gap, least, context.dt, row, g);
  }
}

}  // namespace stiction
