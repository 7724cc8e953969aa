#include "epa.hpp"

#include <algorithm>

// Expanding polytope (van den Bergen 2001). A triangulated polytope inside D with the origin in it
// grows at its closest face until the support plane of that face is the face itself.
// `distance` of a face is signed, so an origin that rounding puts outside by 1e-15 needs no care.

namespace stiction::detail {
namespace {

constexpr double kSees = 1e-13;       // of the size: height above a face from which it is replaced
constexpr double kTolerance = 1e-13;  // of the size: support plane and face coincide
constexpr double kCap = 1e-10;        // of the size: settings.tolerance is not taken above it
constexpr double kFlat = 1e-12;       // of the size: too little to span the first tetrahedron
constexpr double kCoplanar = 1e-12;   // of the size: faces as close as the closest one
constexpr double kSliver = 1e-26;     // squared sine below which a face has no reliable normal

struct Face {
  Vec3d normal;  // unit, outward
  int v[3];
  int adj[3];  // face across the edge v[k] -> v[(k + 1) % 3]
  bool alive;
  bool visible;
};

class Polytope {
 public:
  explicit Polytope(double size) : size_(size) {
    for (int i = 0; i < kEpaMaxVertices; ++i) fan_[i] = -1;
  }

  bool start(SupportDifference& D, const Simplex& simplex);
  bool insert(const SupportPoint& p, int seen_from);

  int closest() const {
    int best = -1;
    for (int f = 0; f < face_count_; ++f) {
      if (faces_[f].alive && (best < 0 || distance_[f] < distance_[best])) best = f;
    }
    return best;
  }
  int face_count() const { return face_count_; }
  bool holds(const SupportPoint& w) const {
    for (int i = 0; i < vertex_count_; ++i) {
      if (vertices_[i].same_as(w)) return true;
    }
    return false;
  }
  void disable(int f) { distance_[f] = HUGE_VAL; }  // neither the closest nor visible any more
  bool coplanar(int f, int g) const {
    return faces_[f].alive && distance_[f] <= distance_[g] + kCoplanar * size_ &&
           dot(faces_[f].normal, faces_[g].normal) > 0.5;
  }
  const Vec3d& normal(int f) const { return faces_[f].normal; }
  double distance(int f) const { return distance_[f]; }
  const SupportPoint& corner(int f, int k) const { return vertices_[faces_[f].v[k]]; }

 private:
  bool add_face(int a, int b, int c);
  int free_slot();
  double height(int f, const Vec3d& w) const { return dot(faces_[f].normal, w) - distance_[f]; }
  bool grow_to_tetrahedron(SupportDifference& D);
  bool collect_visible(int f, const Vec3d& w);

