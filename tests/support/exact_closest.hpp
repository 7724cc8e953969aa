#pragma once

#include "exact.hpp"

// References in long double: the closest point of A - B to the origin (fully corrective, every face
// of the simplex tried), all facets of A - B of small polytopes, and an ascent over directions.

namespace stiction::test {

struct ClosestReference {
  ExactVec v;          ///< from B to A
  Exact upper, lower;  ///< bounds of the distance [m]; lower <= 0: not proven separated
};

namespace detail {

/// Least norm over the affine hull of the chosen points; false unless all weights are positive.
inline bool affine_closest(const std::vector<ExactVec>& points, ExactVec& v) {
  const int n = int(points.size()) - 1;
  Exact g[3][4] = {};
  for (int i = 0; i < n; ++i) {
    const ExactVec e = points[i + 1] - points[0];
    for (int j = 0; j < n; ++j) g[i][j] = dot(e, points[j + 1] - points[0]);
    g[i][3] = -dot(e, points[0]);
  }
  Exact x[3] = {}, sum = 0.0L;
  for (int i = 0; i < n; ++i) {  // Gauss with the largest pivot of the column
    int best = i;
    for (int r = i + 1; r < n; ++r) {
      if (std::abs(g[r][i]) > std::abs(g[best][i])) best = r;
    }
    std::swap(g[i], g[best]);
    if (!(std::abs(g[i][i]) > 0.0L)) return false;
    for (int r = i + 1; r < n; ++r) {
      const Exact f = g[r][i] / g[i][i];
      for (int k = i; k < 4; ++k) g[r][k] -= f * g[i][k];
    }
  }
  for (int i = n - 1; i >= 0; --i) {
    x[i] = g[i][3];
    for (int k = i + 1; k < n; ++k) x[i] -= g[i][k] * x[k];
    x[i] /= g[i][i];
    if (!(x[i] > 0.0L)) return false;
    sum += x[i];
  }
  if (!(sum < 1.0L) && n > 0) return false;
  v = points[0];
  for (int i = 0; i < n; ++i) v += (points[i + 1] - points[0]) * x[i];
  return true;
}

/// Keeps the points of the face closest to the origin. False: the origin is inside a tetrahedron.
inline bool reduce(std::vector<ExactVec>& simplex, ExactVec& v) {
  std::vector<ExactVec> best;
  Exact least = HUGE_VALL;
  for (int mask = 1; mask < 1 << simplex.size(); ++mask) {
    std::vector<ExactVec> face;
    for (std::size_t i = 0; i < simplex.size(); ++i) {
      if (mask >> i & 1) face.push_back(simplex[i]);
    }
    ExactVec w;
    if (!affine_closest(face, w)) continue;
    if (face.size() == 4) return false;
    if (!(dot(w, w) < least)) continue;
    least = dot(w, w);
    v = w;
    best = face;
  }
  simplex = best;
  return true;
}

}  // namespace detail

inline ClosestReference exact_closest(const PosedPair& p, int max_iterations = 300) {
  const ExactDifference D{p};
  const ExactVec apart = exact(p.X_WA.p) - exact(p.X_WB.p);
  ClosestReference r{D(dot(apart, apart) > 0.0L ? -apart : ExactVec{1, 0, 0}).w, HUGE_VALL, 0.0L};
  std::vector<ExactVec> simplex{r.v};
  for (int i = 0; i < max_iterations; ++i) {
    const Exact upper = length(r.v);
    if (!(upper < r.upper)) break;  // rounding: no progress
    r.upper = upper;
    if (!(upper > 0.0L)) break;
    const ExactVec w = D(-r.v).w;
    r.lower = std::max(r.lower, dot(r.v, w) / upper);
    if (r.upper - r.lower <= 1e-18L * r.upper) break;
    const ExactVec before = r.v;
    simplex.push_back(w);
    if (!detail::reduce(simplex, r.v)) {
      r.lower = -1.0L;
      break;
    }
    if (!(length(r.v) < upper)) {
      r.v = before;
      break;
    }
  }
  return r;
}

/// visit(n, gap) for the unit normals of all candidate facets of A - B: faces and pairs of edges.
template <class Visit>
void for_each_facet(const PosedPair& p, Visit visit) {
  const ExactPolytope a(p.a, p.X_WA), b(p.b, p.X_WB);
  const auto least = [](const ExactPolytope& q, const ExactVec& n) {
    Exact x = HUGE_VALL;
    for (const ExactVec& v : q.vertices) x = std::min(x, dot(n, v));
    return x;
  };
  const auto offer = [&](const ExactVec& d) {
    const Exact l = length(d);
    if (!(l > 0.0L)) return;
    for (const ExactVec& n : {d * (1.0L / l), d * (-1.0L / l)})
      visit(n, least(b, n) + least(a, -n));
  };
  for (const ExactVec& n : a.normals) offer(n);
  for (const ExactVec& n : b.normals) offer(n);
  for (const ExactVec& e : a.edges) {
    for (const ExactVec& f : b.edges) offer(cross(e, f));
  }
}

/// Widest gap found by climbing from n: steps along the tangential part of the support point,
/// halved until they help. A lower bound of the signed distance, whatever it does.
inline Exact climb(const PosedPair& p, ExactVec n, int evaluations) {
  const ExactDifference D{p};
  n = unit(n);
  ExactVec w = D(n).w;
  Exact gap = -dot(n, w), step = 1.0L / (length(w) + 1e-30L);
  for (int i = 0; i < evaluations; ++i) {
    const ExactVec next = unit(n - (w + n * gap) * step);
    const ExactVec w_next = D(next).w;
    const Exact found = -dot(next, w_next);
    if (found > gap) {
      n = next;
      w = w_next;
      gap = found;
      step *= 1.6L;
    } else {
      step *= 0.3L;
    }
  }
  return gap;
}

}  // namespace stiction::test
