#include "constraint_row.hpp"

#include <algorithm>

// Impulses travel from step to step with the feature id of their contact, in axes of A's body; rows
// of joints and closures have fixed places in State::constraint_impulse.

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
    case RowSource::kContact:
      break;
  }
  return -1;
}

bool before(const ContactMemory& cached, const Contact& contact) {
  return cached.pair != contact.pair ? cached.pair < contact.pair
                                     : cached.feature < contact.feature;
}

}  // namespace

void load_impulses(const Scene& scene,
                   const State& state,
                   const ContactSet& contacts,
                   const DynamicsWorkspace& dynamics,
                   const ConstraintRows& rows,
                   const ContactProblem& problem,
                   std::vector<double>& impulse) {
  impulse.assign(problem.g.size(), 0.0);
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    const ConstraintRow& row = rows.rows[i];
    double* out = impulse.data() + problem.sets[i].offset;
    if (row.source != RowSource::kContact) {
      const double* cached = state.constraint_impulse.data() + fixed_place(scene, row);
      std::copy(cached, cached + row.set.dim, out);
      continue;
    }
    const Contact& contact = contacts[row.index];
    const auto it = std::lower_bound(state.contacts.begin(), state.contacts.end(), contact, before);
    if (it == state.contacts.end() || it->pair != contact.pair || it->feature != contact.feature)
      continue;
    const Vec3d world = body_placement(scene, dynamics, contact.body_a).R * it->impulse_A;
    const Vec3d local = transpose_times(contact.frame, world);
    for (int r = 0; r < 3; ++r) out[r] = local[r];
  }
}

void store_impulses(const Scene& scene,
                    const ContactSet& contacts,
                    const DynamicsWorkspace& dynamics,
                    const ConstraintRows& rows,
                    const std::vector<double>& impulse,
                    State& state) {
  state.contacts.resize(contacts.size());
  std::fill(state.constraint_impulse.begin(), state.constraint_impulse.end(), 0.0);
  int offset = 0;
  for (const ConstraintRow& row : rows.rows) {
    const double* l = impulse.data() + offset;
    offset += row.set.dim;
    if (row.source != RowSource::kContact) {
      std::copy(l, l + row.set.dim, state.constraint_impulse.begin() + fixed_place(scene, row));
      continue;
    }
    const Contact& contact = contacts[row.index];
    const Vec3d world = contact.frame * Vec3d{l[0], l[1], l[2]};
    const Mat3d R_WA = body_placement(scene, dynamics, contact.body_a).R;
    // Contacts are sorted by (pair, feature), so the cache is too.
    state.contacts[row.index] = {
        contact.pair, contact.feature, transpose_times(R_WA, world), {0, 0, 0}};
  }
}

}  // namespace stiction
