#include "integrator/exponential_end.hpp"

#include "stiction/math/constants.hpp"

#include "dynamics/joint_forces.hpp"
#include "integrator/energy.hpp"
#include "integrator/island_rows.hpp"
#include "integrator/step_coordinates.hpp"
#include "math/factor_symmetric.hpp"
#include "math/rotation_vector.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace stiction {
using namespace compliance;
namespace {

// Shares of T + S at its start that a sub-step may add, and misplace by the defects of the closed
// form.
constexpr double kAddedShare = 1e-3, kMisplacedShare = 0.05;
// Of the match of velocities: springs whose softness is a tenth of what takes the step for a stiff
// one count half; rows that depend on others within rounding take this share of their own inertia.
constexpr double kSoftShare = 0.1, kRankShare = 1e-10;
/// [N s^2/m] of a row without spring and damper.
constexpr double kNoSpring = 1e-300;

/// 1 / (k h^2 + d h) of a row: far below Y where the spring is stiff for the step.
double softness(const ContactIsland& island, int row, double h) {
  const bool point = row < 3 * island.size, normal = point && row % 3 == 2;
  const int i = point ? row / 3 : island.turns[row - 3 * island.size].point;
  const PointCompliance& c = island.compliance[i];
  const double k = normal ? c.stiffness : c.tangential_stiffness,
               d = normal ? c.damping : c.tangential_damping;
  return 1.0 / std::max(h * (k * h + d), kNoSpring);
}

/// e <- y of (Y + kSoftShare diag(softness)) y = e in the given rows of an island: motions that the
/// springs are stiff for are matched, of others the quadrature of accelerations knows more than the
/// difference of two velocities of nearly dependent rows.
void solve_rows(const ContactIsland& island,
                const std::vector<int>& rows,
                std::vector<double>& factor,
                std::vector<double>& e) {
  const int m = static_cast<int>(rows.size()), stride = padded(m);
  factor.assign(static_cast<std::size_t>(m) * stride, 0.0);
  for (int i = 0; i < m; ++i) {
    const int r = rows[i];
    const double* Y = island.Y.data() + static_cast<std::size_t>(r) * island.rows();
    double* out = factor.data() + static_cast<std::size_t>(i) * stride;
    for (int j = i; j < m; ++j) out[j] = Y[rows[j]];
    out[i] += kSoftShare * softness(island, r, island.h) + kRankShare * Y[r];
  }
  if (factor_symmetric(factor.data(), m, stride)) {
    substitute_symmetric(factor.data(), m, stride, e.data());
  } else {
    std::fill(e.begin(), e.end(), 0.0);
  }
}

/// J v of a point of the start, and its spin, at the kinematics of the end, in its contact frame:
/// of kind kGeneral where the predicted end has found it, since it moves over both surfaces. False
/// if it has not.
bool end_velocity(
    const CompliantInput& input, const CompliantWorkspace& work, int i, Vec3d& out, Vec3d& spin) {
  const bool general = work.start.points[i].kind == PointKind::kGeneral;
  const int j = general ? work.exponential.partner[i] : i;
  if (j < 0) return false;
  const CompliantSystem& system = general ? work.end : work.start;
  const CompliantPoint& point = system.points[j];
  const Vec3d v = relative_velocity(input.scene, point, work.end.dynamics);
  out = to_contact(input.scene, system, point, v);
  if (!point.compliance.has_couples()) return true;
  const Vec3d w = relative_spin(input.scene, work.end.dynamics, system.contacts[point.contact]);
  const Vec3d seen = body_vector(input.scene, work.end.dynamics, point.anchor_body, w);
  spin = to_contact(input.scene, system, point, seen);
  return true;
}

/// Rows of the points of an island that are closed at the end of the step, and x'(h) - J v+ there.
void list_mismatch(const CompliantInput& input,
                   const CompliantWorkspace& work,
                   int island,
                   std::vector<int>& rows,
                   std::vector<double>& mismatch) {
  const ContactMotion& points = work.exponential.islands[island];
  const int first = work.start.delassus.island_start[island];
  rows.clear();
  mismatch.clear();
  for (int i = 0; i < points.island().size; ++i) {
    const ContactMode mode = points.mode()[i];
    if (mode == ContactMode::kOpen) continue;
    Vec3d v, spin;
    const bool known = end_velocity(input, work, first + i, v, spin);
    const auto match = [&](int row, double velocity) {
      rows.push_back(row);
      mismatch.push_back(known ? points.end().v[row] - velocity : 0.0);
    };
    for (int r = mode == ContactMode::kStick ? 0 : 2; r < 3; ++r) match(3 * i + r, v[r]);
    if (mode != ContactMode::kStick) continue;
    points.island().each_turn(
        i, [&](int row, int axis, double unit) { match(row, unit * spin[axis]); });
  }
}

/// An upper bound on the work of what is no contact: servos, torques, wrenches. Springs and dampers
/// of joints change their force by (implicit diagonal - armature) dv / h.
double work_bound(const CompliantInput& input, const CompliantWorkspace& work) {
  const DynamicsWorkspace& start = work.start.dynamics;
  double sum = 0.0;
  for (int k = 0; k < input.scene.nv(); ++k) {
    const double yields = (start.implicit_diagonal[k] - input.parameters.armature[k]) / input.h;
    const double change = yields * std::abs(work.nu[k] - work.start.here.v[k]);
    sum += (std::abs(start.force[k]) + change) * std::abs(work.xi[k]);
  }
  for (const ExternalWrench& w : input.control.wrenches) {
    const Transform a = body_placement(input.scene, work.start.dynamics, w.body),
                    b = body_placement(input.scene, work.end.dynamics, w.body);
    const double turned = norm(b.R.c0 - a.R.c0) + norm(b.R.c1 - a.R.c1);
    sum += norm(w.force) * norm(b.p - a.p) + norm(w.moment) * 2.0 * turned;
  }
  return sum;
}

/// Of points that only the narrow phase at the end knows.
double elastic_energy_of_new_points(const CompliantWorkspace& work) {
  const std::vector<int>& partner = work.exponential.partner;
  double sum = 0.0;
  for (std::size_t j = 0; j < work.end.points.size(); ++j) {
    const CompliantPoint& point = work.end.points[j];
    if (!(point.motion.gap < 0.0)) continue;
    if (std::find(partner.begin(), partner.end(), static_cast<int>(j)) != partner.end()) continue;
    sum += 0.5 * point.compliance.stiffness * point.motion.gap * point.motion.gap;
  }
  return sum;
}

}  // namespace

