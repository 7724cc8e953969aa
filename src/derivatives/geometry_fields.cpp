#include "derivatives/moving_contact.hpp"
#include "derivatives/parameter_changes.hpp"

// Where geometries lie on their bodies. The point, its frame and its gap move as with the body, but
// no velocity of a body does.

namespace stiction {
namespace {

using Input = DerivativeInput;
using Linear = Linearisation;

int six_by_geometry(const Input& in) { return 6 * static_cast<int>(in.scene.geometries().size()); }

/// A motion (u, w) at the contact of the shape of A or B.
void add_motion(const DerivativeInput& in,
                const Linear& linear,
                const MovingContact& p,
                int set,
                bool on_a,
                const Vec3d& u,
                const Vec3d& w,
                int column,
                const ChangeSink& out) {
  const PointChange moved = point_change(p, on_a, u, w);
  const RowChange change = row_change(p, moved, {});
  RowColumn row{};
  for (int r = 0; r < 3; ++r) row.velocity[r] = change.velocity[r];
  row.force = change.force;
  row.moment[0] = row.moment[1] = change.moment;
  out.row(in, linear, column, set, row);
  const MovingSpring* spring = find_spring(out.springs, p.contact);
  if (spring != nullptr && spring->slip > 0.0)
    out.extension(column, *spring, extension_by_turns(*spring, p, moved.turn, {0, 0, 0}));
}

/// Tangents of X_BG in the axes of the geometry: shift, then turn.
void add_placement(const Input& in, const Linear& linear, const ChangeSink& out) {
  MovingRows& rows = out.all.rows;
  rows.begin = linear.moving.begin;
  rows.end = linear.moving.end;
  for (int i = 0; i < in.record.problem.num_sets(); ++i) {
    if (in.record.rows.rows[i].source != RowSource::kContact) continue;
    const MovingContact p = moving_contact(in, i, rows);
    for (const bool on_a : {true, false}) {
      const int g = on_a ? p.contact.geometry_a : p.contact.geometry_b;
      const int body = on_a ? p.contact.body_a : p.contact.body_b;
      const Transform X =
          body_placement(in.scene, in.record.dynamics, body) * in.parameters.geometry_placement[g];
      for (int k = 0; k < 6; ++k) {
        const Vec3d& axis = X.R.column(k % 3);
        const Vec3d w = k < 3 ? Vec3d{0, 0, 0} : axis;
        const Vec3d u = k < 3 ? axis : cross(axis, p.contact.position - X.p);
        add_motion(in, linear, p, i, on_a, u, w, 6 * g + k, out);
      }
    }
  }
}

}  // namespace

const std::vector<ParameterField>& geometry_fields() {
  static const std::vector<ParameterField> fields = {
      {"geometry_placement", six_by_geometry, add_placement},
  };
  return fields;
}

}  // namespace stiction
