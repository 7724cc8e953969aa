#include "contact/constraint_row.hpp"
#include "contact/contact_axes.hpp"
#include "contact/contact_memory.hpp"
#include "model/contact_order.hpp"

#include <algorithm>

// Impulses travel from step to step with the feature id of their contact, in axes of A's body; rows
// of joints and closures have fixed places in State::constraint_impulse. A limit and the row that
// brings its joint back, the next one, share a place: it holds what both gave. What locks a joint
// pushes as one of its two limits.

namespace stiction {
namespace {

int fixed_place(const Scene& scene, const ConstraintRow& row) {
  const int nv = scene.nv(), closures = static_cast<int>(scene.closures().size());
  switch (row.source) {
    case RowSource::kLowerLimit:
      return row.index;
    case RowSource::kUpperLimit:
      return nv + row.index;
    case RowSource::kDryFriction:
      return 2 * nv + row.index;
    case RowSource::kClosure:
      return 3 * nv + 6 * row.index;
    case RowSource::kGear:
      return 3 * nv + 6 * closures + row.index;
    case RowSource::kLimitRecovery:
    case RowSource::kContact:
      break;
  }
  return -1;
}

/// The row that locks a joint has the sign of the limit that is passed: 1 below, -1 above.
double lock_sign(const ConstraintRow& row) {
  return row.source == RowSource::kLowerLimit ? 1.0 : -1.0;
}

/// Drops all impulses but those of contacts that sleep; returns how many are left.
std::size_t keep_resting(const Scene& scene, const DynamicsWorkspace& dynamics, State& state) {
  const std::vector<Geometry>& geometries = scene.geometries();
  const auto is_awake = [&](const ContactMemory& c) {
    const std::uint64_t a = c.pair >> 32, b = c.pair & 0xffffffffu;
    return a >= geometries.size() || b >= geometries.size() ||
           !both_rest(scene, dynamics, geometries[a].body, geometries[b].body);
  };
  const auto end = std::remove_if(state.contacts.begin(), state.contacts.end(), is_awake);
  return static_cast<std::size_t>(end - state.contacts.begin());
}

/// Zero for all joints, closures and gears that are awake.
void clear_awake(const Scene& scene, const DynamicsWorkspace& dynamics, State& state) {
  std::vector<double>& impulse = state.constraint_impulse;
  if (dynamics.num_asleep == 0) return std::fill(impulse.begin(), impulse.end(), 0.0);
  const int nv = scene.nv();
  for (int dof = 0; dof < nv; ++dof) {
    if (dynamics.asleep[scene.tree_of_dof(dof)]) continue;
    for (int k = 0; k < 3; ++k) impulse[k * nv + dof] = 0.0;
  }
  auto at = impulse.begin() + 3 * nv;
  for (const Closure& c : scene.closures()) {
    if (!both_rest(scene, dynamics, c.body_a, c.body_b)) std::fill(at, at + 6, 0.0);
    at += 6;
  }
  for (const Gear& g : scene.gears()) {
    if (!dynamics.asleep[scene.tree_of_dof(g.dof)]) *at = 0.0;
    ++at;
  }
}

}  // namespace

Mat3d anchor_rotation(const Scene& scene,
                      const DynamicsWorkspace& dynamics,
                      const Contact& contact) {
  const int body = b_carries_anchor(scene, contact) ? contact.body_b : contact.body_a;
  return body_placement(scene, dynamics, body).R;
}

void load_impulses(const RowContext& context,
                   const ContactSet& contacts,
                   const ContactProblem& problem,
                   std::vector<double>& impulse) {
  const auto& [scene, parameters, state, settings, dt, dynamics, rows, scratch] = context;
  impulse.assign(problem.g.size(), 0.0);
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    const ConstraintRow& row = rows.rows[i];
    double* out = impulse.data() + problem.sets[i].offset;
    if (row.source == RowSource::kLimitRecovery) {
      out[0] = std::min(out[-1], row.set.upper);
      out[-1] -= out[0];
      continue;
    }
    if (locks(row)) {
      const double* lower = state.constraint_impulse.data() + row.index;
      out[0] = (lower[0] - lower[scene.nv()]) * lock_sign(row);
      continue;
    }
    if (row.source != RowSource::kContact) {
      const double* cached = state.constraint_impulse.data() + fixed_place(scene, row);
      std::copy(cached, cached + row.set.dim, out);
      continue;
    }
    const Contact& contact = contacts[row.index];
    const ContactMemory* kept = find_memory(state.contacts, contact);
    if (kept == nullptr || row.kind == ReferenceKind::kImmovable) continue;
    const Mat3d R_WA = body_placement(scene, dynamics, contact.body_a).R;
    const auto local = [&](const Vec3d& x) { return transpose_times(contact.frame, R_WA * x); };
    const int dim = row.set.dim;
    const Vec3d force = local(kept->impulse_A);
    for (int k = 0; k < 3; ++k) out[point_row(dim, k)] = force[k];
    if (dim == 3) continue;
    const Vec3d moment = local(kept->moment_A);
    for (int r = 2; r < dim - 1; ++r) out[r] = moment[couple_axis(r)];
  }
}

void store_impulses(const Scene& scene,
                    const ContactSet& contacts,
                    const DynamicsWorkspace& dynamics,
                    const ConstraintRows& rows,
                    const std::vector<double>& impulse,
                    double dt,
                    State& state) {
  const std::size_t resting = dynamics.num_asleep > 0 ? keep_resting(scene, dynamics, state) : 0;
  state.contacts.resize(resting + contacts.size());
  clear_awake(scene, dynamics, state);
  int offset = 0;
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    const ConstraintRow& row = rows.rows[i];
    const double* l = impulse.data() + offset;
    offset += row.set.dim;
    if (row.source == RowSource::kLimitRecovery) {
      state.constraint_impulse[fixed_place(scene, rows.rows[i - 1])] += l[0];
      continue;
    }
    if (locks(row)) {
      double* lower = state.constraint_impulse.data() + row.index;
      const double pushed = kept_number(l[0] * lock_sign(row));
      lower[0] = std::max(0.0, pushed);
      lower[scene.nv()] = std::max(0.0, -pushed);
      continue;
    }
    if (row.source != RowSource::kContact) {
      std::transform(l,
                     l + row.set.dim,
                     state.constraint_impulse.begin() + fixed_place(scene, row),
                     kept_number);
      continue;
    }
    const Contact& contact = contacts[row.index];
    const Vec3d world = contact.frame * force_of(row.set, l);
    const Mat3d R_WA = body_placement(scene, dynamics, contact.body_a).R;
    // Contacts are sorted by (pair, feature), so the cache is too.
    ContactMemory& kept = state.contacts[resting + row.index];
    kept = kept_contact(contact.pair, contact.feature, transpose_times(R_WA, world));
    if (row.set.dim > 3)
      kept.moment_A = kept_vector(transpose_times(R_WA, contact.frame * couple_of(row.set, l)));
    if (row.compliance[0] == 0.0) continue;
    const Vec3d e = contact.frame * next_extension(contact, row, dt, l);
    kept.extension = kept_vector(transpose_times(anchor_rotation(scene, dynamics, contact), e));
  }
  if (resting > 0) std::sort(state.contacts.begin(), state.contacts.end(), contact_before);
}

}  // namespace stiction