bool EnergyBalance::acceptable() const {
  return misplaced <= kMisplacedShare * start + 1e-12 * budget &&
         kinetic + elastic + appeared <= budget;
}

void match_contact_velocity(const CompliantInput& input,
                            const State& state,
                            CompliantWorkspace& work) {
  ExponentialScratch& s = work.exponential;
  const Scene& scene = input.scene;
  CompliantSystem& start = work.start;
  displace(scene, state.q.data(), work.xi.data(), work.q.data());
  turn_axes(scene, state.q.data(), work.q.data(), work.nu.data(), work.v.data());
  forward_kinematics(
      scene, input.parameters, work.q.data(), work.v.data(), work.end.known, work.end.dynamics);
  const std::vector<int>& bounds = start.delassus.island_start;
  s.rows.assign(start.row_start.back(), 0.0);
  for (int k = 0; k < start.delassus.num_islands(); ++k) {
    list_mismatch(input, work, k, s.closed, s.mismatch);
    if (s.closed.empty()) continue;
    const ContactIsland& island = s.islands[k].island();
    solve_rows(island, s.closed, s.factor, s.mismatch);
    for (std::size_t j = 0; j < s.closed.size(); ++j) {
      const RowPlace place = place_of(start, bounds[k], island, s.closed[j]);
      s.rows[place.row] = place.unit * s.mismatch[j];
    }
  }
  apply_forces(scene, start, s.rows, s.dG.data());
  for (int k = 0; k < scene.nv(); ++k) work.nu[k] += s.dG[k];
}

namespace {

/// How far B has turned relative to A over the step, contact frame of the start [rad].
Vec3d turn_of(const CompliantInput& input,
              const CompliantSystem& start,
              const CompliantPoint& point,
              const DynamicsWorkspace& end) {
  const auto seen = [&](const DynamicsWorkspace& d) {  // the point body in the anchor body's axes
    return transpose_times(body_placement(input.scene, d, point.anchor_body).R,
                           body_placement(input.scene, d, point.point_body).R);
  };
  const Vec3d turn = rotation_vector(seen(end) * transpose(seen(start.dynamics)));
  return to_contact(input.scene, start, point, turn * point.sign);
}

/// By kinematics less by the closed form, in the units of the cone, of a point that sticks at the
/// end. The angular velocity integrates to the rotation vector up to a term of third order in the
/// step; where friction has slid throughout the anchor follows the couple, however far it is.
Vec3d turn_defect(const CompliantInput& input,
                  const CompliantWorkspace& work,
                  const ContactMotion& points,
                  int first,
                  int i) {
  const CompliantPoint& point = work.start.points[i];
  Vec3d out{0, 0, 0};
  const Vec3d turn = turn_of(input, work.start, point, work.end.dynamics);
  points.island().each_turn(i - first, [&](int row, int axis, double unit) {
    out[axis] = unit * turn[axis] - points.end().x[row];
  });
  return out;
}

}  // namespace

