#include "collision/convex/polytope.hpp"

#include <algorithm>

namespace stiction::detail {
namespace {

constexpr double kSees = 1e-13;    // of the size: height above a face from which it is replaced
constexpr double kFlat = 1e-12;    // of the size: too little to span the first tetrahedron
constexpr double kSliver = 1e-26;  // squared sine below which a face has no reliable normal

}  // namespace

void Polytope::set_face(int f, int a, int b, int c) {
  const Vec3d& origin = vertices_[a].w;
  const Vec3d ab = vertices_[b].w - origin, ac = vertices_[c].w - origin, n = cross(ab, ac);
  const double nn = squared_norm(n);
  Face& face = faces_[f];
  face.v[0] = a;
  face.v[1] = b;
  face.v[2] = c;
  face.alive = true;
  if (!(nn > kSliver * squared_norm(ab) * squared_norm(ac))) {
    face.normal = {0, 0, 0};
    distance_[f] = HUGE_VAL;
    return;
  }
  face.normal = n * (1.0 / std::sqrt(nn));
  distance_[f] = dot(face.normal, origin);
}

// Points in directions that leave the point, the line, the plane of what is there. The origin stays
// inside or on the border, because the simplex that held it is part of the tetrahedron.
bool Polytope::grow_to_tetrahedron(const SupportDifference& D) {
  const double flat = kFlat * size_;
  const Vec3d axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (int k = 0; k < 6 && vertex_count_ == 1; ++k) {
    const SupportPoint s = D(k % 2 == 0 ? axes[k / 2] : -axes[k / 2]);
    if (norm(s.w - vertices_[0].w) > flat) vertices_[vertex_count_++] = s;
  }
  if (vertex_count_ < 2) return false;
  const Vec3d along = vertices_[1].w - vertices_[0].w;
  for (int k = 0; k < 6 && vertex_count_ == 2; ++k) {
    const Vec3d d = cross(along, axes[k / 2]);
    const SupportPoint s = D(k % 2 == 0 ? d : -d);
    const double off_line = norm(cross(along, s.w - vertices_[0].w));
    if (off_line > flat * norm(along)) vertices_[vertex_count_++] = s;
  }
  if (vertex_count_ < 3) return false;
  const Vec3d n = cross(along, vertices_[2].w - vertices_[0].w);
  for (int k = 0; k < 2 && vertex_count_ == 3; ++k) {
    const SupportPoint s = D(k == 0 ? n : -n);
    const double off_plane = std::abs(dot(n, s.w - vertices_[0].w));
    if (off_plane > flat * norm(n)) vertices_[vertex_count_++] = s;
  }
  return vertex_count_ == 4;
}

bool Polytope::start(const SupportDifference& D, const Simplex& simplex) {
  vertex_count_ = simplex.count;
  std::copy(simplex.points, simplex.points + simplex.count, vertices_);
  if (vertex_count_ < 4 && !grow_to_tetrahedron(D)) return false;
  const Vec3d& o = vertices_[0].w;
  const Vec3d n = cross(vertices_[1].w - o, vertices_[2].w - o);
  if (dot(n, vertices_[3].w - o) > 0.0) std::swap(vertices_[1], vertices_[2]);
  // Outward faces if vertex 3 lies below (0, 1, 2).
  constexpr int kCorners[4][3] = {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}};
  constexpr int kAdjacent[4][3] = {{4 * 1 + 2, 4 * 2 + 2, 4 * 3 + 2},
                                   {4 * 3 + 1, 4 * 2 + 0, 4 * 0 + 0},
                                   {4 * 1 + 1, 4 * 3 + 0, 4 * 0 + 1},
                                   {4 * 2 + 1, 4 * 1 + 0, 4 * 0 + 2}};
  face_count_ = 4;
  for (int f = 0; f < 4; ++f) {
    set_face(f, kCorners[f][0], kCorners[f][1], kCorners[f][2]);
    std::copy(kAdjacent[f], kAdjacent[f] + 3, faces_[f].adj);
  }
  return true;
}

bool Polytope::load(const SupportDifference& D, const PolytopeCache& cache) {
  vertex_count_ = cache.vertices;
  face_count_ = cache.faces;
  if (face_count_ < 4) return false;
  for (int i = 0; i < vertex_count_; ++i) vertices_[i] = D.at(cache.index_a[i], cache.index_b[i]);
  for (int f = 0; f < face_count_; ++f) {
    set_face(f, cache.face[f][0], cache.face[f][1], cache.face[f][2]);
    if (!(distance_[f] > 0.0 && distance_[f] < HUGE_VAL)) return false;
  }
  return link_faces();
}

