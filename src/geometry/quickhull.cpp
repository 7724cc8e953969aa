#include "geometry/quickhull.hpp"

#include <algorithm>
#include <utility>

// Quickhull (Barber, Dobkin, Huhdanpaa 1996) in exact arithmetic. Each point above the current
// surface waits in the list of one face that sees it; the farthest point of a list is added next.
// A face sees p if p is *strictly* above its plane. The strictly visible set equals the set seen
// from p moved slightly inwards, so its border is one simple loop, and p is never collinear with an
// edge of that loop (it would then lie in the plane of the visible face): no zero-area triangle.

namespace stiction::hull {
namespace {

__extension__ typedef __int128 Wide;

struct WideVector {
  Wide x, y, z;
};

WideVector difference(const GridPoint& a, const GridPoint& b) {
  return {Wide(a.x - b.x), Wide(a.y - b.y), Wide(a.z - b.z)};
}
WideVector cross(const WideVector& a, const WideVector& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
Wide dot(const WideVector& a, const WideVector& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
Wide magnitude(Wide a) { return a < 0 ? -a : a; }

struct Face {
  Triangle t;
  WideVector normal;
  int first = -1;     ///< list of waiting points, linked by Builder::next_
  int farthest = -1;  ///< of that list
  Wide farthest_height = 0;
  bool alive = true;
  bool visible = false;  ///< scratch of one insertion
};

class Builder {
 public:
  explicit Builder(const std::vector<GridPoint>& points)
      : points_(points), next_(points.size(), -1), fan_(points.size(), -1) {}

  std::vector<Triangle> build() {
    int corner[4];
    if (!find_simplex(corner)) return {};
    start(corner);
    while (!pending_.empty()) {
      const int f = pending_.back();
      pending_.pop_back();
      if (faces_[f].alive && faces_[f].first >= 0) insert(f);
    }
    return compact();
  }

 private:
  bool find_simplex(int corner[4]) const;
  void start(int corner[4]);
  void insert(int f);
  void collect_visible(int f, const GridPoint& p);
  void make_fan(int p);
  int add_face(int a, int b, int c);
  void assign(int point, int from_face);
  std::vector<Triangle> compact() const;

  Wide height(const Face& f, const GridPoint& p) const {
    return dot(f.normal, difference(p, points_[f.t.v[0]]));
  }

  const std::vector<GridPoint>& points_;
  std::vector<int> next_;
  std::vector<int> fan_;  ///< new face that starts at a vertex of the horizon
  std::vector<Face> faces_;
  std::vector<int> pending_, visible_;
  std::vector<std::pair<int, int>> horizon_;  ///< (visible face, edge)
};

// Two lexicographic extremes, then the farthest from their line and from the plane of the three.
// Squared areas would need 164 bits, so the third corner is chosen by the largest component.
bool Builder::find_simplex(int corner[4]) const {
  const auto [low, high] = std::minmax_element(points_.begin(), points_.end());
  corner[0] = int(low - points_.begin());
  corner[1] = int(high - points_.begin());
  if (corner[0] == corner[1]) return false;
  const WideVector axis = difference(*high, *low);
  Wide best = 0;
  WideVector normal{0, 0, 0};
  for (int i = 0; i < int(points_.size()); ++i) {
    const WideVector n = cross(axis, difference(points_[i], *low));
    const Wide size = std::max({magnitude(n.x), magnitude(n.y), magnitude(n.z)});
    if (size > best) {
      best = size;
      normal = n;
      corner[2] = i;
    }
  }
  if (best == 0) return false;
  best = 0;
  bool above = false;
  for (int i = 0; i < int(points_.size()); ++i) {
    const Wide h = dot(normal, difference(points_[i], *low));
    if (magnitude(h) > best) {
      best = magnitude(h);
      above = h > 0;
      corner[3] = i;
    }
  }
  if (best == 0) return false;
  if (above) std::swap(corner[1], corner[2]);  // the fourth corner must lie below (0, 1, 2)
  return true;
}

int Builder::add_face(int a, int b, int c) {
  Face f;
  f.t = {{a, b, c}, {-1, -1, -1}};
  f.normal = cross(difference(points_[b], points_[a]), difference(points_[c], points_[a]));
  faces_.push_back(f);
  return int(faces_.size()) - 1;
}

void Builder::start(int corner[4]) {
  add_face(corner[0], corner[1], corner[2]);
  add_face(corner[0], corner[3], corner[1]);
  add_face(corner[1], corner[3], corner[2]);
  add_face(corner[2], corner[3], corner[0]);
  const int adjacency[4][3] = {{1, 2, 3}, {3, 2, 0}, {1, 3, 0}, {2, 1, 0}};
  for (int f = 0; f < 4; ++f) {
    for (int k = 0; k < 3; ++k) faces_[f].t.adj[k] = adjacency[f][k];
  }
  for (int i = 0; i < int(points_.size()); ++i) {
    if (std::find(corner, corner + 4, i) == corner + 4) assign(i, 0);
  }
  for (int f = 0; f < 4; ++f) pending_.push_back(f);
}

// Gives the point to the first face at or after `from_face` that sees it; a point that no face sees
// is inside for good.
void Builder::assign(int point, int from_face) {
  for (int f = from_face; f < int(faces_.size()); ++f) {
    Face& face = faces_[f];
    const Wide h = height(face, points_[point]);
    if (h <= 0) continue;
    next_[point] = face.first;
    face.first = point;
    if (h > face.farthest_height) {
      face.farthest_height = h;
      face.farthest = point;
    }
    return;
  }
}

void Builder::collect_visible(int f, const GridPoint& p) {
  visible_.assign(1, f);
  horizon_.clear();
  faces_[f].visible = true;
  for (std::size_t i = 0; i < visible_.size(); ++i) {
    const Triangle t = faces_[visible_[i]].t;
    for (int k = 0; k < 3; ++k) {
      Face& neighbour = faces_[t.adj[k]];
      if (neighbour.visible) continue;
      if (height(neighbour, p) > 0) {
        neighbour.visible = true;
        visible_.push_back(t.adj[k]);
      } else {
        horizon_.emplace_back(visible_[i], k);
      }
    }
  }
}

void Builder::make_fan(int p) {
  for (const auto& [f, k] : horizon_) {
    const Triangle t = faces_[f].t;
    const int a = t.v[k], b = t.v[(k + 1) % 3], outer = t.adj[k];
    const int g = add_face(a, b, p);
    faces_[g].t.adj[0] = outer;
    Triangle& o = faces_[outer].t;
    for (int j = 0; j < 3; ++j) {
      if (o.v[j] == b && o.v[(j + 1) % 3] == a) o.adj[j] = g;
    }
    fan_[a] = g;
  }
  for (const auto& [f, k] : horizon_) {
    const int a = faces_[f].t.v[k], b = faces_[f].t.v[(k + 1) % 3];
    faces_[fan_[a]].t.adj[1] = fan_[b];
    faces_[fan_[b]].t.adj[2] = fan_[a];
  }
}

void Builder::insert(int f) {
  const int p = faces_[f].farthest;
  collect_visible(f, points_[p]);
  const int first_new = int(faces_.size());
  make_fan(p);
  for (const int v : visible_) {
    faces_[v].alive = false;
    int q = faces_[v].first;
    while (q >= 0) {
      const int following = next_[q];
      if (q != p) assign(q, first_new);
      q = following;
    }
  }
  for (int g = first_new; g < int(faces_.size()); ++g) pending_.push_back(g);
}

std::vector<Triangle> Builder::compact() const {
  std::vector<int> number(faces_.size(), -1);
  int count = 0;
  for (std::size_t f = 0; f < faces_.size(); ++f) {
    if (faces_[f].alive) number[f] = count++;
  }
  std::vector<Triangle> result;
  result.reserve(count);
  for (const Face& f : faces_) {
    if (!f.alive) continue;
    Triangle t = f.t;
    for (int& a : t.adj) a = number[a];
    result.push_back(t);
  }
  return result;
}

}  // namespace

std::vector<Triangle> quickhull(const std::vector<GridPoint>& points) {
  return Builder(points).build();
}

}  // namespace stiction::hull
