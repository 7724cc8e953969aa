#include "contact/constraint_row.hpp"
#include "contact/one_tree_rows.hpp"
#include "dynamics/mass_matrix.hpp"
#include "integrator/compliant_system.hpp"
#include "integrator/step_coordinates.hpp"
#include "model/contact_order.hpp"

#include <algorithm>

// The dynamics seen at the contact points: Y = J M^-1 J^T and b = J M^-1 (tau - nle) + J' v.

namespace stiction::compliance {
namespace {

struct PointState {
  Vec3d v, w, a;  // world: velocity of the material point, angular velocity, acceleration at zero
                  // joint acceleration (classical)
};

PointState material_point(const Scene& scene,
                          const Parameters& parameters,
                          const DynamicsWorkspace& dynamics,
                          int body,
                          const Vec3d& p_W) {
  if (body < 0) return {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  const int t = scene.tree_of_body(body), local = body - scene.trees()[t].body_offset;
  const TreeData<double>& data = dynamics.trees[t];
  const Mat3d& R = data.X_WR.R;
  const Vec3d p = transpose_times(R, p_W - data.X_WR.p);
  const Motion<double>&V = data.V[local], &A = data.A[local];
  const Vec3d v = V.linear + cross(V.angular, p);
  const Vec3d a = A.linear + cross(A.angular, p) + cross(V.angular, v);
  return {R * v, R * V.angular, R * a + parameters.gravity};
}

/// J' v of a point that is fixed to the point body or has a constant arm from it in the anchor
/// body's axes. The point moves at p'; a material velocity seen there changes as a + w x (p' - v),
/// and the frame turns with the anchor body.
Vec3d analytic_drift(const CompliantInput& input,
                     const Contact& contact,
                     const CompliantPoint& point,
                     const CompliantSystem& system) {
  const auto at = [&](int body) {
    return material_point(input.scene, input.parameters, system.dynamics, body, contact.position);
  };
  const PointState r = at(point.point_body), c = at(point.anchor_body);
  Vec3d moving = r.v;
  if (point.kind == PointKind::kRound) {
    const Vec3d arm = world_vector(input.scene, system.dynamics, point.anchor_body, point.arm);
    moving = r.v - cross(r.w, arm) + cross(c.w, arm);
  }
  const Vec3d rate =
      r.a + cross(r.w, moving - r.v) - c.a - cross(c.w, moving - c.v) - cross(c.w, r.v - c.v);
  return transpose_times(contact.frame, rate) * point.sign;
}

/// J' v of the points of kind kGeneral: the change of J v along a motion without acceleration.
void difference_drift(const CompliantInput& input, CompliantSystem& system) {
  constexpr double kStep = 1e-6;  // [s]
  const Scene& scene = input.scene;
  State& here = system.here;
  system.aside.q = here.q;
  system.aside.v = here.v;
  here.v *= kStep;
  displace(scene, system.aside.q.data(), here.v.data(), here.q.data());
  turn_axes(scene, system.aside.q.data(), here.q.data(), system.aside.v.data(), here.v.data());
  DynamicsWorkspace& moved = system.moved;
  if (moved.trees.empty()) moved.resize(scene);
  forward_kinematics(scene, input.parameters, here.q.data(), here.v.data(), moved);
  collide(scene,
          input.parameters,
          moved,
          input.collision,
          input.h,
          here,
          system.collision,
          system.found);
  for (CompliantPoint& point : system.points) {
    if (point.kind != PointKind::kGeneral) continue;
    const Contact& contact = system.contacts[point.contact];
    const Contact* found = find_contact(system.found, contact);
    if (found == nullptr) {
      point.drift = analytic_drift(input, contact, point, system);  // as a vertex: it has just gone
      continue;
    }
    Contact there = *found;
    there.frame = carried_frame(
        scene, point.anchor_body, system.dynamics, moved, contact.frame, there.frame.c2);
    point.drift = (relative_velocity(scene, moved, there) - point.motion.velocity) * (1.0 / kStep);
  }
  here.q = system.aside.q;
  here.v = system.aside.v;
}

}  // namespace

void list_rows(const CompliantInput& input, CompliantSystem& system) {
  ConstraintRows& rows = system.rows;
  rows.clear();
  const RowContext context{input.scene,
                           input.parameters,
                           system.here,
                           input.contact,
                           input.h,
                           system.dynamics,
                           rows,
                           system.row_scratch};
  append_point_rows(context, system.contacts);
  bool general = false;
  for (CompliantPoint& point : system.points) {
    general = general || point.kind == PointKind::kGeneral;
    if (point.kind != PointKind::kGeneral)
      point.drift = analytic_drift(input, system.contacts[point.contact], point, system);
  }
  if (general) difference_drift(input, system);
}

void assemble(const CompliantInput& input, CompliantSystem& system) {
  const Scene& scene = input.scene;
  list_rows(input, system);
  assemble_rows(scene, system.dynamics, system.rows, system.row_scratch, system.delassus);
  if (const OneTreeRows* Y = system.rows.whitened.one_tree())
    find_responses(system.dynamics, *Y, system.responses);
  system.row_rate.assign(system.delassus.g.size(), 0.0);
  add_row_velocity(scene,
                   system.dynamics,
                   system.rows,
                   system.dynamics.free_motion.data(),
                   system.row_scratch,
                   system.row_rate);
  system.sorted.clear();  // points were in the order of contacts
  for (const ConstraintRow& row : system.rows.rows)
    system.sorted.push_back(system.points[row.index]);
  system.points.swap(system.sorted);
  for (std::size_t i = 0; i < system.points.size(); ++i) {
    const double* a = system.row_rate.data() + 3 * i;
    system.points[i].free_acceleration = system.points[i].drift + Vec3d{a[0], a[1], a[2]};
  }
}

void point_accelerations(const Scene& scene,
                         const CompliantSystem& system,
                         const std::vector<double>& a,
                         std::vector<double>& out) {
  out.assign(3 * system.points.size(), 0.0);
  add_row_motion(scene, system.dynamics, system.rows, a.data(), out);
}

void push_points(const Scene& scene,
                 const CompliantSystem& system,
                 const std::vector<double>& f,
                 std::vector<double>& force,
                 std::vector<double>& acceleration) {
  force.assign(scene.nv(), 0.0);
  add_row_forces(scene, system.dynamics, system.rows, f, force);
  respond(scene, system, force, acceleration);
}

void respond(const Scene& scene,
             const CompliantSystem& system,
             std::vector<double>& f,
             std::vector<double>& acceleration) {
  const DynamicsWorkspace& dynamics = system.dynamics;
  for (std::size_t t = 0; t < scene.trees().size(); ++t)
    solve_transposed(dynamics.views[t], dynamics.trees[t], f.data() + scene.trees()[t].v_offset);
  acceleration = f;
  solve_scaled_lower(scene, dynamics, acceleration.data());
}

void apply_forces(const Scene& scene,
                  CompliantSystem& system,
                  const std::vector<double>& f,
                  double* out) {
  const OneTreeRows* Y = system.rows.whitened.one_tree();
  if (Y == nullptr)
    return velocity_change(
        scene, system.dynamics, system.rows, nullptr, f, system.row_scratch, out);
  std::fill(out, out + scene.nv(), 0.0);
  stiction::respond(
      *Y, system.responses, f, system.row_scratch, out + scene.trees()[Y->tree].v_offset);
}

void dense_delassus(const CompliantSystem& system, int first, int last, double* out) {
  const int n = 3 * (last - first);
  std::fill(out, out + n * n, 0.0);
  for (int i = first; i < last; ++i) {
    system.delassus.each_column(i, [&](int column, const double* block) {
      const int c = column - 3 * first;  // one tree of all rows: columns of others too
      if (c >= 0 && c < n) std::copy(block, block + 3, out + c * n + 3 * (i - first));
    });
  }
}

}  // namespace stiction::compliance
