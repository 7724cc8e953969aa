#include "derivatives/moving_springs.hpp"

#include "contact/constraint_row.hpp"
#include "contact/contact_memory.hpp"
#include "model/contact_order.hpp"

#include <algorithm>

namespace stiction {
namespace {

const Contact& contact_of(const DerivativeInput& in, int set) {
  return in.record.contacts[in.record.rows.rows[set].index];
}

/// Whether the contact of the set leaves an extension behind.
bool loaded(const DerivativeInput& in, int set) {
  const ConstraintRow& row = in.record.rows.rows[set];
  if (row.source != RowSource::kContact || row.compliance[0] == 0.0) return false;
  const double normal =
      in.record.solution.impulse[in.record.problem.sets[set].offset + row.set.dim - 1];
  return normal > 0.0 &&
         point_compliance(contact_of(in, set).material, 1.0).tangential_stiffness > 0.0;
}

MovingSpring spring_of(const DerivativeInput& in, int set) {
  const ConstraintRow& row = in.record.rows.rows[set];
  const Contact& c = contact_of(in, set);
  MovingSpring s;
  s.set = set;
  s.R = anchor_rotation(in.scene, in.record.dynamics, c);
  if (find_memory(in.before.contacts, c) != nullptr) {
    s.share = compliance_of(c, in.settings).tangential_stiffness * in.dt * row.compliance[0];
  }
  if (!loaded(in, set)) return s;
  const PointCompliance pair = point_compliance(c.material, 1.0);
  s.relaxation = pair.tangential_damping / pair.tangential_stiffness;
  s.slip = in.dt * row.compliance[0];
  return s;
}

Vec3d vector_at(const double* x, std::size_t i) { return {x[3 * i], x[3 * i + 1], x[3 * i + 2]}; }

Vec3d across(const Vec3d& x, const Vec3d& n) { return x - n * dot(n, x); }

/// visit(side, its sign, column) of the columns of a set.
template <class Visit>
void each_column(const MovingRows& moving, int set, Visit&& visit) {
  const MovingRow& row = moving.rows[set];
  for (int side = 0; side < row.num_sides; ++side) {
    for (int k = row.start[side]; k < row.start[side + 1]; ++k)
      visit(side, row.sign[side], moving.columns[k]);
  }
}

}  // namespace

void find_springs(const DerivativeInput& in, MovingSprings& out) {
  out.names.clear();
  out.springs.clear();
  if (!in.settings.tangential_compliance) return;
  for (const ContactMemory& m : in.before.contacts)
    if (squared_norm(m.extension) > 0.0) out.names.push_back({m.pair, m.feature});
  for (int i = 0; i < in.record.problem.num_sets(); ++i) {
    if (loaded(in, i)) out.names.push_back({contact_of(in, i).pair, contact_of(in, i).feature});
  }
  std::sort(out.names.begin(), out.names.end(), contact_before);
  out.names.erase(std::unique(out.names.begin(), out.names.end()), out.names.end());
  for (const SpringName& name : out.names) {
    MovingSpring& s = out.springs.emplace_back();
    const auto body = [&](std::uint64_t g) { return in.scene.geometries()[g].body; };
    s.asleep = both_rest(
        in.scene, in.record.dynamics, body(name.pair >> 32), body(name.pair & 0xffffffffu));
  }
  for (int i = 0; i < in.record.problem.num_sets(); ++i) {
    const ConstraintRow& row = in.record.rows.rows[i];
    if (row.source != RowSource::kContact || row.compliance[0] == 0.0) continue;
    const SpringName* name = find_contact(out.names, contact_of(in, i));
    if (name != nullptr) out.springs[name - out.names.data()] = spring_of(in, i);
  }
}

const MovingSpring* find_spring(const MovingSprings& springs, const Contact& contact) {
  const SpringName* name = find_contact(springs.names, contact);
  return name == nullptr ? nullptr : &springs.springs[name - springs.names.data()];
}

Vec3d extension_by_turns(const MovingSpring& s,
                         const MovingContact& p,
                         const Vec3d& frame_turn,
                         const Vec3d& anchor_turn) {
  const Vec3d n = p.normal(), turn = frame_turn - anchor_turn;
  const Vec3d next = across(p.spring * s.relaxation + p.impulse * s.slip, n);
  return transpose_times(s.R, cross(turn, next) - across(cross(turn, p.spring), n) * s.relaxation);
}

void spring_velocities(const DerivativeInput& in,
                       const MovingSprings& springs,
                       const double* e,
                       std::vector<double>& velocity) {
  velocity.assign(in.record.problem.num_rows(), 0.0);
  for (std::size_t i = 0; i < springs.springs.size(); ++i) {
    const MovingSpring& s = springs.springs[i];
    if (s.set < 0) continue;
    const Vec3d asked = transpose_times(contact_of(in, s.set).frame, s.R * vector_at(e, i));
    double* c = velocity.data() + in.record.problem.sets[s.set].offset;
    for (int r = 0; r < 2; ++r) c[r] -= s.share * asked[r];
  }
}

void extension_tangent(const DerivativeInput& in,
                       const Linearisation& linear,
                       MovingSprings& springs,
                       const double* q,
                       const double* e,
                       const double* impulse,
                       double* out) {
  springs.rows.begin = linear.moving.begin;
  springs.rows.end = linear.moving.end;
  for (std::size_t i = 0; i < springs.springs.size(); ++i) {
    const MovingSpring& s = springs.springs[i];
    Vec3d change = s.asleep ? vector_at(e, i) : Vec3d{0, 0, 0};
    if (s.slip > 0.0) {
      const MovingContact p = moving_contact(in, s.set, springs.rows);
      Vec3d turn{0, 0, 0}, own{0, 0, 0};
      each_column(linear.moving, s.set, [&](int side, double sign, const RowColumn& c) {
        turn += point_change(p, sign < 0.0, c.u, c.w).turn * q[c.dof];
        if (side == p.anchor_side) own += c.w * q[c.dof];
      });
      const double* l = impulse + in.record.problem.sets[s.set].offset;
      const Vec3d next = s.R * vector_at(e, i) * (s.share * s.relaxation) +
                         p.contact.frame * Vec3d{l[0], l[1], 0.0} * s.slip;
      change = extension_by_turns(s, p, turn, own) + transpose_times(s.R, across(next, p.normal()));
    }
    for (int k = 0; k < 3; ++k) out[3 * i + k] = change[k];
  }
}

void spring_impulses(const DerivativeInput& in,
                     const MovingSprings& springs,
                     const double* w,
                     std::vector<double>& impulse) {
  impulse.assign(in.record.problem.num_rows(), 0.0);
  for (std::size_t i = 0; i < springs.springs.size(); ++i) {
    const MovingSpring& s = springs.springs[i];
    if (s.slip == 0.0) continue;
    const Vec3d along = transpose_times(contact_of(in, s.set).frame, s.R * vector_at(w, i));
    double* l = impulse.data() + in.record.problem.sets[s.set].offset;
    for (int r = 0; r < 2; ++r) l[r] += s.slip * along[r];
  }
}

void add_spring_gradients(const DerivativeInput& in,
                          const Linearisation& linear,
                          MovingSprings& springs,
                          const double* w,
                          const std::vector<double>& velocity,
                          double* q,
                          double* by_e) {
  springs.rows.begin = linear.moving.begin;
  springs.rows.end = linear.moving.end;
  for (std::size_t i = 0; i < springs.springs.size(); ++i) {
    const MovingSpring& s = springs.springs[i];
    Vec3d by{0, 0, 0};
    if (s.asleep) by = vector_at(w, i);
    if (s.set >= 0) {
      const MovingContact p = moving_contact(in, s.set, springs.rows);
      const Vec3d Wt = across(s.R * vector_at(w, i), p.normal());
      const double* z = velocity.data() + in.record.problem.sets[s.set].offset;
      const Vec3d asked = p.contact.frame * Vec3d{z[0], z[1], 0.0};
      by = transpose_times(s.R, (Wt * s.relaxation * (s.slip > 0.0) + asked) * s.share);
      each_column(linear.moving, s.set, [&](int side, double sign, const RowColumn& c) {
        if (s.slip == 0.0) return;
        const Vec3d turn = point_change(p, sign < 0.0, c.u, c.w).turn;
        const Vec3d own = side == p.anchor_side ? c.w : Vec3d{0, 0, 0};
        q[c.dof] += dot(vector_at(w, i), extension_by_turns(s, p, turn, own));
      });
    }
    for (int k = 0; k < 3; ++k) by_e[3 * i + k] += by[k];
  }
}

}  // namespace stiction
