#include "solver/ncp_newton/loose_sweeps.hpp"

#include "contact/loose_kernels.hpp"

namespace stiction {
namespace {

using namespace loose;
using Contact = LooseSweeps::Contact;

/// u += inertia^-1 Z d of three rows.
inline __attribute__((always_inline)) void push(const double* z,
                                                const Octo& inverse,
                                                const double* d,
                                                double* u) {
  const Octo sum = octo(z) * d[0] + octo(z + kRow) * d[1] + octo(z + 2 * kRow) * d[2];
  octo(u) = octo(u) + inverse * sum;
}

STICTION_CLONES void sweep_contacts(const Contact* first,
                                    const Contact* last,
                                    const double* g,
                                    const double* R,
                                    const double* inverse,
                                    double* lambda,
                                    double* u) {
  for (const Contact* contact = first; contact != last; ++contact) {
    const Contact& k = *contact;
    double* l = lambda + k.row;
    double *ua = u + k.body[0], *ub = u + k.body[1];
    const bool two = k.z[1] != nullptr;
    if (k.dim == 1) {
      Octo v = octo(k.z[0]) * octo(ua);
      if (two) v += octo(k.z[1]) * octo(ub);
      const double c = g[k.row] + R[k.row] * l[0] + sum_of(folded(v));
      const double next = l[0] - k.inverse * c, d = (next > 0.0 ? next : 0.0) - l[0];
      l[0] += d;
      octo(ua) = octo(ua) + octo(inverse + k.body[0]) * octo(k.z[0]) * d;
      if (two) octo(ub) = octo(ub) + octo(inverse + k.body[1]) * octo(k.z[1]) * d;
      continue;
    }
    const Quad v =
        two ? three_rows(k.z[0], octo(ua), k.z[1], octo(ub)) : three_rows(k.z[0], octo(ua));
    double c[3], d[3];
    for (int r = 0; r < 3; ++r) {
      c[r] = g[k.row + r] + R[k.row + r] * l[r] + v[r];
      d[r] = l[r];
    }
    update_cone(k.step, k.mu, c, l);
    for (int r = 0; r < 3; ++r) d[r] = l[r] - d[r];
    if (d[0] == 0.0 && d[1] == 0.0 && d[2] == 0.0) continue;  // open, and stays so
    push(k.z[0], octo(inverse + k.body[0]), d, ua);
    if (two) push(k.z[1], octo(inverse + k.body[1]), d, ub);
  }
}

}  // namespace

bool LooseSweeps::prepare(const Island& island) {
  const ContactProblem& p = island.problem;
  const ContactSpace& space = p.space;
  problem_ = &p;
  count_ = island.last - island.first;
  contacts_.grow(count_);
  const double floor = rigid_floor(island);
  for (int i = island.first; i < island.last; ++i) {
    const ConstraintSet& set = p.sets[i];
    if (!(set.is_cone() && set.dim == 3) && set.kind != SetKind::kNonNegative) return false;
    Contact& out = contacts_[i - island.first];
    const int start = space.side_start[i], sides = space.side_start[i + 1] - start;
    for (int s = 0; s < 2; ++s) {
      const ContactSpace::Side& side = space.sides[start + (s < sides ? s : 0)];
      out.z[s] = s < sides ? space.z.data() + side.z : nullptr;
      out.body[s] = kRow * side.tree;
    }
    out.row = set.offset;
    out.dim = set.dim;
    out.mu = set.is_cone() ? set.friction.slope() : 0.0;
    out.inverse = safe_inverse(p.diagonal_entry(i, 0), floor);
    if (set.dim == 1) continue;
    const double *b = p.block(i), block[6] = {b[0], b[1], b[2], b[5], b[6], b[10]};
    out.step = cone_step(block, floor);
  }
  return true;
}

void LooseSweeps::sweep(double* lambda, double* u) const {
  const ContactProblem& p = *problem_;
  sweep_contacts(contacts_,
                 contacts_ + count_,
                 p.g.data(),
                 p.compliance.data(),
                 p.space.inverse.data(),
                 lambda,
                 u);
}

}  // namespace stiction
