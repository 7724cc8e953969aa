#include "collision/surface/surface.hpp"

#include "math/elementary.hpp"

namespace stiction::detail {
namespace {

// Directions are unit to rounding; a direction this far outside of a cone is still in it.
constexpr double kConeSlack = 1e-7;

SurfaceEdge field_edge(const HeightField& f, const SurfaceTriangle& t, int k, Vec3d& across) {
  const int other = f.neighbour(t.id, k);
  if (other < 0) return SurfaceEdge::kBoundary;
  across = f.normal(other);
  if (norm(cross(t.n, across)) <= kFlatSine) return SurfaceEdge::kFlat;
  int i[3], j[3];
  f.corners(other, i, j);
  double height = 0.0;
  for (int c = 0; c < 3; ++c) {
    const double h = dot(t.n, f.sample(i[c], j[c])) - t.offset;
    if (std::abs(h) > std::abs(height)) height = h;
  }
  return height > 0.0 ? SurfaceEdge::kConcave : SurfaceEdge::kConvex;
}

// All six triangles around a sample lie in one plane, and there are six.
bool field_corner_sharp(const Surface& s, const SurfaceTriangle& t, int k) {
  const double reach = kFlatSine * std::fmin(s.field->dx, s.field->dy);
  int around = 0;
  bool flat = true;
  s.around(t.vertex[k], [&](const Vec3d& p) {
    ++around;
    if (std::abs(dot(t.n, p) - t.offset) > reach) flat = false;
  });
  return around < 6 || !flat;
}

void mesh_triangle(const TriangleMesh& m, SurfaceTriangle& t) {
  const std::size_t first = 3 * static_cast<std::size_t>(t.id);
  t.n = m.normals[t.id];
  t.patch = m.patch[t.id];
  for (int k = 0; k < 3; ++k) {
    t.vertex[k] = m.triangles[first + k];
    t.v[k] = m.vertices[t.vertex[k]];
    t.edge[k] = m.edges[first + k];
    t.sharp[k] = m.sharp[t.vertex[k]] != 0;
    if (m.neighbours[first + k] >= 0) t.across[k] = m.normals[m.neighbours[first + k]];
  }
  t.offset = dot(t.n, t.v[0]);
}

double squared_distance(const Aabb& box, const Vec3d& p) {
  double sum = 0.0;
  for (int k = 0; k < 3; ++k) {
    const double d = std::fmax(std::fmax(box.lower[k] - p[k], p[k] - box.upper[k]), 0.0);
    sum += d * d;
  }
  return sum;
}

// Behind the feature that is nearest: an edge or corner by the sum of the normals around it,
// weighted by the angle (Baerentzen and Aanaes 2005).
bool behind(const Surface& s, int id, const Vec3d& p, const ClosestOnTriangle& at) {
  SurfaceTriangle t;
  s.triangle(id, t);
  Vec3d n = t.n;
  if (at.edge >= 0 && t.edge[at.edge] != SurfaceEdge::kBoundary) n = t.n + t.across[at.edge];
  if (at.corner >= 0 && s.mesh != nullptr) {
    n = {0, 0, 0};
    const int v = t.vertex[at.corner];
    for (int i = s.mesh->vertex_start[v]; i < s.mesh->vertex_start[v + 1]; ++i) {
      const int o = s.mesh->vertex_triangles[i];
      Vec3d e[2];
      int found = 0;
      for (int k = 0; k < 3; ++k) {
        if (s.mesh->triangles[3 * o + k] != v) e[found++] = s.mesh->corner(o, k) - t.v[at.corner];
      }
      n += s.mesh->normals[o] * arc_tangent(norm(cross(e[0], e[1])), dot(e[0], e[1]));
    }
  }
  return dot(n, p - at.p) < 0.0;
}

}  // namespace

void Surface::corners(int id, Vec3d v[3]) const {
  if (mesh != nullptr) {
    for (int k = 0; k < 3; ++k) v[k] = mesh->corner(id, k);
    return;
  }
  int i[3], j[3];
  field->corners(id, i, j);
  for (int k = 0; k < 3; ++k) v[k] = field->sample(i[k], j[k]);
}

void Surface::triangle(int id, SurfaceTriangle& t) const {
  face(id, t);
  for (int k = 0; k < 3; ++k) {
    classify_edge(t, k);
    classify_corner(t, k);
  }
}

void Surface::face(int id, SurfaceTriangle& t) const {
  t.id = id;
  if (mesh != nullptr) return mesh_triangle(*mesh, t);
  const int cell = id / 2;
  face(cell % field->cells_x(), cell / field->cells_x(), id % 2, t);
}

void Surface::face(int i, int j, int side, SurfaceTriangle& t) const {
  const HeightField& f = *field;
  int at_i[3], at_j[3];
  HeightField::corners(i, j, side == 1, at_i, at_j);
  for (int k = 0; k < 3; ++k) {
    t.v[k] = f.sample(at_i[k], at_j[k]);
    t.vertex[k] = at_j[k] * f.nx + at_i[k];
  }
  t.n = f.normal(side == 1, t.v[0].z, t.v[1].z, t.v[2].z);
  t.offset = dot(t.n, t.v[0]);
  t.id = 2 * (j * f.cells_x() + i) + side;
  t.patch = f.patch[t.id];
}

void Surface::classify_edge(SurfaceTriangle& t, int edge) const {
  if (field != nullptr) t.edge[edge] = field_edge(*field, t, edge, t.across[edge]);
}

void Surface::classify_corner(SurfaceTriangle& t, int corner) const {
  if (field != nullptr) t.sharp[corner] = field_corner_sharp(*this, t, corner);
}

Vec3d Surface::outward(int vertex) const {
  if (field != nullptr) return {0.0, 0.0, 1.0};
  Vec3d sum{0, 0, 0};
  for (int i = mesh->vertex_start[vertex]; i < mesh->vertex_start[vertex + 1]; ++i) {
    sum += mesh->normals[mesh->vertex_triangles[i]];
  }
  return sum;
}

// Ericson, Real-Time Collision Detection, 5.1.5.
ClosestOnTriangle closest_on_triangle(const Vec3d v[3], const Vec3d& p) {
  const Vec3d ab = v[1] - v[0], ac = v[2] - v[0], ap = p - v[0];
  const double d1 = dot(ab, ap), d2 = dot(ac, ap);
  if (d1 <= 0.0 && d2 <= 0.0) return {v[0], -1, 0};
  const Vec3d bp = p - v[1];
  const double d3 = dot(ab, bp), d4 = dot(ac, bp);
  if (d3 >= 0.0 && d4 <= d3) return {v[1], -1, 1};
  const double vc = d1 * d4 - d3 * d2;
  if (vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0) return {v[0] + ab * (d1 / (d1 - d3)), 0, -1};
  const Vec3d cp = p - v[2];
  const double d5 = dot(ab, cp), d6 = dot(ac, cp);
  if (d6 >= 0.0 && d5 <= d6) return {v[2], -1, 2};
  const double vb = d5 * d2 - d1 * d6;
  if (vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0) return {v[0] + ac * (d2 / (d2 - d6)), 2, -1};
  const double va = d3 * d6 - d5 * d4;
  if (va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0) {
    return {v[1] + (v[2] - v[1]) * ((d4 - d3) / ((d4 - d3) + (d5 - d6))), 1, -1};
  }
  const double s = 1.0 / (va + vb + vc);
  return {v[0] + ab * (vb * s) + ac * (vc * s), -1, -1};
}

// Between the normals of the two triangles: u . m >= 0 for the two directions m that lie in one of
// the triangles, are normal to the edge and point away from it.
bool edge_looks_along(const SurfaceTriangle& t, int k, const Vec3d& u) {
  if (t.edge[k] == SurfaceEdge::kFlat || t.edge[k] == SurfaceEdge::kConcave) return false;
  const Vec3d e = t.next(k) - t.v[k];
  const double slack = -kConeSlack * norm(e);
  if (dot(u, cross(e, t.n)) < slack) return false;
  if (t.edge[k] == SurfaceEdge::kBoundary) return dot(u, t.n) >= -kConeSlack;
  return dot(u, cross(t.across[k], e)) >= slack;
}

bool corner_looks_along(const Surface& surface,
                        const SurfaceTriangle& t,
                        int corner,
                        const Vec3d& u) {
  if (!t.sharp[corner] || !(dot(u, surface.outward(t.vertex[corner])) > 0.0)) return false;
  bool ahead = true;
  surface.around(t.vertex[corner], [&](const Vec3d& p) {
    const Vec3d e = p - t.v[corner];
    if (dot(u, e) > kConeSlack * norm(e)) ahead = false;
  });
  return ahead;
}

NearestTriangle nearest_triangle(const Surface& surface, const Vec3d& p, double bound) {
  NearestTriangle best;
  double least = bound * bound;
  ClosestOnTriangle at;
  const auto offer = [&](int id) {
    Vec3d v[3];
    surface.corners(id, v);
    const ClosestOnTriangle c = closest_on_triangle(v, p);
    const double d = squared_norm(c.p - p);
    if (d > least || (d == least && best.id >= 0 && id > best.id)) return;
    least = d;
    best.id = id;
    at = c;
  };
  if (surface.mesh != nullptr) {
    surface.mesh->bvh.descend([&](const Aabb& b) { return squared_distance(b, p) <= least; },
                              offer);
  } else {
    surface.overlapping({p - Vec3d{bound, bound, bound}, p + Vec3d{bound, bound, bound}}, offer);
  }
  if (best.id < 0) return best;
  best.p = at.p;
  best.distance = std::sqrt(least);
  best.inside = surface.field != nullptr
                    ? p.z < surface.field->height(p.x, p.y)  // NaN outside of the grid: false
                    : behind(surface, best.id, p, at);
  return best;
}

}  // namespace stiction::detail
