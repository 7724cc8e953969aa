#include "contact/contact_curvature.hpp"

#include "contact/contact_axes.hpp"
#include "contact/contact_memory.hpp"

#include <algorithm>

namespace stiction {
namespace {

MaterialMotion<double> side_motion(const StartOfStep& start, int body, const Vec3d& p) {
  if (body < 0) return MaterialMotion<double>::at_rest();
  const int t = start.scene.tree_of_body(body);
  const Tree& tree = start.scene.trees()[t];
  return material_motion(start.dynamics.views[t],
                         tree_parameters(tree, t, start.parameters),
                         start.dynamics.trees[t],
                         body - tree.body_offset,
                         p);
}

/// From the body's centre of mass [m]; the world has none.
double arm_of(const StartOfStep& start, int body, const Vec3d& p) {
  if (body < 0) return 0.0;
  return norm(p - world_point(start.scene, start.dynamics, body, start.parameters.com[body]));
}

ContactDerivatives derivatives_of(const StartOfStep& start, const Contact& c) {
  const auto shape = [&](int g) { return start.scene.shape(start.parameters, g); };
  const auto pose = [&](int body, int g) {  // in the order of products of lanes
    const Transform& X_BG = start.parameters.geometry_placement[g];
    if (body < 0) return X_BG;
    const int t = start.scene.tree_of_body(body);
    const TreeData<double>& data = start.dynamics.trees[t];
    return data.X_WR * (data.X_RB[body - start.scene.trees()[t].body_offset] * X_BG);
  };
  return contact_derivatives(c,
                             shape(c.geometry_a),
                             pose(c.body_a, c.geometry_a),
                             shape(c.geometry_b),
                             pose(c.body_b, c.geometry_b));
}

bool carried(const State& state, const Contact& contact) {
  const ContactMemory* kept = find_memory(state.contacts, contact);
  return kept != nullptr && squared_norm(kept->impulse_A) > 0.0;
}

/// A number for the two bodies.
std::uint64_t bodies_of(const Contact& c) {
  return static_cast<std::uint64_t>(c.body_a + 1) << 32 | static_cast<std::uint32_t>(c.body_b + 1);
}

}  // namespace

FeatureMaps<double> feature_maps(const ContactDerivatives& d, const Vec3d& n) {
  if (d.exact) return {d.position_u, d.position_w, d.normal_u, d.normal_w};
  const Mat3d zero{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  const Mat3d half{{0.5, 0, 0}, {0, 0.5, 0}, {0, 0, 0.5}};
  const Vec3d r = n * 0.5;
  return {half, zero, zero, {{0, -r.z, r.y}, {r.z, 0, -r.x}, {-r.y, r.x, 0}}};
}

bool find_curving(const StartOfStep& start, const Contact& contact, CurvingContact& out, bool all) {
  const Vec3d& p = contact.position;
  out.a = side_motion(start, contact.body_a, p);
  out.b = side_motion(start, contact.body_b, p);
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
  const double arm_a = arm_of(start, contact.body_a, p), arm_b = arm_of(start, contact.body_b, p);
  const bool curves = may_curve(out.a, out.b, arm_a + arm_b, start.dt);
  if (!curves && !all) return false;
  f.inverse_arm[0] = inverse_arm(arm_a);
  f.inverse_arm[1] = inverse_arm(arm_b);
  f.maps = feature_maps(derivatives_of(start, contact), contact.frame.c2);
  return curves;
}

static Vec3d half_step_curvature(const CurvingContact& x,
                                 const Mat3d& frame,
                                 bool alone,
                                 double dt) {
  const ContactFeature& f = x.feature;
  if (f.on_face) return half_step_on_face(x.a, x.b, frame, f.radius, f.face_of_a, alone, dt);
  return half_step_by_maps(x.a, x.b, frame, f.maps, f.inverse_arm[0], f.inverse_arm[1], alone, dt);
}

/// By their numbers; sets ConstraintRow::carried.
static const std::vector<TouchingBodies>& find_touching(const RowContext& context,
                                                        const ContactSet& contacts) {
  std::vector<TouchingBodies>& all = context.scratch.touching;
  all.clear();
  all.reserve(context.out.rows.size());
  const double least =
      restitution_threshold(context.settings, context.parameters.gravity, context.dt);
  bool any = false;
  for (ConstraintRow& row : context.out.rows) {
    if (row.source != RowSource::kContact) continue;
    const Contact& contact = contacts[row.index];
    row.carried = carried(context.state, contact);
    any = any || row.carried;
    const double v = row.velocity[row.set.dim - 1];
    const bool meets = row.carried && gap_closes(contact.gap, v, context.dt) && -v > least;
    all.push_back({bodies_of(contact), 1, row.carried, meets});
  }
  if (!any) all.clear();
  std::sort(
      all.begin(), all.end(), [](const auto& x, const auto& y) { return x.bodies < y.bodies; });
  std::size_t last = 0;
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i].bodies != all[last].bodies) {
      all[++last] = all[i];
      continue;
    }
    ++all[last].points;
    all[last].carry |= all[i].carry;
    all[last].meet |= all[i].meet;
  }
  if (!all.empty()) all.resize(last + 1);
  return all;
}

static const TouchingBodies& touching_of(const std::vector<TouchingBodies>& all,
                                         const Contact& contact) {
  return *std::lower_bound(
      all.begin(),
      all.end(),
      bodies_of(contact),
      [](const TouchingBodies& x, std::uint64_t bodies) { return x.bodies < bodies; });
}

void add_contact_curvature(const RowContext& context,
                           const ContactSet& contacts,
                           ContactProblem& problem) {
  const StartOfStep start{
      context.scene, context.parameters, context.state, context.dynamics, context.dt};
  const std::vector<TouchingBodies>& touching = find_touching(context, contacts);
  CurvingContact x;
  for (std::size_t i = 0; i < context.out.rows.size() && !touching.empty(); ++i) {
    ConstraintRow& row = context.out.rows[i];
    if (row.source != RowSource::kContact || row.kind == ReferenceKind::kRestitution ||
        row.kind == ReferenceKind::kImmovable)
      continue;
    const Contact& contact = contacts[row.index];
    const TouchingBodies& bodies = touching_of(touching, contact);
    row.curves = !contact.witness.swept && bodies.carry && !bodies.meet;
    row.alone = bodies.points == 1;
    if (!row.curves || !find_curving(start, contact, x)) continue;
    row.curvature = half_step_curvature(x, contact.frame, row.alone, context.dt);
    if (row.compliance[0] > 0.0) row.curvature.x = row.curvature.y = 0.0;
    double* g = problem.g.data() + problem.sets[i].offset;
    for (int k = 0; k < 3; ++k) g[point_row(row.set.dim, k)] += row.curvature[k];
  }
}

}  // namespace stiction