// Adjacency from the corners alone: each directed edge occurs once in each direction.
bool Polytope::link_faces() {
  constexpr int kMax = PolytopeCache::kMaxVertices;
  std::int16_t edge_from[kMax][kMax];
  for (int i = 0; i < vertex_count_; ++i) std::fill_n(edge_from[i], vertex_count_, -1);
  for (int f = 0; f < face_count_; ++f) {
    for (int k = 0; k < 3; ++k)
      edge_from[faces_[f].v[k]][faces_[f].v[(k + 1) % 3]] = std::int16_t(4 * f + k);
  }
  for (int f = 0; f < face_count_; ++f) {
    for (int k = 0; k < 3; ++k) {
      faces_[f].adj[k] = edge_from[faces_[f].v[(k + 1) % 3]][faces_[f].v[k]];
      if (faces_[f].adj[k] < 0) return false;
    }
  }
  return true;
}

bool Polytope::save(PolytopeCache& cache) const {
  cache.vertices = cache.faces = 0;
  if (face_count_ - free_count_ > PolytopeCache::kMaxFaces) return false;
  int number[kMaxVertices];
  std::fill_n(number, vertex_count_, -1);
  int vertices = 0, faces = 0;
  for (int f = 0; f < face_count_; ++f) {
    if (!faces_[f].alive) continue;
    for (int k = 0; k < 3; ++k) {
      const int v = faces_[f].v[k];
      if (number[v] < 0) {
        const SupportPoint& p = vertices_[v];
        if (vertices == PolytopeCache::kMaxVertices || !p.numbered()) return false;
        cache.index_a[vertices] = p.index_a;
        cache.index_b[vertices] = p.index_b;
        number[v] = vertices++;
      }
      cache.face[faces][k] = std::uint8_t(number[v]);
    }
    ++faces;
  }
  cache.vertices = vertices;
  cache.faces = faces;
  return true;
}

// Depth first round the visible region, so that the edges of its border come in order.
void Polytope::cross_edge(int edge, const Vec3d& w) {
  const int f = edge / 4, k = edge % 4;
  Face& face = faces_[f];
  if (!face.alive) return;
  if (!(dot(face.normal, w) - distance_[f] > kSees * size_)) {
    horizon_[horizon_count_++] = edge;
    return;
  }
  face.alive = false;
  visible_[visible_count_++] = f;
  cross_edge(face.adj[(k + 1) % 3], w);
  cross_edge(face.adj[(k + 2) % 3], w);
}

// False: rounding made the border something else than one loop; nothing has changed.
bool Polytope::find_silhouette(int seen_from, const Vec3d& w) {
  visible_count_ = horizon_count_ = 0;
  faces_[seen_from].alive = false;
  visible_[visible_count_++] = seen_from;
  for (int k = 0; k < 3; ++k) cross_edge(faces_[seen_from].adj[k], w);
  bool loop = horizon_count_ >= 3;
  for (int i = 0; i < horizon_count_; ++i) {
    const int e = horizon_[i], next = horizon_[i + 1 < horizon_count_ ? i + 1 : 0];
    loop = loop && faces_[e / 4].v[e % 4] == faces_[next / 4].v[(next % 4 + 1) % 3];
  }
  loop = loop && face_count_ - free_count_ - visible_count_ + horizon_count_ <= kMaxFaces;
  if (!loop) {
    for (int i = 0; i < visible_count_; ++i) faces_[visible_[i]].alive = true;
  }
  return loop;
}

bool Polytope::insert(const SupportPoint& p, int seen_from) {
  if (vertex_count_ == kMaxVertices || !find_silhouette(seen_from, p.w)) return false;
  const int apex = vertex_count_++;
  vertices_[apex] = p;
  for (int i = 0; i < visible_count_; ++i) {
    distance_[visible_[i]] = HUGE_VAL;
    free_[free_count_++] = visible_[i];
  }
  // New face i: (end, start) of the old face's edge, apex. Its edge 1 meets edge 2 of face i + 1.
  int first = -1, last = -1;
  for (int i = 0; i < horizon_count_; ++i) {
    const int e = horizon_[i], f = free_slot();
    const Face& old = faces_[e / 4];
    set_face(f, old.v[(e % 4 + 1) % 3], old.v[e % 4], apex);
    faces_[f].adj[0] = e;
    faces_[e / 4].adj[e % 4] = 4 * f;
    if (last >= 0) {
      faces_[last].adj[1] = 4 * f + 2;
      faces_[f].adj[2] = 4 * last + 1;
    } else {
      first = f;
    }
    last = f;
  }
  faces_[last].adj[1] = 4 * first + 2;
  faces_[first].adj[2] = 4 * last + 1;
  return true;
}

}  // namespace stiction::detail
