#include "collision/manifold/polygon.hpp"

#include "collision/manifold/rim.hpp"
#include "geometry/mesh_features.hpp"

namespace stiction::detail {
namespace {

constexpr int kSideId = 2;  // of the segment that a curved side shows; caps are 0 and 1

void box_face(const Vec3d& h, const Vec3d& d, const Transform& X, Polygon& face) {
  const double x = std::abs(d.x), y = std::abs(d.y), z = std::abs(d.z);
  const int k = x >= y && x >= z ? 0 : (y >= z ? 1 : 2);
  const int u = k == 2 ? 0 : k + 1, v = k == 0 ? 2 : k - 1;
  const double side = d[k] < 0.0 ? -1.0 : 1.0;
  const Vec3d centre = X.p + X.R.column(k) * (side * h[k]);
  const Vec3d eu = X.R.column(u) * h[u], ev = X.R.column(v) * (side * h[v]);
  face.p[0] = centre - eu - ev;
  face.p[1] = centre + eu - ev;
  face.p[2] = centre + eu + ev;
  face.p[3] = centre - eu + ev;
  face.count = 4;
  face.normal = X.R.column(k) * side;
  face.offset = dot(face.normal, centre);
  face.id = 2 * k + (side > 0.0 ? 1 : 0);
}

// Deeper vertices of a merged face are not in its plane; `offset` is the outermost of all.
void mesh_face(const ConvexMesh& mesh, int best, const Transform& X, Polygon& face) {
  const ConvexMesh::Face& f = mesh.faces[best];
  const int stride = (f.count + kMaxPolygon - 1) / kMaxPolygon;
  face.count = 0;
  for (int i = 0; i < f.count; i += stride) {
    face.p[face.count++] = X * mesh.vertices[mesh.face_vertices[f.first + i]];
  }
  face.normal = X.R * f.normal;
  face.offset = f.offset + dot(face.normal, X.p);
  face.id = best;
}

void hull_face(const ConvexMesh& mesh, const Vec3d& d, const Transform& X, Polygon& face) {
  mesh_face(mesh, face_along_edge(mesh, mesh_support(mesh, d), d), X, face);
}

void cap(const Vec3d& half, double side, const Transform& X, Polygon& face) {
  face.count = 0;
  face.disc = {X * Vec3d{0.0, 0.0, side * half.z}, X.R.c0, X.R.c1, half.x};
  face.normal = X.R.c2 * side;
  face.offset = dot(face.normal, face.disc.centre);
  face.id = side > 0.0 ? 1 : 0;
}

struct Line {
  Vec3d outward;  // unit, normal to the edge and to the direction of view
  double offset;
  double outside(const Vec3d& p) const { return dot(outward, p) - offset; }
};

// False for an edge without length.
bool line_of(const Polygon& reference, int i, const Vec3d& n, Line& line) {
  const Vec3d& a = reference.p[i];
  const Vec3d out = cross(reference.p[i + 1 == reference.count ? 0 : i + 1] - a, n);
  const double length = norm(out);
  if (!(length > 0.0)) return false;
  line.outward = out * (1.0 / length);
  line.offset = dot(line.outward, a);
  return true;
}

double share(double da, double db) {
  const double f = da / (da - db);
  return f < 0.0 ? 0.0 : (f > 1.0 ? 1.0 : f);
}

// `after` of a vertex is the line of the edge that leaves it; `before` is filled at the end.
int clip_polygon(
    const ClippedPoint* in, int count, const Line& line, int id, double flush, ClippedPoint* out) {
  int kept = 0;
  for (int i = 0; i < count; ++i) {
    const ClippedPoint& a = in[i];
    const ClippedPoint& b = in[i + 1 == count ? 0 : i + 1];
    const double da = line.outside(a.p), db = line.outside(b.p);
    const bool a_in = da <= flush, b_in = db <= flush;
    if (a_in) out[kept++] = a;
    if (a_in == b_in) continue;
    out[kept++] = {a.p + (b.p - a.p) * share(da, db), 0, a_in ? id : a.after};
  }
  return kept;
}

int clip_segment(const Polygon& segment,
                 const Polygon& reference,
                 const Vec3d& n,
                 double flush,
                 ClippedPoint* out) {
  ClippedPoint a{segment.p[0], 0, 0}, b{segment.p[1], 0, 1};
  Line line;
  for (int i = 0; i < reference.count; ++i) {
    if (!line_of(reference, i, n, line)) continue;
    const double da = line.outside(a.p), db = line.outside(b.p);
    if (da > flush && db > flush) return 0;
    if (da > flush) a = {a.p + (b.p - a.p) * share(da, db), kReferenceEdges + i, 0};
    if (db > flush) b = {a.p + (b.p - a.p) * share(da, db), kReferenceEdges + i, 1};
  }
  out[0] = a;
  out[1] = b;
  return squared_norm(b.p - a.p) > flush * flush ? 2 : 1;
}

}  // namespace

bool plane_face_towards(const Core& core, const Vec3d& d, const Transform& X, Polygon& face) {
  switch (core.type) {
    case ShapeType::kBox:
      box_face(core.half, d, X, face);
      return true;
    case ShapeType::kConvexMesh:
      mesh_face(*core.mesh, face_along(*core.mesh, mesh_support(*core.mesh, d), d), X, face);
      return true;
    case ShapeType::kCylinder:
      if (!(std::abs(d.z) >= kCapCosine * norm(d))) return false;
      cap(core.half, d.z < 0.0 ? -1.0 : 1.0, X, face);
      return true;
    case ShapeType::kCone:
      if (!(-d.z >= kCapCosine * norm(d))) return false;
      cap(core.half, -1.0, X, face);
      return true;
    default:
      return false;
  }
}

bool plane_face_facing(const Core& core, const Vec3d& d, const Transform& X, Polygon& face) {
  if (core.type == ShapeType::kConvexMesh) {
    hull_face(*core.mesh, d, X, face);
  } else if (!plane_face_towards(core, d, X, face)) {
    return false;
  }
  return dot(transpose_times(X.R, face.normal), d) >= kCapCosine;
}

void face_towards(const Core& core, const Vec3d& d, const Transform& X, Polygon& face) {
  if (core.type == ShapeType::kConvexMesh) return hull_face(*core.mesh, d, X, face);
  if (plane_face_towards(core, d, X, face)) return;
  const Vec3d& h = core.half;
  face.count = 2;
  face.normal = X.R * d;
  face.offset = 0.0;
  face.id = kSideId;
  switch (core.type) {
    case ShapeType::kCylinder:
    case ShapeType::kCone: {
      const double across = std::sqrt(d.x * d.x + d.y * d.y), s = h.x / across;
      const bool cone = core.type == ShapeType::kCone;
      face.p[0] = X * (cone ? Vec3d{0.0, 0.0, h.z} : Vec3d{d.x * s, d.y * s, h.z});
      // Apex down: no point of the rim is the lowest one, and all are far.
      face.p[1] = across > kLevelRim * norm(d) ? X * Vec3d{d.x * s, d.y * s, -h.z} : face.p[0];
      break;
    }
    case ShapeType::kEllipsoid: {
      int none = 0;
      face.p[0] = face.p[1] = X * core_support(core, d, none);
      break;
    }
    default:  // the core of a capsule; a sphere's is a point
      face.p[0] = X * -h;
      face.p[1] = X * h;
  }
}

int clip(const Polygon& incident,
         const Polygon& reference,
         const Vec3d& n,
         double flush,
         ClippedPoint* out) {
  if (incident.is_disc() || reference.is_disc()) {
    return clip_disc(incident, reference, n, flush, out);
  }
  if (incident.count == 2) return clip_segment(incident, reference, n, flush, out);
  ClippedPoint buffer[kMaxClipped];
  ClippedPoint *from = out, *to = buffer;
  int count = incident.count;
  for (int i = 0; i < count; ++i) from[i] = {incident.p[i], 0, i};
  Line line;
  for (int i = 0; i < reference.count && count > 0; ++i) {
    // The incident loop has at most 64 vertices and each of at most 64 lines adds at most one.
    if (!line_of(reference, i, n, line)) continue;
    count = clip_polygon(from, count, line, kReferenceEdges + i, flush, to);
    ClippedPoint* swap = from;
    from = to;
    to = swap;
  }
  for (int i = 0; i < count; ++i) {
    out[i] = from[i];
    out[i].before = from[i == 0 ? count - 1 : i - 1].after;
  }
  return count;
}

}  // namespace stiction::detail
