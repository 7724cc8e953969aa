#include "derivatives/moving_contact.hpp"
#include "derivatives/parameter_changes.hpp"

// Where geometries lie on their bodies, and how large they are. The point, its frame and its gap
// move as with a body, but no velocity of a body does.

namespace stiction {
namespace {

using Input = DerivativeInput;
using Linear = Linearisation;

int six_by_geometry(const Input& in) { return 6 * static_cast<int>(in.scene.geometries().size()); }
int three_by_geometry(const Input& in) {
  return 3 * static_cast<int>(in.scene.geometries().size());
}

/// visit(contact, its set) of those in the problem.
template <class Visit>
void each_contact(const Input& in, const Linear& linear, const ChangeSink& out, Visit&& visit) {
  MovingRows& rows = out.all.rows;
  rows.begin = linear.moving.begin;
  rows.end = linear.moving.end;
  for (int i = 0; i < in.record.problem.num_sets(); ++i) {
    if (in.record.rows.rows[i].source == RowSource::kContact) visit(moving_contact(in, i, rows), i);
  }
}

/// A contact that changes as `moved` says.
void add_change(const Input& in,
                const Linear& linear,
                const MovingContact& p,
                int set,
                const PointChange& moved,
                const RowMotion& motion,
                int column,
                const ChangeSink& out) {
  const RowChange change = row_change(p, moved, motion);
  RowColumn row{};
  set_velocity(p, change, row.velocity);
  row.force = change.force;
  row.moment[0] = row.moment[1] = change.moment;
  out.row(in, linear, column, set, row);
  const MovingSpring* spring = find_spring(out.springs, p.contact);
  if (spring != nullptr && spring->slip > 0.0)
    out.extension(column, *spring, extension_by_turns(*spring, p, moved.turn, {0, 0, 0}));
}

/// Tangents of X_BG in the axes of the geometry: shift, then turn.
void add_placement(const Input& in, const Linear& linear, const ChangeSink& out) {
  each_contact(in, linear, out, [&](const MovingContact& p, int set) {
    for (const bool on_a : {true, false}) {
      const int g = on_a ? p.contact.geometry_a : p.contact.geometry_b;
      const Transform X = geometry_pose(in, g);
      for (int k = 0; k < 6; ++k) {
        const Vec3d& axis = X.R.column(k % 3);
        const Vec3d w = k < 3 ? Vec3d{0, 0, 0} : axis;
        const Vec3d u = k < 3 ? axis : cross(axis, p.contact.position - X.p);
        RowMotion motion;
        add_surface_change(change_with_shape(p.surfaces.of[on_a ? 0 : 1], u, w), on_a, motion);
        add_change(in, linear, p, set, point_change(p, on_a, u, w), motion, 6 * g + k, out);
      }
    }
  });
}

/// Linear, then angular.
void add_twists(const Input& in, const Linear& linear, bool belt, const ChangeSink& out) {
  each_contact(in, linear, out, [&](const MovingContact& p, int set) {
    for (const bool on_a : {true, false}) {
      const int g = on_a ? p.contact.geometry_a : p.contact.geometry_b;
      const SurfaceMotion& own = p.surfaces.of[on_a ? 0 : 1];
      const MaterialMotion<double>& material = on_a ? p.curving.a : p.curving.b;
      const Vec3d of_body = material.turning - own.all.turning;
      const Transform X = geometry_pose(in, g);
      for (int k = 0; k < 6; ++k) {
        SurfaceMotion change = change_with_entry(own, X, p.contact.position, k, belt);
        if (p.curves) change.all.acceleration += cross(of_body, change.all.velocity) * 2.0;
        RowMotion motion;
        add_surface_change(change, on_a, motion);
        add_change(in, linear, p, set, {{0, 0, 0}, {0, 0, 0}, 0.0}, motion, 6 * g + k, out);
      }
    }
  });
}

struct SizeChanges {
  ContactChange of_a[3], of_b[3];
  const ContactChange& operator[](int k) const { return k < 3 ? of_a[k] : of_b[k - 3]; }
};
SizeChanges changes_by_size(const Input& in, const Contact& c) {
  SizeChanges out;
  contact_changes_by_size(c,
                          in.scene.shape(in.parameters, c.geometry_a),
                          geometry_pose(in, c.geometry_a),
                          in.scene.shape(in.parameters, c.geometry_b),
                          geometry_pose(in, c.geometry_b),
                          out.of_a,
                          out.of_b);
  return out;
}

/// Shape::size of each.
void add_size(const Input& in, const Linear& linear, const ChangeSink& out) {
  each_contact(in, linear, out, [&](const MovingContact& p, int set) {
    const int a = p.contact.geometry_a, b = p.contact.geometry_b;
    const SizeChanges found = changes_by_size(in, p.found);
    for (int k = 0; k < 6; ++k) {
      const double shift = shift_change(p, [&](const Contact& c) {
        return &c == &p.contact ? found[k] : changes_by_size(in, found_contact(p, c))[k];
      });
      PointChange moved = point_change(p, found[k], shift);
      if (p.curves && !p.curving.feature.on_face)
        add_maps(maps_by_size(p, k, found[k]), 1.0, moved.maps);
      RowMotion motion;
      if (k == (p.curving.feature.face_of_a ? 3 : 0) && p.curving.feature.radius > 0.0)
        motion.radius = 1.0;
      add_change(in, linear, p, set, moved, motion, 3 * (k < 3 ? a : b) + k % 3, out);
    }
  });
}

}  // namespace

const std::vector<ParameterField>& geometry_fields() {
  static const std::vector<ParameterField> fields = {
      {"geometry_placement", six_by_geometry, add_placement},
      {"geometry_size", three_by_geometry, add_size},
      {"geometry_velocity",
       six_by_geometry,
       [](const Input& in, const Linear& linear, const ChangeSink& out) {
         add_twists(in, linear, false, out);
       }},
      {"surface_velocity",
       six_by_geometry,
       [](const Input& in, const Linear& linear, const ChangeSink& out) {
         add_twists(in, linear, true, out);
       }},
  };
  return fields;
}

}  // namespace stiction
