#include "collision/pairs/box_box.hpp"

#include "collision/convex/general_query.hpp"
#include "collision/manifold/collinear.hpp"
#include "collision/manifold/manifold_pairs.hpp"
#include "collision/manifold/rim.hpp"
#include "collision/pairs/closed_forms.hpp"

// Clipping of the incident face of two boxes against the reference face, and their distance.
// Everything in the frame of A: R = R_AB, t = position of B's centre.

namespace stiction::detail {
namespace {

struct ClipVertex {
  double u, v, gap;  // in the reference face, and above it along the normal of the manifold
  int edge;          // that leaves this vertex: 0..3 of the incident face, 4..7 of the reference
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
                             a.gap + f * (b.gap - a.gap),
                             a_in ? edge : a.edge};
  }
  clip.count = kept;
}

// `p` as seen from the reference box; `sign`: side of the face along `axis`; the corners of the
// incident face come into its plane along n (unit, outward), its normal unless `oblique`.
FaceClip clip_faces(
    const BoxPair& p, int axis, double sign, const Vec3d& n, bool oblique, double flush) {
  const int iu = axis == 2 ? 0 : axis + 1, iv = axis == 0 ? 2 : axis - 1;
  int j = 0;
  for (int k = 1; k < 3; ++k) {
    // A later axis must be clearly more parallel, so that a tie at 45 degrees does not flicker.
    if (std::abs(p.R.column(k)[axis]) > std::abs(p.R.column(j)[axis]) + 1e-9) j = k;
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
  if (oblique) {
    const double rise = 1.0 / (sign * n[axis]);
    for (int i = 0; i < 4; ++i) {
      ClipVertex& v = result.vertices[i];
      v.gap *= rise;
      v.u -= v.gap * n[iu];
      v.v -= v.gap * n[iv];
    }
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
  Vec3d n;             // direction of the gaps, out of the reference face; its frame, unit
  bool on_a;

  // Point at `share` of the gap from the vertex (0) to the reference face (1).
  Vec3d point(const ClipVertex& v, double share) const {
    const double up = v.gap * (1.0 - share);
    Vec3d x;
    x[iu] = v.u + n[iu] * up;
    x[iv] = v.v + n[iv] * up;
    x[axis] = sign * bound + n[axis] * up;
    return x;
  }
};

// Gaps along the normal of the face `axis`.
FaceQuery query_face(const BoxPair& pair, int axis, double flush) {
  const BoxPair p = from_reference(pair, axis);
  const int k = axis % 3;
  const double sign = p.t[k] < 0.0 ? -1.0 : 1.0;
  Vec3d n{0.0, 0.0, 0.0};
  n[k] = sign;
  const int iu = k == 2 ? 0 : k + 1, iv = k == 0 ? 2 : k - 1;
  return {clip_faces(p, k, sign, n, false, flush), k, iu, iv, sign, p.ha[k], n, axis < 3};
}

// Gaps along n (from A to B, frame of A).
FaceQuery query_face_along(const BoxPair& pair, int axis, const Vec3d& n_A, double flush) {
  const BoxPair p = from_reference(pair, axis);
  const Vec3d n = axis < 3 ? n_A : -transpose_times(pair.R, n_A);
  const int k = axis % 3;
  const double sign = n[k] < 0.0 ? -1.0 : 1.0;
  const int iu = k == 2 ? 0 : k + 1, iv = k == 0 ? 2 : k - 1;
  return {clip_faces(p, k, sign, n, true, flush), k, iu, iv, sign, p.ha[k], n, axis < 3};
}

constexpr int kFirstSide = 4;  // numbers of ClipVertex::edge that are sides of the reference face

// Leaves the manifold empty if what is left of the incident face is not as near as `separation`,
// that of the pair along the normal m.normal. False: what is left has no area, and the manifold two
// points.
bool add_points(const FaceQuery& f,
                int axis,
                double separation,
                const Transform& X_WR,
                double size,
                double margin,
                WitnessKind corner,
                NormalOf normal_of,
                Manifold& m) {
  const std::uint32_t faces =
      std::uint32_t(2 * axis + (f.sign > 0.0 ? 1 : 0)) << 12 | f.clip.incident_face << 8;
  double least = HUGE_VAL;
  for (int i = 0; i < f.clip.count; ++i) least = std::fmin(least, f.clip.vertices[i].gap);
  if (least > separation + kFacePreference * size) return true;
  int before = f.clip.count == 0 ? 0 : f.clip.vertices[f.clip.count - 1].edge;
  for (int i = 0; i < f.clip.count; ++i) {
    const ClipVertex& v = f.clip.vertices[i];
    const std::uint32_t feature = faces | before << 4 | v.edge;
    const bool is_corner = before < kFirstSide && v.edge < kFirstSide;
    before = v.edge;
    if (v.gap > margin) continue;
    const WitnessKind kind = is_corner ? corner : WitnessKind::kClipped;
    m.points[m.count++] = {X_WR * f.point(v, 0.5), v.gap, feature, {kind, 0.0, false, normal_of}};
  }
  const int found = m.count;
  m.count = keep_line_ends(m.normal, size, m.points, found);
  return m.count == found;
}

// A face gives the direction of boxes closer than this share of the size; no query does better.
constexpr double kTold = 1e-9;

// Empty if the deepest corner lies beside the reference face, and if the two faces of boxes that
// are apart have no area in common: then the nearest features are edges or corners.
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
  const WitnessKind corner = f.on_a ? WitnessKind::kFaceVertex : WitnessKind::kVertexFace;
  const NormalOf of = f.on_a ? NormalOf::kA : NormalOf::kB;
  const bool area = add_points(f, axis.axis, axis.separation, X_WR, size, margin, corner, of, m);
  if (!area && axis.separation > kTold * size) m.count = 0;
}

int most_parallel(const Vec3d& n) {
  const double x = std::abs(n.x), y = std::abs(n.y), z = std::abs(n.z);
  return x >= y && x >= z ? 0 : (y >= z ? 1 : 2);
}

// Two faces that face each other within 45 degrees although the normal n (from A to B, frame of A)
// between edges or corners separates the pair better than theirs: the polygon of the two, seen
// along n. Returns the reference face; -1, and an empty manifold, if there are no such faces or
// fewer than two points within the margin. `last`: reference face of the step before.
int facing_manifold(const BoxPair& pair,
                    const Vec3d& n,
                    double separation,
                    int last,
                    const Transform& X_WA,
                    const Transform& X_WB,
                    double size,
                    double margin,
                    Manifold& m) {
  const Vec3d n_B = transpose_times(pair.R, n);
  const int of_a = most_parallel(n), of_b = most_parallel(n_B);
  if (std::abs(n[of_a]) < kCapCosine || std::abs(n_B[of_b]) < kCapCosine) return -1;
  const int axis = last == 3 + of_b ? last : of_a;
  const FaceQuery f = query_face_along(pair, axis, n, kFlush * size);
  m.normal = X_WA.R * n;
  const Transform& X_WR = f.on_a ? X_WA : X_WB;
  const WitnessKind kind = WitnessKind::kClipped;
  add_points(f, axis, separation, X_WR, size, margin, kind, NormalOf::kBoth, m);
  if (m.count >= 2) {
    // Beside the reference face by up to `kFlush`, a corner lies behind the plane of the edge.
    for (int i = 0; i < m.count; ++i) {
      m.points[i].gap = std::fmax(m.points[i].gap, separation);
    }
    return axis;
  }
  m.count = 0;
  return -1;
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
          std::abs(s) <= p.ha[i] * slack && std::abs(u) <= p.hb[j] * slack};
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
  const auto facing = [&](const Vec3d& n, double separation) {
    const int face = facing_manifold(p, n, separation, last, X_WA, X_WB, size, margin, m);
    if (face >= 0 && cache != nullptr) cache->reference = face;
    return face >= 0;
  };
  if (axis.axis < 6) {
    face_manifold(p, axis, X_WA, X_WB, size, margin, m);
    if (m.count > 0) return;
  } else {
    const EdgeQuery e = query_edges(p, (axis.axis - 6) / 3, (axis.axis - 6) % 3);
    if (e.inside) {
      if (facing(e.normal, axis.separation)) return;
      m.normal = X_WA.R * e.normal;
      m.points[0] = {X_WA * midpoint(e.on_a, e.on_b), e.gap, e.feature, {WitnessKind::kEdgeEdge}};
      m.count = 1;
      return;
    }
  }
  const GeneralResult r = query_general(a, X_WA, b, X_WB, {}, std::fmax(margin, 0.0), cache);
  if (r.beyond || !(r.distance.distance <= margin)) return;
  if (facing(transpose_times(X_WA.R, r.distance.normal), r.distance.distance)) return;
  manifold_sides(a, X_WA, b, X_WB, r.distance, margin, m);
  if (m.count > 1) return;
  set_single_point(r.distance, vertex_feature(r), m);
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
    if (v.gap > axis.separation + 1e-12 * size) continue;
    sum += f.point(v, f.on_a ? 1.0 : 0.0);
    ++count;
  }
  if (count == 0) return distance_general(a, X_WA, b, X_WB, settings, cache);
  const Transform& X_WR = f.on_a ? X_WA : X_WB;
  const Vec3d normal = X_WR.R * f.n * (f.on_a ? 1.0 : -1.0);
  return make_result(X_WR * (sum * (1.0 / count)), normal, axis.separation, size);
}

}  // namespace stiction::detail
