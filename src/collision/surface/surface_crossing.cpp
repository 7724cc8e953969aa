#include "collision/surface/surface_crossing.hpp"

#include "stiction/math/constants.hpp"

#include "collision/manifold/manifold_workspace.hpp"
#include "collision/pairs/pair.hpp"

#include <tuple>

// Triangles cross in segments that join to closed curves. Walked along n_A x n_B, such a curve has
// the part of A that is inside of B on its left, so that part has the vector area
//   N = 1/2 sum (p - o) x (q - o)   over the segments (p, q), with any o,
// whatever it looks like, and the part of B inside of A has -N. -N is also the gradient of the
// volume of the overlap when B moves: the overlap shrinks fastest along N. Among N and the normals
// of the triangles that cross, within 60 degrees of it, the contact takes the one along which the
// overlap is thinnest. That thickness is the exact extent of the overlap, whose corners are the
// ends of the segments and the vertices inside. It is what B must move to be free if the overlap is
// convex, and more than that if the overlap is bent round a part of either.

namespace stiction::detail {
namespace {

constexpr double kShift = 1e-9;       // of the size
constexpr double kShallow = 1e-7;     // of the size: thinner is rounding and the shift
constexpr double kAnswered = 0.5;     // of the depth of the deepest vertex inside
constexpr double kLeastCosine = 0.5;  // between a normal and N
// Surfaces deep in each other, of ten thousand triangles each and rough, may cross in hundreds of
// curves round the same vertices. What a pair may cost: depths of vertices (some 40 microseconds
// each, deep inside), corners of overlaps with all directions that they are measured along.
constexpr int kMostDepths = 700;
constexpr std::int64_t kMostMeasured = 4000000;

// Does the edge p, q go through the triangle?
bool pierce(const Vec3d& p, double hp, const Vec3d& q, double hq, const Vec3d v[3], Vec3d& at) {
  if ((hp < 0.0) == (hq < 0.0)) return false;
  const Vec3d d = q - p;
  double volume[3];
  for (int k = 0; k < 3; ++k) volume[k] = dot(d, cross(v[k] - p, v[k == 2 ? 0 : k + 1] - p));
  const bool left = volume[0] < 0.0;
  if ((volume[1] < 0.0) != left || (volume[2] < 0.0) != left) return false;
  at = p + d * (hp / (hp - hq));
  return true;
}

// Heights of the corners of t over the plane of `over`. False: all on one side.
bool heights(const SurfaceTriangle& over, const Vec3d v[3], double h[3]) {
  for (int k = 0; k < 3; ++k) h[k] = dot(over.n, v[k]) - over.offset;
  return (h[0] < 0.0) != (h[1] < 0.0) || (h[0] < 0.0) != (h[2] < 0.0);
}

SurfaceCrossing crossing(const SurfaceTriangle& t, int k, const SurfaceTriangle& other, bool of_a) {
  const int u = t.vertex[k], w = t.vertex[k == 2 ? 0 : k + 1];
  return {{},
          std::min(u, w),
          std::max(u, w),
          other.id,
          other.patch,
          of_a,
          t.edge[k] == SurfaceEdge::kFlat};
}

auto name_of(const SurfaceCrossing& c) { return std::tie(c.edge_of_a, c.low, c.high, c.triangle); }

// Numbers the closed curves: segments that share an end belong to one. Returns how many.
int number_curves(std::vector<CrossingSegment>& segments, std::vector<int>& order) {
  const int count = static_cast<int>(segments.size());
  const auto end = [&](int e) -> const SurfaceCrossing& { return segments[e / 2].end[e % 2]; };
  order.resize(2 * segments.size());
  for (int e = 0; e < 2 * count; ++e) order[e] = e;
  std::sort(order.begin(), order.end(), [&](int x, int y) {
    return name_of(end(x)) != name_of(end(y)) ? name_of(end(x)) < name_of(end(y)) : x < y;
  });
  for (int s = 0; s < count; ++s) segments[s].curve = s;
  const auto root = [&](int s) {
    while (segments[s].curve != s) s = segments[s].curve = segments[segments[s].curve].curve;
    return s;
  };
  for (int i = 1; i < 2 * count; ++i) {
    if (name_of(end(order[i - 1])) != name_of(end(order[i]))) continue;
    const int x = root(order[i - 1] / 2), y = root(order[i] / 2);
    segments[std::max(x, y)].curve = std::min(x, y);
  }
  for (int s = 0; s < count; ++s) segments[s].curve = root(s);
  std::sort(segments.begin(), segments.end(), [](const auto& x, const auto& y) {
    return std::tie(x.curve, x.a, x.b) < std::tie(y.curve, y.a, y.b);
  });
  int curves = 0, last = -1;
  for (CrossingSegment& s : segments) {
    if (s.curve != last) ++curves;
    last = s.curve;
    s.curve = curves - 1;
  }
  return curves;
}

// How deep a point (frame of s) is inside of a solid; negative: outside.
double depth_in(const Surface& s, const Vec3d& p) {
  if (s.mesh == nullptr) {
    const double below = s.field->height(p.x, p.y) - p.z;
    if (!(below > 0.0)) return -1.0;  // NaN outside of the grid
    return nearest_triangle(s, p, below).distance;
  }
  const NearestTriangle near = nearest_triangle(s, p, kInfinity);
  return near.inside ? near.distance : -1.0;
}

constexpr double kUnknownDepth = -2.0;

// What is left to the curves of a pair.
struct CrossingBudget {
  int depths = kMostDepths;
  std::int64_t measured = kMostMeasured;
};

// One part of the overlap of two solids.
class Overlap {
 public:
  Overlap(const Surface& a,
          const Surface& b,
          const Transform& X_AB,
          double size,
          int first,
          int last,
          std::size_t others,
          ManifoldWorkspace& work,
          CrossingBudget& budget)
      : a_(a),
        b_(b),
        X_AB_(X_AB),
        size_(size),
        first_(first),
        last_(last),
        others_(others),
        w_(work),
        budget_(budget) {}