PointEnd end_of_point(
    const CompliantInput& input, const CompliantWorkspace& work, int island, int first, int i) {
  const CompliantPoint& point = work.start.points[i];
  const ContactMotion& points = work.exponential.islands[island];
  const double* x = points.end().x.data() + 3 * (i - first);
  PointEnd end;
  end.mode = points.mode()[i - first];
  if (point.kind == PointKind::kGeneral) {
    const int j = work.exponential.partner[i];
    end.gap = j < 0 ? std::numeric_limits<double>::infinity() : work.end.points[j].motion.gap;
    // One that is out by both accounts is not misplaced, however far it is.
    end.defect.z = std::min(end.gap, 0.0) - std::min(x[2], 0.0);
  } else {
    const Vec3d way = to_contact(
        input.scene, work.start, point, way_of(input, work.start, point, work.end.dynamics));
    end.gap = point.motion.gap + way.z;
    end.defect.z = end.gap - x[2];
    if (point.kind == PointKind::kMaterial) {
      end.defect.x = way.x - x[0];
      end.defect.y = way.y - x[1];
    }
  }
  const bool sticks = end.mode == ContactMode::kStick;
  end.extension = points.end().e[i - first];
  if (!(point.compliance.friction > 0.0 && point.compliance.has_sliding_spring()))
    end.extension.along = {0, 0, 0};
  else if (sticks)
    end.extension.along = end.extension.along - Vec3d{end.defect.x, end.defect.y, 0.0};
  if (sticks && point.kind != PointKind::kGeneral && point.compliance.has_couples()) {
    end.turn_defect = turn_defect(input, work, points, first, i);
    end.extension.about = end.extension.about - end.turn_defect;
  }
  return end;
}

void find_ends(const CompliantInput& input, CompliantWorkspace& work) {
  work.exponential.ends.resize(work.start.points.size());
  each_point(work.start, [&](int island, int first, int i) {
    work.exponential.ends[i] = end_of_point(input, work, island, first, i);
  });
}

EnergyBalance energy_balance(const CompliantInput& input, const CompliantWorkspace& work) {
  EnergyBalance e;
  double kinetic = 0.0, potential = 0.0;
  for (const TreeData<double>& t : work.start.dynamics.trees) {
    kinetic += t.kinetic_energy;
    potential += t.potential_energy;
  }
  const MechanicalEnergy end = mechanical_energy(input.scene, input.parameters, work.end.dynamics);
  e.kinetic = end.kinetic + rotor_energy(input.parameters, work.nu.data());
  e.start = kinetic + rotor_energy(input.parameters, work.start.here.v.data()) +
            elastic_energy(work.start);
  each_point(work.start, [&](int, int, int i) {
    const CompliantPoint& point = work.start.points[i];
    if (point.force.mode == ContactMode::kOpen) {  // inside, but on its way out
      const double depth = std::min(point.motion.gap, 0.0);
      e.start += 0.5 * point.compliance.stiffness * depth * depth;
    }
    const PointEnd& p = work.exponential.ends[i];
    if (p.mode == ContactMode::kOpen && p.gap >= 0.0) return;
    const PointCompliance& c = point.compliance;
    const auto energy = [&](const Tangential& t, double n) {
      return 0.5 * (c.tangential_stiffness * dot(t, t) + c.stiffness * n * n);
    };
    if (p.mode ==
        ContactMode::kOpen) {  // the closed form has it out, the kinematics have it inside
      e.elastic += energy({}, p.gap);
      e.misplaced += energy({}, std::min(-p.gap, std::abs(p.defect.z)));
      return;
    }
    e.elastic += energy(p.extension, std::min(p.gap, 0.0));
    e.misplaced += energy({p.defect, p.turn_defect}, p.defect.z);
  });
  if (work.exponential.located) e.appeared = elastic_energy_of_new_points(work);
  const double released = potential - end.potential;
  const double rounding = 1e-12 * (e.start + std::abs(potential) + std::abs(end.potential));
  e.budget =
      std::max(0.0, (1.0 + kAddedShare) * e.start + released + work_bound(input, work)) + rounding;
  return e;
}

}  // namespace stiction
