#include "contact/contact_space.hpp"

#include "contact/loose_kernels.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {
namespace {

using Side = ContactSpace::Side;
using namespace loose;

/// c += Z^T u of `dim` rows.
inline __attribute__((always_inline)) void add_velocity(const ContactSpace& space,
                                                        const Side* side,
                                                        const Side* end,
                                                        int dim,
                                                        const double* u,
                                                        double* c) {
  const double *za = space.z.data() + side[0].z, *zb = space.z.data() + end[-1].z;
  const Octo a = octo(u + kRow * side[0].tree);
  if (end - side == 1) {
    if (dim == 3) return add_three(za, a, c);
    for (int r = 0; r < dim; ++r) c[r] += sum_of(folded(octo(za + kRow * r) * a));
    return;
  }
  const Octo b = octo(u + kRow * end[-1].tree);
  if (dim == 3) return add_three(za, a, zb, b, c);
  for (int r = 0; r < dim; ++r)
    c[r] += sum_of(folded(octo(za + kRow * r) * a + octo(zb + kRow * r) * b));
}

/// u += inertia^-1 Z x of `dim` rows.
inline __attribute__((always_inline)) void add_motion(const ContactSpace& space,
                                                      const Side* side,
                                                      const Side* end,
                                                      int dim,
                                                      const double* x,
                                                      double* u) {
  for (; side != end; ++side) {
    const double* z = space.z.data() + side->z;
    Octo sum = octo(z) * x[0];
    for (int r = 1; r < dim; ++r) sum += octo(z + kRow * r) * x[r];
    octo(u + kRow * side->tree) =
        octo(u + kRow * side->tree) + octo(space.inverse.data() + kRow * side->tree) * sum;
  }
}

STICTION_CLONES void motion_of(
    const ContactProblem& p, int first, int last, const double* lambda, double* u) {
  const int* start = p.space.side_start.data();
  const Side* sides = p.space.sides.data();
  for (int s = start[first]; s < start[last]; ++s) octo(u + kRow * sides[s].tree) = Octo{};
  for (int i = first; i < last; ++i) {
    const ConstraintSet& set = p.sets[i];
    add_motion(p.space, sides + start[i], sides + start[i + 1], set.dim, lambda + set.offset, u);
  }
}

STICTION_CLONES void velocities_of(const ContactProblem& p,
                                   int first,
                                   int last,
                                   const double* lambda,
                                   const double* u,
                                   double* c) {
  const int* start = p.space.side_start.data();
  const Side* sides = p.space.sides.data();
  for (int i = first; i < last; ++i) {
    const ConstraintSet& set = p.sets[i];
    double* out = c + set.offset;
    for (int r = 0; r < set.dim; ++r) {
      const int k = set.offset + r;
      out[r] = p.g[k] + p.compliance[k] * lambda[k];
    }
    add_velocity(p.space, sides + start[i], sides + start[i + 1], set.dim, u, out);
  }
}

STICTION_CLONES void velocity_of_set(
    const ContactProblem& p, int i, const double* lambda, const double* u, double* c) {
  const ConstraintSet& set = p.sets[i];
  for (int r = 0; r < set.dim; ++r) {
    const int k = set.offset + r;
    c[r] = p.g[k] + p.compliance[k] * lambda[k];
  }
  const Side* sides = p.space.sides.data();
  const int* start = p.space.side_start.data() + i;
  add_velocity(p.space, sides + start[0], sides + start[1], set.dim, u, c);
}

STICTION_CLONES void add_change_of_set(const ContactProblem& p,
                                       int i,
                                       const double* change,
                                       double* u) {
  const Side* sides = p.space.sides.data();
  const int* start = p.space.side_start.data() + i;
  add_motion(p.space, sides + start[0], sides + start[1], p.sets[i].dim, change, u);
}

/// block(r, c) at [stride c + r] <- Z_a^T inertia^-1 Z_b over the bodies that a and b share.
STICTION_CLONES void block_of(const ContactProblem& p, int a, int b, int stride, double* block) {
  const ContactSpace& space = p.space;
  const int rows = p.sets[a].dim, columns = p.sets[b].dim;
  std::fill(block, block + stride * columns, 0.0);
  for (int s = space.side_start[a]; s < space.side_start[a + 1]; ++s) {
    for (int t = space.side_start[b]; t < space.side_start[b + 1]; ++t) {
      const Side &x = space.sides[s], &y = space.sides[t];
      if (x.tree != y.tree) continue;
      const Octo m = octo(space.inverse.data() + kRow * x.tree);
      for (int c = 0; c < columns; ++c) {
        const Octo scaled = octo(space.z.data() + y.z + kRow * c) * m;
        for (int r = 0; r < rows; ++r)
          block[stride * c + r] += sum_of(folded(octo(space.z.data() + x.z + kRow * r) * scaled));
      }
    }
  }
}

}  // namespace

