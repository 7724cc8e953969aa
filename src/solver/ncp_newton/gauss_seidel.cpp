#include "solver/ncp_newton/gauss_seidel.hpp"

#include "solver/common/set_sweep.hpp"
#include "solver/ncp_newton/local_contact.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {
namespace {

/// xx xy xz yy yz zz of a cone's diagonal block.
void copy_block(const ContactProblem& p, int i, double* G) {
  const double* b = p.block(i);
  G[0] = b[0];
  G[1] = b[1];
  G[2] = b[2];
  G[3] = b[5];
  G[4] = b[6];
  G[5] = b[10];
}

/// One safe step towards the cone, for a contact that jams.
void step_back(const Cone& cone, double trace, const double* c, double* l) {
  for (int r = 0; r < cone.dim; ++r) l[r] -= trace > 0.0 ? c[r] / trace : 0.0;
  project(cone, l);
}

/// v: the velocity that the contact has without its own impulse.
void solve_exactly(const double* G, const Cone& cone, const double* c, double* l) {
  const double v[3] = {c[0] - (G[0] * l[0] + G[1] * l[1] + G[2] * l[2]),
                       c[1] - (G[1] * l[0] + G[3] * l[1] + G[4] * l[2]),
                       c[2] - (G[2] * l[0] + G[4] * l[1] + G[5] * l[2])};
  if (!solve_local_contact(G, cone.slope(), v, l)) step_back(cone, G[0] + G[3] + G[5], c, l);
}

/// The same of a cone with angular rows, whose exact solution is as cheap as a projection.
void solve_spatially(const ContactProblem& p, int i, const double* c, double* l) {
  const Cone& cone = p.sets[i].friction;
  const int stride = ContactProblem::stride(cone.dim);
  const double* G = p.block(i);
  double v[kMaxConeDim], trace = 0.0;
  for (int r = 0; r < cone.dim; ++r) {
    v[r] = c[r];
    for (int k = 0; k < cone.dim; ++k) v[r] -= G[stride * k + r] * l[k];
    trace += G[(stride + 1) * r];
  }
  const bool solved = with_dim(
      cone.dim, [&](auto D) { return solve_local_contact<D>(G, stride, cone.slope(), v, l); });
  if (!solved) step_back(cone, trace, c, l);
}

}  // namespace

GaussSeidel::GaussSeidel(const Island& island, Buffer<Local>& locals) : island_(island) {
  const ContactProblem& p = island.problem;
  locals.grow(island.last - island.first);
  locals_ = locals;
  const double floor = rigid_floor(island);
  for (int i = island.first; i < island.last; ++i) {
    Local& local = locals_[i - island.first];
    for (int r = 0; r < p.sets[i].dim; ++r)
      local.inverse[r] = safe_inverse(p.diagonal_entry(i, r), floor);
    if (!p.sets[i].is_cone() || p.sets[i].dim != 3) continue;
    double block[6];
    copy_block(p, i, block);
    local.cone = cone_step(block, floor);
  }
}

void GaussSeidel::update(int i, Contact contact, double* c, double* l) const {
  const ContactProblem& p = island_.problem;
  const ConstraintSet& set = p.sets[i];
  const Local& local = locals_[i - island_.first];
  if (set.is_cone()) {
    if (set.dim != 3) return solve_spatially(p, i, c, l);
    if (contact == Contact::kProjected) return update_cone(local.cone, set.friction.slope(), c, l);
    double block[6];
    copy_block(p, i, block);
    return solve_exactly(block, set.friction, c, l);
  }
  sweep_rows(p, i, c, l, [&](int r) { return -local.inverse[r] * c[r]; });
}

double GaussSeidel::sweep(Contact contact, double* lambda) const {
  return sweep_sets(
      island_, lambda, [&](int i, double* c, double* l) { update(i, contact, c, l); });
}

}  // namespace stiction