  void contact() {
    gather();
    if (answered()) return;
    choose_direction();
    if (best_.width > kShallow * size_) append_points();
  }

 private:
  struct Direction {
    Vec3d u{0, 0, 1};
    double low = 0.0, high = 0.0, width = HUGE_VAL;
    enum Face { kOfA, kOfB, kNone } face = kNone;
  };

  void gather();
  void flood(bool of_a);
  double depth_of(const Surface& other, const Vec3d& p, double& known);
  bool answered() const;
  Vec3d vector_area() const;
  void choose_direction();
  void offer(const Vec3d& u, Direction::Face face);
  void append_points();
  void append(const OverlapPoint& p);

  const Surface &a_, &b_;
  const Transform& X_AB_;
  double size_;
  int first_, last_;    // segments
  std::size_t others_;  // points that are not of deep overlaps
  ManifoldWorkspace& w_;
  CrossingBudget& budget_;
  Vec3d origin_{0, 0, 0};
  double deepest_ = 0.0;
  Direction best_;
};

void Overlap::gather() {
  w_.overlap.clear();
  for (int s = first_; s < last_; ++s) {
    const CrossingSegment& segment = w_.segments[s];
    origin_ += (segment.end[0].p + segment.end[1].p) * (0.5 / (last_ - first_));
    for (const SurfaceCrossing& c : segment.end) {
      const std::uint32_t edge = mix(mix(c.edge_of_a ? 7u : 8u, std::uint32_t(c.low)), c.high);
      w_.overlap.push_back({c.p, mix(edge, c.patch), true, true, !c.flat});
    }
  }
  flood(true);
  flood(false);
}

// As far as it may be asked for, outside beyond that; `known` from curve to curve.
double Overlap::depth_of(const Surface& other, const Vec3d& p, double& known) {
  constexpr int kPerVertex = 16;  // corners measured in the time of a vertex of a flood
  budget_.measured -= kPerVertex;
  if (budget_.measured < 0 || known != kUnknownDepth) return known;
  if (budget_.depths == 0) return -1.0;
  --budget_.depths;
  known = depth_in(other, p);
  return known;
}

// The vertices of one surface inside of the other, from the edges that cross it inwards.
void Overlap::flood(bool of_a) {
  const Surface &own = of_a ? a_ : b_, &other = of_a ? b_ : a_;
  const Transform X_AB{X_AB_.R, X_AB_.p + crossing_shift(size_)};
  const Transform X = of_a ? inverse(X_AB) : X_AB;  // own -> other
  std::vector<double>& known = of_a ? w_.depths_of_a : w_.depths_of_b;
  w_.visited.assign(own.vertices(), 0);
  w_.stack.clear();
  const auto offer = [&](int v) {
    if (w_.visited[v] != 0) return;
    w_.visited[v] = 1;
    const Vec3d p = own.vertex(v);
    const double depth = depth_of(other, X * p, known[v]);
    if (!(depth >= 0.0)) return;
    deepest_ = std::fmax(deepest_, depth);
    w_.stack.push_back(v);
    const std::uint32_t id = mix(of_a ? 4u : 5u, std::uint32_t(v));
    w_.overlap.push_back({of_a ? p : X_AB_ * p, id, of_a, !of_a, true});
  };
  for (int s = first_; s < last_; ++s) {
    for (const SurfaceCrossing& c : w_.segments[s].end) {
      if (c.edge_of_a != of_a) continue;
      offer(c.low);
      offer(c.high);
    }
  }
  while (!w_.stack.empty()) {
    const int v = w_.stack.back();
    w_.stack.pop_back();
    own.neighbours(v, offer);
  }
}

// Is there a contact about here that is as deep as the corners are?
bool Overlap::answered() const {
  Aabb box{origin_, origin_};
  for (const OverlapPoint& p : w_.overlap) {
    for (int k = 0; k < 3; ++k) {
      box.lower[k] = std::fmin(box.lower[k], p.p[k]);
      box.upper[k] = std::fmax(box.upper[k], p.p[k]);
    }
  }
  const double least = std::fmax(kAnswered * deepest_, kShallow * size_);
  for (std::size_t i = 0; i < others_; ++i) {
    const SurfacePoint& p = w_.points[i];
    if (p.manifold == kBesideLowest) continue;
    const Vec3d middle = p.on_surface + p.normal * (0.5 * p.gap);
    if (p.gap <= -least && boxes_overlap({middle, middle}, grown(box, -0.5 * p.gap))) return true;
  }
  return false;
}

Vec3d Overlap::vector_area() const {
  Vec3d sum{0, 0, 0};
  double reach = 0.0;
  for (int s = first_; s < last_; ++s) {
    const Vec3d p = w_.segments[s].end[0].p - origin_, q = w_.segments[s].end[1].p - origin_;
    sum += cross(p, q) * 0.5;
    reach = std::fmax(reach, squared_norm(p));
  }
  const double length = norm(sum);
  return length > 1e-9 * reach ? sum * (1.0 / length) : Vec3d{0, 0, 0};
}

void Overlap::offer(const Vec3d& u, Direction::Face face) {
  if (budget_.measured < 0 && best_.width < HUGE_VAL) return;
  budget_.measured -= static_cast<std::int64_t>(w_.overlap.size());
  Direction d{u, HUGE_VAL, -HUGE_VAL, HUGE_VAL, face};
  for (const OverlapPoint& p : w_.overlap) {
    d.low = std::fmin(d.low, dot(u, p.p));
    d.high = std::fmax(d.high, dot(u, p.p));
  }
  d.width = d.high - d.low;
  if (d.width < best_.width - kFacePreference * size_) best_ = d;
}

void Overlap::choose_direction() {
  const Vec3d area = vector_area();
  for (int s = first_; s < last_; ++s) {
    const CrossingSegment& g = w_.segments[s];
    const bool new_a = s == first_ || g.a != w_.segments[s - 1].a;
    if (new_a && dot(g.n_a, area) >= kLeastCosine) offer(g.n_a, Direction::kOfA);
    if (-dot(g.n_b, area) >= kLeastCosine) offer(-g.n_b, Direction::kOfB);
  }
  if (squared_norm(area) > 0.0) offer(area, Direction::kNone);
  if (best_.width == HUGE_VAL) best_.width = 0.0;
}

// On the plane of the face whose normal was chosen stand the corners of the other surface; without
// one, the middle of the curve stands for the whole.
void Overlap::append_points() {
  const std::size_t before = w_.points.size();
  if (best_.face != Direction::kNone) {
    for (const OverlapPoint& p : w_.overlap) append(p);
  }
  if (w_.points.size() > before) return;
  const Vec3d on_a = origin_ + best_.u * (best_.high - dot(best_.u, origin_));
  w_.points.push_back({best_.u, on_a, -best_.width, mix(9u, w_.overlap[0].feature), 0});
}

void Overlap::append(const OverlapPoint& p) {
  const bool on_plane_of_a = best_.face == Direction::kOfA;
  if (!p.sharp || !(on_plane_of_a ? p.of_b : p.of_a)) return;
  const double height = dot(best_.u, p.p);
  const double gap = on_plane_of_a ? height - best_.high : best_.low - height;
  const Vec3d on_a = on_plane_of_a ? p.p - best_.u * gap : p.p;
  if (gap < -kShallow * size_) w_.points.push_back({best_.u, on_a, gap, p.feature, 0});
}

}  // namespace

// Not along any axis, diagonal or other plane that shapes are likely to have in common.
Vec3d crossing_shift(double size) { return Vec3d{0.3129, 0.5717, 0.7585} * (kShift * size); }

void cross_triangles(const SurfaceTriangle& ta,
                     const SurfaceTriangle& tb,
                     const Vec3d& shift,
                     std::vector<CrossingSegment>& segments) {
  const Vec3d b[3] = {tb.v[0] + shift, tb.v[1] + shift, tb.v[2] + shift};
  const Vec3d a[3] = {ta.v[0] - shift, ta.v[1] - shift, ta.v[2] - shift};
  double ha[3], hb[3];
  if (!heights(ta, b, hb) || !heights(tb, a, ha)) return;
  SurfaceCrossing ends[2];
  int found = 0;
  const auto offer = [&](const SurfaceTriangle& t, int k, const Vec3d& p, bool of_a) {
    if (found < 2) {
      ends[found] = crossing(t, k, of_a ? tb : ta, of_a);
      ends[found].p = p;
    }
    ++found;
  };
  for (int k = 0; k < 3; ++k) {
    const int m = k == 2 ? 0 : k + 1;
    Vec3d p;
    if (pierce(ta.v[k], ha[k], ta.v[m], ha[m], b, p)) offer(ta, k, p, true);
    if (pierce(b[k], hb[k], b[m], hb[m], ta.v, p)) offer(tb, k, p, false);
  }
  if (found != 2) return;  // rounding: an end that two edges claim
  if (dot(cross(ta.n, tb.n), ends[1].p - ends[0].p) < 0.0) std::swap(ends[0], ends[1]);
  segments.push_back({{ends[0], ends[1]}, ta.n, tb.n, ta.id, tb.id, 0});
}

void contacts_of_crossings(const Surface& a,
                           const Surface& b,
                           const Transform& X_AB,
                           double size,
                           ManifoldWorkspace& work) {
  const int curves = number_curves(work.segments, work.stack);
  const int count = static_cast<int>(work.segments.size());
  const std::size_t others = work.points.size();
  CrossingBudget budget;
  work.depths_of_a.assign(curves > 0 ? a.vertices() : 0, kUnknownDepth);
  work.depths_of_b.assign(curves > 0 ? b.vertices() : 0, kUnknownDepth);
  for (int curve = 0, first = 0; curve < curves; ++curve) {
    int last = first;
    while (last < count && work.segments[last].curve == curve) ++last;
    Overlap(a, b, X_AB, size, first, last, others, work, budget).contact();
    first = last;
  }
}

}  // namespace stiction::detail
