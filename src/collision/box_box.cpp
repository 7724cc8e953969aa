#include "box_box.hpp"

#include "closed_forms.hpp"
#include "general_query.hpp"
#include "manifold_pairs.hpp"

// Separating axes of two boxes (Gottschalk 1996) and clipping of the incident face against the
// reference face. Everything in the frame of A: R = R_AB, t = position of B's centre.
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

Vec3d edge_axis(const BoxPair& p, int i, int j) {
  const Vec3d& c = p.R.column(j);
  if (i == 0) return {0.0, -c.z, c.y};
  if (i == 1) return {c.z, 0.0, -c.x};
  return {-c.y, c.x, 0.0};
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

namespace {

struct ClipVertex {
  double u, v, height;  // in the reference face, and above it
  int edge;             // that leaves this vertex: 0..3 of the incident face, 4..7 of the reference
};

struct FaceClip {
  int count;
  ClipVertex vertices[8];
  int incident_face;  // of the other box: 2 * axis + (1 if its outward normal is +axis)
};

// Sutherland-Hodgman against sign * (u or v) <= bound; `edge` names the clipping line. Most sides
// of resting boxes cut nothing.
template <double ClipVertex::* Coordinate>
void clip_side(FaceClip& clip, double sign, double bound, double flush, int edge) {
  double d[8];
  bool cuts = false;
  for (int i = 0; i < clip.count; ++i) {
    d[i] = sign * clip.vertices[i].*Coordinate - bound;
    cuts |= d[i] > flush;
  }
  if (!cuts) return;
  ClipVertex in[8];
  const int count = clip.count;
  for (int i = 0; i < count; ++i) in[i] = clip.vertices[i];
  int kept = 0;
  for (int i = 0; i < count; ++i) {
    const int next = i + 1 == count ? 0 : i + 1;
    const ClipVertex &a = in[i], &b = in[next];
    const bool a_in = d[i] <= flush, b_in = d[next] <= flush;
    if (a_in) clip.vertices[kept++] = a;
    if (a_in == b_in) continue;
    double f = d[i] / (d[i] - d[next]);  // both may lie outside by less than `flush`
    f = f < 0.0 ? 0.0 : (f > 1.0 ? 1.0 : f);
    clip.vertices[kept++] = {a.u + f * (b.u - a.u),
                             a.v + f * (b.v - a.v),
                             a.height + f * (b.height - a.height),
                             a_in ? edge : a.edge};
  }
  clip.count = kept;
}

// `p` as seen from the reference box; `sign`: side of the face along `axis`.
FaceClip clip_faces(const BoxPair& p, int axis, double sign, double flush) {
  const int iu = axis == 2 ? 0 : axis + 1, iv = axis == 0 ? 2 : axis - 1;
  int j = 0;
  for (int k = 1; k < 3; ++k) {
    // A later axis must be clearly more parallel, so that a tie at 45 degrees does not flicker.
    if (magnitude(p.R.column(k)[axis]) > magnitude(p.R.column(j)[axis]) + 1e-9) j = k;
  }
  const Vec3d& c = p.R.column(j);
  const double side = sign * c[axis] > 0.0 ? -1.0 : 1.0;
  const int k = j == 2 ? 0 : j + 1, l = j == 0 ? 2 : j - 1;
  const Vec3d centre = p.t + c * (side * p.hb[j]);
  const Vec3d ek = p.R.column(k) * p.hb[k], el = p.R.column(l) * p.hb[l];
  const Vec3d corners[4] = {centre - ek - el, centre + ek - el, centre + ek + el, centre - ek + el};
  FaceClip result;
  result.incident_face = 2 * j + (side > 0.0 ? 1 : 0);
  result.count = 4;
  for (int i = 0; i < 4; ++i) {
    const Vec3d& x = corners[i];
    result.vertices[i] = {x[iu], x[iv], sign * x[axis] - p.ha[axis], i};
  }
  clip_side<&ClipVertex::u>(result, 1.0, p.ha[iu], flush, 4);
  clip_side<&ClipVertex::v>(result, 1.0, p.ha[iv], flush, 5);
  clip_side<&ClipVertex::u>(result, -1.0, p.ha[iu], flush, 6);
  clip_side<&ClipVertex::v>(result, -1.0, p.ha[iv], flush, 7);
  return result;
}

// The pair as seen from the box that owns the reference face.
BoxPair from_reference(const BoxPair& p, int axis) {
  if (axis < 3) return p;
  return {p.hb, p.ha, transpose(p.R), -transpose_times(p.R, p.t)};
}

struct FaceQuery {
  FaceClip clip;
  int axis, iu, iv;
  double sign, bound;  // the reference face is sign * x[axis] = bound
  bool on_a;

  Vec3d normal() const {  // out of the reference face, its frame
    Vec3d n{0.0, 0.0, 0.0};
    n[axis] = sign;
    return n;
  }
  // Point at `share` of the gap from the vertex (0) to the reference face (1).
  Vec3d point(const ClipVertex& v, double share) const {
    Vec3d x;
    x[iu] = v.u;
    x[iv] = v.v;
    x[axis] = sign * (bound + v.height * (1.0 - share));
    return x;
  }
};

FaceQuery query_face(const BoxPair& pair, int axis, double flush) {
  const BoxPair p = from_reference(pair, axis);
  const int k = axis % 3;
  const double sign = p.t[k] < 0.0 ? -1.0 : 1.0;
  return {clip_faces(p, k, sign, flush),
          k,
          k == 2 ? 0 : k + 1,
          k == 0 ? 2 : k - 1,
          sign,
          p.ha[k],
          axis < 3};
}

// Leaves the manifold empty if the deepest corner lies beside the reference face: the pair is
// separated (overlapping boxes have it above), and the nearest features are edges or corners.
void face_manifold(const BoxPair& pair,
                   const SeparatingAxis& axis,
                   const Transform& X_WA,
                   const Transform& X_WB,
                   double size,
                   double margin,
                   Manifold& m) {
  const FaceQuery f = query_face(pair, axis.axis, kFlush * size);
  const Transform& X_WR = f.on_a ? X_WA : X_WB;
  const Vec3d outward = X_WR.R.column(f.axis) * f.sign;
  m.normal = f.on_a ? outward : -outward;
  const std::uint32_t faces =
      std::uint32_t(2 * axis.axis + (f.sign > 0.0 ? 1 : 0)) << 12 | f.clip.incident_face << 8;
  double least = HUGE_VAL;
  for (int i = 0; i < f.clip.count; ++i) least = std::fmin(least, f.clip.vertices[i].height);
  if (least > axis.separation + kFacePreference * size) return;
  int before = f.clip.count == 0 ? 0 : f.clip.vertices[f.clip.count - 1].edge;
  for (int i = 0; i < f.clip.count; ++i) {
    const ClipVertex& v = f.clip.vertices[i];
    const std::uint32_t feature = faces | before << 4 | v.edge;
    before = v.edge;
    if (v.height > margin) continue;
    m.points[m.count++] = {X_WR * f.point(v, 0.5), v.height, feature};
  }
}

// Closest points of two edges, each the support edge of its box along the axis; frame A.
struct EdgeQuery {
  Vec3d normal;  // from A to B
  Vec3d on_a, on_b;
  double gap;
  std::uint32_t feature;
  bool inside;  // both points lie on the edges, not on their extensions
};

EdgeQuery query_edges(const BoxPair& p, int i, int j) {
  Vec3d n = edge_axis(p, i, j);
  const double length = norm(n);
  n = n * ((dot(n, p.t) < 0.0 ? -1.0 : 1.0) / length);
  Vec3d a{0.0, 0.0, 0.0}, b = p.t;
  std::uint32_t signs = 0;
  for (int k = 0; k < 3; ++k) {
    if (k != i) {
      const bool plus = n[k] > 0.0;
      a[k] = plus ? p.ha[k] : -p.ha[k];
      signs |= std::uint32_t(plus) << k;
    }
    if (k != j) {
      const bool plus = dot(p.R.column(k), n) < 0.0;
      b += p.R.column(k) * (plus ? p.hb[k] : -p.hb[k]);
      signs |= std::uint32_t(plus) << (3 + k);
    }
  }
  // a + s e_i and b + u c_j, with e_i x c_j = +-length n: one vector product gives both numbers.
  const Vec3d& c = p.R.column(j);
  Vec3d e{0.0, 0.0, 0.0};
  e[i] = 1.0;
  const Vec3d l = cross(e, c), d = b - a;
  const double s = dot(cross(d, c), l) / (length * length);
  const double u = dot(cross(d, e), l) / (length * length);
  const double slack = 1.0 + 1e-9;
  return {n,
          a + e * s,
          b + c * u,
          dot(n, d),
          1u << 31 | std::uint32_t(3 * i + j) << 8 | signs,
          magnitude(s) <= p.ha[i] * slack && magnitude(u) <= p.hb[j] * slack};
}

}  // namespace

void manifold_box_box(const Shape& a,
                      const Transform& X_WA,
                      const Shape& b,
                      const Transform& X_WB,
                      double margin,
                      Manifold& m,
                      DistanceCache* cache) {
  m.count = 0;
  const BoxPair p = make_box_pair(a.size, X_WA, b.size, X_WB);
  const double size = norm(p.ha) + norm(p.hb);
  const int last = cache != nullptr ? cache->reference : -1;
  const double tie = kFacePreference * size;
  const SeparatingAxis axis = find_separating_axis(p, margin, tie, last, 10.0 * tie);
  if (cache != nullptr) cache->reference = axis.axis < 6 ? axis.axis : -1;
  if (axis.most > margin) return;
  if (axis.axis < 6) {
    face_manifold(p, axis, X_WA, X_WB, size, margin, m);
    if (m.count > 0) return;
  } else {
    const EdgeQuery e = query_edges(p, (axis.axis - 6) / 3, (axis.axis - 6) % 3);
    if (e.inside) {
      m.normal = X_WA.R * e.normal;
      m.points[0] = {X_WA * midpoint(e.on_a, e.on_b), e.gap, e.feature};
      m.count = 1;
      return;
    }
  }
  manifold_single_point(a, X_WA, b, X_WB, margin, m, cache);
}

// Overlapping: the best of the 15 axes, witness in the middle of the deepest clipped points.
namespace {

constexpr double kRounding = 1e-13;  // of the size
// Of the size: GJK without progress (a simplex near a face's diagonal) has the distance if a
// separating axis proves it to its tolerance.
constexpr double kProven = 1e-10;

// Of boxes that nearly touch, the direction between the closest points is the rounding of the
// coordinates over the gap. The normal of the face that separates them best is exact, and taken if
// it moves the closest points by no more than that rounding.
DistanceResult with_face_normal(const DistanceResult& r,
                                const BoxPair& p,
                                int axis,
                                const Transform& X_WA,
                                const Transform& X_WB,
                                double size) {
  const bool of_a = axis < 3;
  const int k = of_a ? axis : axis - 3;
  const double side = of_a ? p.t[k] : dot(p.R.column(k), p.t);
  const Vec3d normal = (of_a ? X_WA.R.column(k) : X_WB.R.column(k)) * (side < 0.0 ? -1.0 : 1.0);
  if (!(r.distance * norm(normal - r.normal) <= kRounding * size)) return r;
  const Vec3d middle = midpoint(r.witness_a, r.witness_b), half = normal * (0.5 * r.distance);
  return {r.distance, middle - half, middle + half, normal, r.iterations, r.status};
}

}  // namespace

DistanceResult distance_box_box(const Shape& a,
                                const Transform& X_WA,
                                const Shape& b,
                                const Transform& X_WB,
                                const DistanceSettings& settings,
                                DistanceCache* cache) {
  const BoxPair p = make_box_pair(a.size, X_WA, b.size, X_WB);
  const double size = norm(p.ha) + norm(p.hb);
  const SeparatingAxis axis = find_separating_axis(p, 0.0, 0.0, -1, 0.0);
  if (axis.separation > 0.0) {
    DistanceResult r = distance_general(a, X_WA, b, X_WB, settings, cache);
    if (r.status == DistanceStatus::kMaxIterations &&
        r.distance - axis.separation <= kProven * size) {
      r.status = DistanceStatus::kSeparated;
    }
    return axis.axis < 6 ? with_face_normal(r, p, axis.axis, X_WA, X_WB, size) : r;
  }
  if (axis.axis >= 6) {
    const EdgeQuery e = query_edges(p, (axis.axis - 6) / 3, (axis.axis - 6) % 3);
    if (!e.inside) return distance_general(a, X_WA, b, X_WB, settings, cache);
    return make_result(X_WA * e.on_a, X_WA.R * e.normal, axis.separation, size);
  }
  const FaceQuery f = query_face(p, axis.axis, 0.0);
  Vec3d sum{0.0, 0.0, 0.0};
  int count = 0;
  for (int i = 0; i < f.clip.count; ++i) {
    const ClipVertex& v = f.clip.vertices[i];
    if (v.height > axis.separation + 1e-12 * size) continue;
    sum += f.point(v, f.on_a ? 1.0 : 0.0);
    ++count;
  }
  if (count == 0) return distance_general(a, X_WA, b, X_WB, settings, cache);
  const Transform& X_WR = f.on_a ? X_WA : X_WB;
  const Vec3d normal = X_WR.R * f.normal() * (f.on_a ? 1.0 : -1.0);
  return make_result(X_WR * (sum * (1.0 / count)), normal, axis.separation, size);
}

}  // namespace stiction::detail
