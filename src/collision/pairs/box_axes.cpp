#include "collision/pairs/box_box.hpp"

// Separating axes of two boxes (Gottschalk 1996), in the frame of A: R = R_AB, t = position of B's
// centre.
//
// Separation along a unit axis n:  s(n) = |n.t| - h_A.|n| - h_B.|R^T n|.  The signed distance of
// overlapping boxes is max s over 3 + 3 face normals and 9 cross products of edges.

namespace stiction::detail {
namespace {

double magnitude(double x) { return __builtin_fabs(x); }

// Edge axes L = e_i x c_j are compared without normalising: s' = s |L| against bound * |L|.
bool exceeds(double scaled, double length2, double bound) {
  if (bound < 0.0) return scaled >= 0.0 || scaled * scaled < bound * bound * length2;
  return scaled > 0.0 && scaled * scaled > bound * bound * length2;
}

// Below this angle [rad] the components of L are used normalised, with the projections of exactly
// that axis: then s is a true lower bound of the distance however inexact the direction is.
constexpr double kNearlyParallel2 = 1e-6;
constexpr double kParallel2 = 1e-28;

double separation_along(const BoxPair& p, const Vec3d& n) {
  const Vec3d m = transpose_times(p.R, n);
  return magnitude(dot(n, p.t)) -
         (p.ha.x * magnitude(n.x) + p.ha.y * magnitude(n.y) + p.ha.z * magnitude(n.z)) -
         (p.hb.x * magnitude(m.x) + p.hb.y * magnitude(m.y) + p.hb.z * magnitude(m.z));
}

// With i1, i2 the other axes of A and j1, j2 of B:
// s' = |L.t| - h_i1 |R_i2,j| - h_i2 |R_i1,j| - h_j1 |R_i,j2| - h_j2 |R_i,j1|.
double scaled_edge_separation(const BoxPair& p, const Vec3d q[3], int i, int j) {
  const int i1 = i == 2 ? 0 : i + 1, i2 = i == 0 ? 2 : i - 1;
  const int j1 = j == 2 ? 0 : j + 1, j2 = j == 0 ? 2 : j - 1;
  const Vec3d& c = p.R.column(j);
  const double projection = p.t[i2] * c[i1] - p.t[i1] * c[i2];
  return magnitude(projection) - (p.ha[i1] * q[j][i2] + p.ha[i2] * q[j][i1]) -
         (p.hb[j1] * q[j2][i] + p.hb[j2] * q[j1][i]);
}

int best_of_three(const double* x) {
  const int i = x[1] > x[0] ? 1 : 0;
  return x[2] > x[i] ? 2 : i;
}

}  // namespace

Vec3d edge_axis(const BoxPair& p, int i, int j) {
  const Vec3d& c = p.R.column(j);
  if (i == 0) return {0.0, -c.z, c.y};
  if (i == 1) return {c.z, 0.0, -c.x};
  return {-c.y, c.x, 0.0};
}

BoxPair make_box_pair(const Vec3d& ha,
                      const Transform& X_WA,
                      const Vec3d& hb,
                      const Transform& X_WB) {
  const Transform X_AB = relative(X_WA, X_WB);
  return {ha, hb, X_AB.R, X_AB.p};
}

SeparatingAxis find_separating_axis(
    const BoxPair& p, double margin, double tie, int preferred, double preferred_tie) {
  Vec3d q[3];  // columns of |R|
  for (int j = 0; j < 3; ++j) {
    const Vec3d& c = p.R.column(j);
    q[j] = {magnitude(c.x), magnitude(c.y), magnitude(c.z)};
  }
  const Vec3d t_B = transpose_times(p.R, p.t);
  double face[6];
  for (int k = 0; k < 3; ++k) {
    face[k] =
        magnitude(p.t[k]) - p.ha[k] - (q[0][k] * p.hb.x + q[1][k] * p.hb.y + q[2][k] * p.hb.z);
    face[3 + k] = magnitude(t_B[k]) - p.hb[k] - dot(q[k], p.ha);
  }
  const int a = best_of_three(face), b = 3 + best_of_three(face + 3);
  SeparatingAxis best{a, face[a], face[b] > face[a] ? face[b] : face[a]};
  if (face[b] > face[a] + tie) {
    best.axis = b;
    best.separation = face[b];
  }
  if (best.most > margin) return best;
  if (preferred >= 0 && preferred < 6 && face[preferred] >= best.most - preferred_tie) {
    best.axis = preferred;
    best.separation = face[preferred];
  }
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      const double cosine = p.R.column(j)[i];
      double length2 = 1.0 - cosine * cosine;
      if (length2 > kNearlyParallel2) {
        const double scaled = scaled_edge_separation(p, q, i, j);
        if (!exceeds(scaled, length2, best.most)) continue;
        best.most = scaled / std::sqrt(length2);
      } else {
        const Vec3d l = edge_axis(p, i, j);
        length2 = squared_norm(l);
        if (length2 < kParallel2) continue;
        const double s = separation_along(p, l * (1.0 / std::sqrt(length2)));
        if (!(s > best.most)) continue;
        best.most = s;
      }
      if (best.most > best.separation + tie) {
        best.axis = 6 + 3 * i + j;
        best.separation = best.most;
      }
    }
  }
  return best;
}

}  // namespace stiction::detail