  double size_;
  int vertex_count_ = 0, face_count_ = 0, last_ = -1;
  SupportPoint vertices_[kEpaMaxVertices];
  Face faces_[kEpaMaxFaces];
  double distance_[kEpaMaxFaces];
  int fan_[kEpaMaxVertices];  // new face that starts at a vertex of the horizon
  int visible_[kEpaMaxFaces], visible_count_ = 0;
  struct Edge {
    int face, k;
  } horizon_[kEpaMaxFaces];
  int horizon_count_ = 0;
  int free_[kEpaMaxFaces], free_count_ = 0;
};

int Polytope::free_slot() {
  if (free_count_ > 0) return free_[--free_count_];
  return face_count_ < kEpaMaxFaces ? face_count_++ : -1;
}

bool Polytope::add_face(int a, int b, int c) {
  last_ = free_slot();
  if (last_ < 0) return false;
  const Vec3d& origin = vertices_[a].w;
  const Vec3d ab = vertices_[b].w - origin, ac = vertices_[c].w - origin, n = cross(ab, ac);
  const double nn = squared_norm(n);
  Face& f = faces_[last_];
  f = {{0, 0, 0}, {a, b, c}, {-1, -1, -1}, true, false};
  if (!(nn > kSliver * squared_norm(ab) * squared_norm(ac))) {
    distance_[last_] = HUGE_VAL;  // no area: neither the closest nor visible from anywhere
    return true;
  }
  f.normal = n * (1.0 / std::sqrt(nn));
  distance_[last_] = dot(f.normal, origin);
  return true;
}

// Points in directions that leave the point, the line, the plane of what is there. The origin stays
// inside or on the border, because the simplex that held it is part of the tetrahedron.
bool Polytope::grow_to_tetrahedron(SupportDifference& D) {
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

bool Polytope::start(SupportDifference& D, const Simplex& simplex) {
  vertex_count_ = simplex.count;
  std::copy(simplex.points, simplex.points + simplex.count, vertices_);
  if (vertex_count_ < 4 && !grow_to_tetrahedron(D)) return false;
  const Vec3d& o = vertices_[0].w;
  const Vec3d n = cross(vertices_[1].w - o, vertices_[2].w - o);
  if (dot(n, vertices_[3].w - o) > 0.0) std::swap(vertices_[1], vertices_[2]);
  // Outward faces if vertex 3 lies below (0, 1, 2).
  const int corners[4][3] = {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}};
  const int adjacency[4][3] = {{1, 2, 3}, {3, 2, 0}, {1, 3, 0}, {2, 1, 0}};
  for (int f = 0; f < 4; ++f) {
    add_face(corners[f][0], corners[f][1], corners[f][2]);
    std::copy(adjacency[f], adjacency[f] + 3, faces_[f].adj);
  }
  return true;
}

bool Polytope::collect_visible(int f, const Vec3d& w) {
  visible_count_ = horizon_count_ = 0;
  visible_[visible_count_++] = f;
  faces_[f].visible = true;
  for (int i = 0; i < visible_count_; ++i) {
    const Face& face = faces_[visible_[i]];
    for (int k = 0; k < 3; ++k) {
      Face& neighbour = faces_[face.adj[k]];
      if (neighbour.visible) continue;
      if (height(face.adj[k], w) > kSees * size_) {
        neighbour.visible = true;
        visible_[visible_count_++] = face.adj[k];
      } else if (horizon_count_ < kEpaMaxFaces) {
        horizon_[horizon_count_++] = {visible_[i], k};
      }
    }
  }
  for (int i = 0; i < visible_count_; ++i) faces_[visible_[i]].visible = false;
  // One simple loop: every vertex starts one edge (rounding may break this: give up).
  bool simple = true;
  for (int i = 0; i < horizon_count_; ++i) {
    int& mark = fan_[faces_[horizon_[i].face].v[horizon_[i].k]];
    simple = simple && mark == -1;
    mark = -2;
  }
  for (int i = 0; i < horizon_count_; ++i) {
    const Face& face = faces_[horizon_[i].face];
    simple = simple && fan_[face.v[(horizon_[i].k + 1) % 3]] == -2;
  }
  for (int i = 0; i < horizon_count_; ++i) fan_[faces_[horizon_[i].face].v[horizon_[i].k]] = -1;
  return simple;
}

// Replaces the faces that see the point by a fan from the border of their union. False: the point
// cannot be added (caps, or a broken horizon); the polytope is unchanged then.
bool Polytope::insert(const SupportPoint& p, int seen_from) {
  if (vertex_count_ == kEpaMaxVertices || !collect_visible(seen_from, p.w)) return false;
  if (horizon_count_ > free_count_ + kEpaMaxFaces - face_count_) return false;
  const int apex = vertex_count_++;
  vertices_[apex] = p;
  int added[kEpaMaxFaces];
  for (int i = 0; i < horizon_count_; ++i) {
    const Face old = faces_[horizon_[i].face];
    const int k = horizon_[i].k, a = old.v[k], b = old.v[(k + 1) % 3], outer = old.adj[k];
    add_face(a, b, apex);
    added[i] = last_;
    faces_[last_].adj[0] = outer;
    for (int j = 0; j < 3; ++j) {
      if (faces_[outer].v[j] == b && faces_[outer].v[(j + 1) % 3] == a)
        faces_[outer].adj[j] = last_;
    }
    fan_[a] = last_;
  }
  for (int i = 0; i < horizon_count_; ++i) {
    const int next = fan_[faces_[added[i]].v[1]];
    faces_[added[i]].adj[1] = next;
    faces_[next].adj[2] = added[i];
  }
  for (int i = 0; i < horizon_count_; ++i) fan_[faces_[added[i]].v[0]] = -1;
  for (int i = 0; i < visible_count_; ++i) {
    faces_[visible_[i]].alive = false;
    free_[free_count_++] = visible_[i];
  }
  return true;
}

// Weights of the foot of the origin in a triangle, and the least of them: negative if outside.
double foot_weights(const Polytope& polytope, int f, double weight[3]) {
  const Vec3d n = polytope.normal(f), foot = n * polytope.distance(f);
  const Vec3d a = polytope.corner(f, 0).w - foot, b = polytope.corner(f, 1).w - foot,
              c = polytope.corner(f, 2).w - foot;
  weight[0] = dot(n, cross(b, c));
  weight[1] = dot(n, cross(c, a));
  weight[2] = dot(n, cross(a, b));
  const double sum = weight[0] + weight[1] + weight[2];
  for (int k = 0; k < 3; ++k) weight[k] /= sum;
  return std::min({weight[0], weight[1], weight[2]});
}

// The ball about the origin up to the closest face lies in the polytope, so the foot is in it, but
// maybe in another triangle of the same plane: take the one that holds it best.
void set_witness(const Polytope& polytope, int closest, EpaResult& r) {
  double weight[3], other[3];
  double least = foot_weights(polytope, closest, weight);
  int face = closest;
  for (int f = 0; f < polytope.face_count() && least < 0.0; ++f) {
    if (!polytope.coplanar(f, closest)) continue;
    const double l = foot_weights(polytope, f, other);
    if (!(l > least)) continue;
    least = l;
    face = f;
    std::copy(other, other + 3, weight);
  }
  double sum = 0.0;
  for (double& x : weight) {
    x = std::max(x, 0.0);
    sum += x;
  }
  r.witness_a = r.witness_b = {0, 0, 0};
  for (int k = 0; k < 3; ++k) {
    r.face[k] = polytope.corner(face, k);
    r.witness_a += r.face[k].a * (weight[k] / sum);
    r.witness_b += r.face[k].b * (weight[k] / sum);
  }
}

}  // namespace

EpaResult epa(SupportDifference& D, const Simplex& start, const DistanceSettings& settings) {
  EpaResult r;
  r.depth = HUGE_VAL;
  Polytope polytope(D.size);
  if (!polytope.start(D, start)) {  // D is flat: no translation is needed across it
    r.depth = 0.0;
    r.witness_a = start.points[0].a;
    r.witness_b = start.points[0].b;
    for (SupportPoint& p : r.face) p = start.points[0];
    return r;
  }
  // Rounding may stop the growth early (slivers of nearly parallel edges): good enough if closed to
  // what the caller asks for.
  const double tolerance =
      std::max(kTolerance * D.size, std::min(settings.tolerance, kCap * D.size));
  for (; r.iterations < settings.max_iterations; ++r.iterations) {
    const int f = polytope.closest();
    if (polytope.distance(f) == HUGE_VAL) return r;  // nothing but slivers is left
    const SupportPoint w = D(polytope.normal(f));
    const double h = dot(polytope.normal(f), w.w);
    const bool converged = h - polytope.distance(f) <= kTolerance * D.size;
    if (h < r.depth + (converged ? kTolerance * D.size : 0.0)) {
      r.depth = h;
      r.normal = polytope.normal(f);
      set_witness(polytope, f, r);
    }
    r.converged = r.depth - polytope.distance(f) <= tolerance;
    if (converged) return r;
    // A known vertex above the plane: a sliver whose normal is noise. Its neighbours cover it.
    if (polytope.holds(w)) {
      polytope.disable(f);
    } else if (!polytope.insert(w, f)) {
      return r;
    }
  }
  return r;
}

}  // namespace stiction::detail
