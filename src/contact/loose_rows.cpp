#include "contact/loose_rows.hpp"

#include "dynamics/free_root.hpp"
#include "math/clones.hpp"
#include "math/symmetric_eigen.hpp"

#include <algorithm>
#include <cstring>

// With u_c the velocity of the centre of mass and w_k the angular velocity along principal axis
// e_k, both in axes of the body, a row J of the body's velocity (v, w) of its origin becomes, since
// v = u_c + c x w,
//
//   J_v v + J_w w = J_v u_c + sum_k e_k . (J_w + J_v x c) w_k.

namespace stiction {
namespace {

constexpr int kRow = ContactSpace::Side::kLooseRow;

/// The axes of an inertia, kept until it changes. False if it is not positive definite.
bool find_principal_axes(const Sym3<double>& inertia,
                         double mass,
                         const Vec3d& com,
                         LooseBody& body) {
  body.com = com;
  for (int k = 0; k < 3; ++k) {
    body.inertia[k] = mass;
    body.inverse[k] = 1.0 / mass;
  }
  if (std::memcmp(&body.of, &inertia, sizeof inertia) != 0) {
    double I[9] = {inertia.xx,
                   inertia.xy,
                   inertia.xz,
                   inertia.xy,
                   inertia.yy,
                   inertia.yz,
                   inertia.xz,
                   inertia.yz,
                   inertia.zz};
    double vectors[9], scratch[45];
    body.of = inertia;
    body.known = symmetric_eigen(I, 3, body.inertia + 3, vectors, scratch);
    for (int k = 0; k < 3; ++k)
      body.axes[k] = {vectors[3 * k], vectors[3 * k + 1], vectors[3 * k + 2]};
    for (int k = 3; k < 6; ++k) body.inverse[k] = 1.0 / body.inertia[k];
  }
  return body.known && mass > 0.0 && *std::min_element(body.inertia + 3, body.inertia + 6) > 0.0;
}

/// Whether the mass matrix of a tree is that of a loose body and nothing else.
bool moves_freely(const Tree& tree, const TreeView& view, const DynamicsWorkspace& dynamics) {
  if (!is_loose_body(view)) return false;
  const auto added = dynamics.implicit_diagonal.begin() + tree.v_offset;
  return std::all_of(added, added + tree.nv, [](double x) { return x == 0.0; });
}

/// Rows of eight from J, three rows interleaved, and block += Z^T inertia^-1 Z, columns four apart.
STICTION_CLONES void fill_contact(const LooseBody& body,
                                  const double* J,
                                  double* z,
                                  double* block) {
  const Vec3d& c = body.com;
  const Quad x = quad(J), y = quad(J + 3), n = quad(J + 6), last{J[15], J[16], J[17], 0.0};
  const Quad turn[3] = {
      quad(J + 9) + y * c.z - n * c.y, quad(J + 12) + n * c.x - x * c.z, last + x * c.y - y * c.x};
  Quad column[6] = {x, y, n};
  for (int k = 0; k < 3; ++k) {
    const Vec3d& e = body.axes[k];
    column[3 + k] = turn[0] * e.x + turn[1] * e.y + turn[2] * e.z;
  }
  constexpr Quad kThree{1.0, 1.0, 1.0, 0.0};
  Quad own[3]{};
  for (int k = 0; k < 6; ++k) {
    const Quad m = kThree * column[k] * body.inverse[k];
    for (int r = 0; r < 3; ++r) {
      own[r] += m * column[k][r];
      z[kRow * r + k] = column[k][r];
    }
  }
  for (int r = 0; r < 3; ++r) {
    z[kRow * r + 6] = z[kRow * r + 7] = 0.0;
    quad(block + 4 * r) = quad(block + 4 * r) + own[r];
  }
}

/// The same of `dim` rows, columns `dim` apart.
void fill_rows(const LooseBody& body, int dim, const double* J, double* z, double* block) {
  for (int r = 0; r < dim; ++r) {
    const auto at = [&](int m) { return J[dim * m + r]; };
    const Vec3d v{at(0), at(1), at(2)}, w = Vec3d{at(3), at(4), at(5)} + cross(v, body.com);
    const double row[kRow] = {
        v.x, v.y, v.z, dot(body.axes[0], w), dot(body.axes[1], w), dot(body.axes[2], w), 0.0, 0.0};
    std::copy_n(row, kRow, z + kRow * r);
  }
  for (int c = 0; c < dim; ++c) {
    for (int r = 0; r < dim; ++r) {
      for (int k = 0; k < 6; ++k)
        block[dim * c + r] += z[kRow * r + k] * z[kRow * c + k] * body.inverse[k];
    }
  }
}

}  // namespace

void find_loose_islands(const Scene& scene,
                        const Parameters& parameters,
                        const DynamicsWorkspace& dynamics,
                        const ContactProblem& problem,
                        ConstraintRows& rows) {
  const int num_trees = static_cast<int>(scene.trees().size());
  rows.loose_bodies.resize(num_trees);
  for (int t = 0; t < num_trees; ++t) {
    LooseBody& body = rows.loose_bodies[t];
    const Tree& tree = scene.trees()[t];
    const int b = tree.body_offset;
    body.free =
        moves_freely(tree, dynamics.views[t], dynamics) &&
        find_principal_axes(parameters.inertia[b], parameters.mass[b], parameters.com[b], body);
  }
  const auto loose = [&](const ConstraintRow& row) {
    return row.source == RowSource::kContact && rows.loose_bodies[row.sides[0].tree].free &&
           rows.loose_bodies[row.sides[row.num_sides - 1].tree].free;
  };
  for (int k = 0; k < problem.num_islands(); ++k) {
    const auto first = rows.rows.begin() + problem.island_start[k],
               last = rows.rows.begin() + problem.island_start[k + 1];
    const bool all = std::all_of(first, last, loose);
    for (auto row = first; row != last; ++row) row->loose = all;
  }
}

void append_loose_side(const ConstraintRow& row, const ConstraintRows& rows, ContactSpace& space) {
  for (int s = 0; s < row.num_sides; ++s) {
    const int tree = row.sides[s].tree;
    space.sides.push_back({tree, 6, ContactSpace::Side::kLoose, static_cast<int>(space.z.size())});
    space.z.resize(space.z.size() + kRow * row.set.dim);
    const LooseBody& body = rows.loose_bodies[tree];
    std::copy_n(body.inverse, 6, space.inverse.begin() + kRow * tree);
  }
}

void fill_loose_blocks(const ConstraintRows& rows, ContactProblem& problem) {
  ContactSpace& space = problem.space;
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    const ConstraintRow& row = rows.rows[i];
    if (!row.loose) continue;
    double* block = problem.diagonal.data() + problem.diagonal_start[i];
    for (int s = 0; s < row.num_sides; ++s) {
      const ContactSpace::Side& side = space.sides[space.side_start[i] + s];
      const double* J = rows.jacobian.data() + row.sides[s].start;
      double* z = space.z.data() + side.z;
      const LooseBody& body = rows.loose_bodies[side.tree];
      if (row.set.dim == 3)
        fill_contact(body, J, z, block);
      else
        fill_rows(body, row.set.dim, J, z, block);
    }
  }
}

}  // namespace stiction
