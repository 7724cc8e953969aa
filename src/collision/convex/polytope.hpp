#pragma once

#include "collision/convex/simplex.hpp"

namespace stiction::detail {

/// A closed triangulated surface of points of D round the origin, for EPA. `distance` of a face is
/// signed, so an origin that rounding puts outside by 1e-15 needs no care. Faces that must not be
/// the closest (dead ones, slivers without a normal) have an infinite distance: they are visible
/// from nowhere.
class Polytope {
 public:
  static constexpr int kMaxVertices = 132;                // 4 + 128 iterations
  static constexpr int kMaxFaces = 2 * kMaxVertices - 4;  // Euler

  explicit Polytope(double size) : size_(size) {}

  /// From 1 to 4 points that hold the origin, completed by support points. False: D is flat.
  bool start(const SupportDifference& D, const Simplex& simplex);
  /// From what another query of the pair left. False: it does not hold the origin any more.
  bool load(const SupportDifference& D, const PolytopeCache& cache);
  /// False: too large, or its points have no numbers.
  bool save(PolytopeCache& cache) const;

  /// Replaces the faces that see the point by a fan from the border of their union. False: the
  /// point cannot be added (full, or a broken horizon); the polytope is unchanged then.
  bool insert(const SupportPoint& p, int seen_from);
  void disable(int f) { distance_[f] = HUGE_VAL; }

  int closest() const {
    int best = 0;
    double least = distance_[0];
    for (int f = 1; f < face_count_; ++f) {
      if (distance_[f] < least) {
        least = distance_[f];
        best = f;
      }
    }
    return best;
  }
  int face_count() const { return face_count_; }
  int vertex_count() const { return vertex_count_; }
  bool holds(const SupportPoint& w) const {
    for (int i = 0; i < vertex_count_; ++i) {
      if (vertices_[i].same_as(w)) return true;
    }
    return false;
  }
  const Vec3d& normal(int f) const { return faces_[f].normal; }
  double distance(int f) const { return distance_[f]; }
  const SupportPoint& corner(int f, int k) const { return vertices_[faces_[f].v[k]]; }

 private:
  struct Face {
    Vec3d normal;  // unit, outward
    int v[3];      // counter-clockwise seen from outside
    int adj[3];    // across the edge v[k] -> v[(k + 1) % 3]: 4 * face + its edge
    bool alive;
  };

  bool grow_to_tetrahedron(const SupportDifference& D);
  void set_face(int f, int a, int b, int c);
  bool link_faces();
  bool find_silhouette(int seen_from, const Vec3d& w);
  void cross_edge(int edge, const Vec3d& w);
  int free_slot() { return free_count_ > 0 ? free_[--free_count_] : face_count_++; }

  double size_;
  int vertex_count_ = 0, face_count_ = 0, free_count_ = 0;
  int visible_count_ = 0, horizon_count_ = 0;
  double distance_[kMaxFaces];
  Face faces_[kMaxFaces];
  SupportPoint vertices_[kMaxVertices];
  int free_[kMaxFaces], visible_[kMaxFaces], horizon_[kMaxFaces];
};

}  // namespace stiction::detail
