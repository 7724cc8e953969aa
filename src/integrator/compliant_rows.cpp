#include "contact/constraint_row.hpp"
#include "contact/contact_axes.hpp"
#include "contact/rows_by_dof.hpp"
#include "dynamics/mass_matrix.hpp"
#include "integrator/compliant_system.hpp"
#include "integrator/step_coordinates.hpp"
#include "model/contact_order.hpp"

#include <algorithm>
#include <array>

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

/// Of the spin, the same: w_B - w_A seen in the anchor body's axes.
Vec3d analytic_turn_drift(const CompliantInput& input,
                          const Contact& contact,
                          const CompliantPoint& point,
                          const CompliantSystem& system) {
  const auto rates = [&](int body) -> std::array<Vec3d, 2> {
    if (body < 0) return {Vec3d{0, 0, 0}, Vec3d{0, 0, 0}};
    const int t = input.scene.tree_of_body(body);
    const int local = body - input.scene.trees()[t].body_offset;
    const TreeData<double>& data = system.dynamics.trees[t];
    return {data.X_WR.R * data.V[local].angular, data.X_WR.R * data.A[local].angular};
  };
  const auto [w_P, a_P] = rates(point.point_body);
  const auto [w_C, a_C] = rates(point.anchor_body);
  return transpose_times(contact.frame, a_P - a_C - cross(w_C, w_P)) * point.sign;
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
    const bool couples = point.compliance.has_couples();
    if (found == nullptr) {
      point.drift = analytic_drift(input, contact, point, system);  // as a vertex: it has just gone
      if (couples) point.turn_drift = analytic_turn_drift(input, contact, point, system);
      continue;
    }
    Contact there = *found;
    there.frame = carried_frame(
        scene, point.anchor_body, system.dynamics, moved, contact.frame, there.frame.c2);
    point.drift = (relative_velocity(scene, moved, there) - point.motion.velocity) * (1.0 / kStep);
    if (!couples) continue;
    const Vec3d spin = transpose_times(there.frame, relative_spin(scene, moved, there));
    const Vec3d spun =
        transpose_times(contact.frame, relative_spin(scene, system.dynamics, contact));
    point.turn_drift = (spin - spun) * (1.0 / kStep);
  }
  here.q = system.aside.q;
  here.v = system.aside.v;
}

void list_row_starts(CompliantSystem& system) {
  const std::vector<ConstraintRow>& rows = system.rows.rows;
  system.row_start.resize(rows.size() + 1);
  system.row_start[0] = 0;
  for (std::size_t i = 0; i < rows.size(); ++i)
    system.row_start[i + 1] = system.row_start[i] + rows[i].set.dim;
}

/// From the order of contacts, which as a rule is theirs, to that of rows.
void sort_points(CompliantSystem& system) {
  const std::vector<ConstraintRow>& rows = system.rows.rows;
  int next = 0;
  const auto in_place = [&](const ConstraintRow& row) { return row.index == next++; };
  if (std::all_of(rows.begin(), rows.end(), in_place)) return;
  system.aside.sorted.clear();
  for (const ConstraintRow& row : rows) system.aside.sorted.push_back(system.points[row.index]);
  system.points.swap(system.aside.sorted);
  list_row_starts(system);
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
  list_row_starts(system);
  bool general = false;
  for (CompliantPoint& point : system.points) {
    general = general || point.kind == PointKind::kGeneral;
    if (point.kind == PointKind::kGeneral) continue;
    const Contact& contact = system.contacts[point.contact];
    point.drift = analytic_drift(input, contact, point, system);
    if (point.compliance.has_couples())
      point.turn_drift = analytic_turn_drift(input, contact, point, system);
  }
  if (general) difference_drift(input, system);
}

void assemble(const CompliantInput& input, CompliantSystem& system) {
  const Scene& scene = input.scene;
  list_rows(input, system);
  assemble_rows(scene, system.dynamics, system.rows, system.row_scratch, system.delassus);
  if (const RowsByDof* Y = system.rows.whitened.by_dof())
    find_responses(system.dynamics, *Y, system.responses);
  system.row_rate.assign(system.delassus.g.size(), 0.0);
  add_row_velocity(scene,
                   system.dynamics,
                   system.rows,
                   system.dynamics.free_motion.data(),
                   system.row_scratch,
                   system.row_rate);
  sort_points(system);
  for (std::size_t i = 0; i < system.points.size(); ++i) {
    const double* a = system.row_rate.data() + system.row_start[i];
    const int normal = system.row_start[i + 1] - system.row_start[i] - 1;
    system.points[i].free_acceleration = system.points[i].drift + Vec3d{a[0], a[1], a[normal]};
  }
}

void add_drift(const CompliantSystem& system, std::size_t i, const double* given, double* out) {
  const CompliantPoint& point = system.points[i];
  const int normal = system.row_start[i + 1] - system.row_start[i] - 1;
  out[0] = point.drift.x + given[0];
  out[1] = point.drift.y + given[1];
  for (int r = 2; r < normal; ++r) out[r] = point.turn_drift[couple_axis(r)] + given[r];
  out[normal] = point.drift.z + given[normal];
}

void point_accelerations(const Scene& scene,
                         const CompliantSystem& system,
                         const std::vector<double>& a,
                         std::vector<double>& out) {
  out.assign(system.row_start.back(), 0.0);
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
  const RowsByDof* Y = system.rows.whitened.by_dof();
  if (Y == nullptr)
    return velocity_change(
        scene, system.dynamics, system.rows, nullptr, f, system.row_scratch, out);
  std::fill(out, out + scene.nv(), 0.0);
  stiction::respond(
      *Y, system.responses, f, system.row_scratch, out + scene.trees()[Y->tree].v_offset);
}

void dense_delassus(const CompliantSystem& system, int first, int last, double* out) {
  const std::vector<int>& start = system.row_start;
  const int begin = start[first], n = start[last] - begin;
  std::fill(out, out + n * n, 0.0);
  for (int i = first; i < last; ++i) {
    const int dim = start[i + 1] - start[i];
    system.delassus.each_column(i, [&](int column, const double* block) {
      const int c = column - begin;  // one tree of all rows: columns of others too
      if (c < 0 || c >= n) return;
      double* to = out + c * n + start[i] - begin;
      if (dim == 3)
        std::copy_n(block, 3, to);
      else
        std::copy_n(block, dim, to);
    });
  }
}

}  // namespace stiction::compliance