void loose_motion(
    const ContactProblem& problem, int first, int last, const double* lambda, double* u) {
  motion_of(problem, first, last, lambda, u);
}

void loose_velocities(const ContactProblem& problem,
                      int first,
                      int last,
                      const double* lambda,
                      double* u,
                      double* c) {
  motion_of(problem, first, last, lambda, u);
  velocities_of(problem, first, last, lambda, u, c);
}

void loose_velocity(
    const ContactProblem& problem, int set, const double* lambda, const double* u, double* c) {
  velocity_of_set(problem, set, lambda, u, c);
}

void add_loose_change(const ContactProblem& problem, int set, const double* change, double* u) {
  add_change_of_set(problem, set, change, u);
}

double largest_loose_term(const ContactProblem& problem,
                          int first,
                          int last,
                          const double* lambda) {
  const ContactSpace& space = problem.space;
  std::vector<double>& u = space.motion;
  u.resize(space.inverse.size());
  for (int s = space.side_start[first]; s < space.side_start[last]; ++s)
    std::fill_n(u.begin() + kRow * space.sides[s].tree, kRow, 0.0);
  const auto each = [&](auto&& visit) {
    for (int i = first; i < last; ++i) {
      for (int s = space.side_start[i]; s < space.side_start[i + 1]; ++s) {
        const double* z = space.z.data() + space.sides[s].z;
        for (int k = 0; k < kRow * problem.sets[i].dim; ++k)
          visit(i, k / kRow, kRow * space.sides[s].tree + k % kRow, std::abs(z[k]));
      }
    }
  };
  each([&](int i, int r, int k, double z) {
    u[k] += space.inverse[k] * z * std::abs(lambda[problem.sets[i].offset + r]);
  });
  double largest = 0.0, sum[kMaxSetDim];
  for (int i = first; i < last; ++i) {
    const ConstraintSet& set = problem.sets[i];
    for (int r = 0; r < set.dim; ++r)
      sum[r] = problem.compliance[set.offset + r] * std::abs(lambda[set.offset + r]);
    for (int s = space.side_start[i]; s < space.side_start[i + 1]; ++s) {
      const double *z = space.z.data() + space.sides[s].z,
                   *x = u.data() + kRow * space.sides[s].tree;
      for (int k = 0; k < kRow * set.dim; ++k) sum[k / kRow] += std::abs(z[k]) * x[k % kRow];
    }
    for (int r = 0; r < set.dim; ++r) largest = std::max(largest, sum[r] * set.velocity_unit(r));
  }
  return largest;
}

void assemble_loose_panels(const ContactProblem& problem,
                           int first,
                           int last,
                           ContactProblem::Panels& panels) {
  const ContactSpace& space = problem.space;
  const auto share = [&](int i, int j) {
    for (int s = space.side_start[i]; s < space.side_start[i + 1]; ++s) {
      for (int t = space.side_start[j]; t < space.side_start[j + 1]; ++t)
        if (space.sides[s].tree == space.sides[t].tree) return true;
    }
    return false;
  };
  for (int i = first; i < last; ++i) {
    const int stride = ContactProblem::stride(problem.sets[i].dim);
    panels.begin(i);
    for (int j = first; j < last; ++j) {
      if (share(i, j)) panels.append(problem.sets, i, j);
    }
    panels.end(i);
    double* out = panels.values.data() + panels.start[i];
    for (int j = first; j < last; ++j) {
      if (!share(i, j)) continue;
      block_of(problem, i, j, stride, out);
      out += stride * problem.sets[j].dim;
    }
    double* own = panels.values.data() + panels.diagonal[i];
    std::copy_n(problem.block(i), stride * problem.sets[i].dim, own);
  }
}

}  // namespace stiction
