#include "collision/convex/gjk.hpp"

#include "collision/convex/search_direction.hpp"

#include <algorithm>

// Gilbert-Johnson-Keerthi 1988 as fully corrective Frank-Wolfe (GJK++ Alg. 4, 6), and plain
// Frank-Wolfe with line search (Alg. 1, 5): one loop, two ways to keep what was seen. On polytopes
// the simplex version ends at the exact feature after finitely many steps. The default stop, on
// (upper - lower) bound, is a true error of the distance; it is capped relative to the size, since
// 1e-10 m would be coarse at 1 mm.

namespace stiction::detail {
namespace {

constexpr double kFloor = 1e-14;        // of the size: rounding of the bounds
constexpr double kSmoothFloor = 1e-13;  // the same for points that are rounded themselves
constexpr double kCap = 1e-10;          // of the size
constexpr double kNormal = 1e-12;       // of the distance: the normal is then good to 1e-6 rad
constexpr double kSamePoint = 1e-11;    // of the size
constexpr double kStalled = 1e-8;       // of the size: below it a stalled search is left to EPA

// Momentum saves iterations where polytopes nearly touch and costs some where they are far apart
// or overlap deeply. kAuto takes it if the search starts nearer than kNear of the size, until
// the signed lower bound falls below -kDeep of the upper one: the origin seems to be inside.
constexpr double kNear = 0.9;
constexpr double kDeep = 0.4;

DistanceMethod momentum_of(const DistanceSettings& settings,
                           const SupportDifference& D,
                           const Vec3d& x0,
                           bool warm) {
  const bool near = squared_norm(x0) < kNear * kNear * D.size * D.size;
  const bool pays = settings.method == DistanceMethod::kAuto && near && !warm && !D.smooth();
  return pays ? DistanceMethod::kNesterovNormalizedReference : settings.method;
}

// Points of smooth shapes have no numbers; those closer than `same` [m] span nothing.
bool holds(const Simplex& simplex, const SupportPoint& s, double same) {
  for (int i = 0; i < simplex.count; ++i) {
    const SupportPoint& p = simplex.points[i];
    if (s.numbered() ? p.same_as(s) : squared_norm(p.w - s.w) <= same * same) return true;
  }
  return false;
}

class Search {
 public:
  Search(const SupportDifference& D,
         const Vec3d& x0,
         bool warm,
         const DistanceSettings& settings,
         double stop_above,
         double rough,
         GjkResult& result)
      : D_(D),
        settings_(settings),
        stop_above_(stop_above),
        rough_(rough),
        direction_(momentum_of(settings, D, x0, warm), x0),
        frank_wolfe_(is_frank_wolfe(settings.method)),
        floor_((D.smooth() ? kSmoothFloor : kFloor) * D.size),
        r_(result) {}

  void run(const Vec3d& x0, const Simplex* warm);

 private:
  using End = GjkResult::End;

  bool start(const Vec3d& x0, const Simplex* warm);
  bool iterate(int k);
  bool support(const Vec3d& d, double length);
  bool closed(double upper, double gap) const;
  bool nothing_new(double upper, double gap) const;
  bool add();
  bool end_without_progress(double upper);
  bool end(End why) {
    r_.end = why;
    return false;
  }

  const SupportDifference& D_;
  const DistanceSettings& settings_;
  double stop_above_;
  double rough_;  // [m]
  double signed_lower_ = -HUGE_VAL;
  SearchDirection direction_;
  bool frank_wolfe_;
  double floor_;          // [m]
  bool precise_ = false;  // double has stalled: simplices are solved in long double
  SupportPoint s_;        // the last one
  GjkResult& r_;
};

// The functions below return false when the search is over; r_.end tells why.

void Search::run(const Vec3d& x0, const Simplex* warm) {
  if (!start(x0, warm)) return;
  for (int k = r_.iterations; r_.iterations < settings_.max_iterations; ++k) {
    if (!iterate(k)) break;
  }
}

bool Search::start(const Vec3d& x0, const Simplex* warm) {
  Simplex& simplex = r_.simplex;
  if (warm != nullptr) {
    simplex = *warm;
    if (!simplex.reduce()) return end(End::kOverlap);
    s_ = simplex.points[0];
    return true;
  }
  if (!support(x0, norm(x0))) return false;  // W = {}: the first support point is x_1
  simplex.points[0] = s_;
  simplex.weights[0] = 1.0;
  simplex.count = 1;
  simplex.closest = s_.w;
  return true;
}

bool Search::iterate(int k) {
  const Vec3d x = r_.simplex.closest;
  const double upper = norm(x);
  if (2 * r_.iterations > settings_.max_iterations && !frank_wolfe_) direction_.drop_momentum();
  if (settings_.method == DistanceMethod::kAuto && signed_lower_ < -kDeep * upper) {
    direction_.drop_momentum();
  }
  if (upper <= kTouching * D_.size) return end(End::kOverlap);
  if (direction_.accelerated()) {
    const Vec3d d = direction_.next(k, x, s_.w);
    if (!support(d, norm(d))) return false;
  } else if (!support(x, upper)) {
    return false;
  }
  double gap = upper * upper - dot(x, s_.w);
  if (direction_.accelerated() && nothing_new(upper, gap)) {
    direction_.drop_momentum();
    if (!support(x, upper)) return false;
    gap = upper * upper - dot(x, s_.w);
  }
  if (rough_ > 0.0 && upper - signed_lower_ <= rough_) {
    r_.lower = signed_lower_;
    return end(End::kRough);
  }
  if (!direction_.accelerated()) {
    if (closed(upper, gap)) return end(r_.lower > 0.0 ? End::kSeparated : End::kOverlap);
    if (holds(r_.simplex, s_, kSamePoint * D_.size)) {
      if (precise_) return end_without_progress(upper);
      precise_ = true;
      return r_.simplex.reduce<long double>() || end(End::kOverlap);
    }
  }
  return add();
}

// s along -d. The plane through it normal to d bounds the distance from below.
bool Search::support(const Vec3d& d, double length) {
  s_ = D_(-d);
  ++r_.iterations;
  const double bound = dot(d, s_.w) / length;
  if (bound > signed_lower_) {
    signed_lower_ = bound;
    r_.lower = std::max(bound, 0.0);
    r_.plane = d;
  }
  if (!(bound > stop_above_)) return true;
  r_.simplex.points[0] = s_;
  r_.simplex.count = 1;
  return end(End::kBelowBound);
}

// gap = <x, x - s> with s the support point along -x, so that upper - lower = gap / |x|.
bool Search::closed(double upper, double gap) const {
  if (settings_.stopping == StoppingRule::kPaperGap) return 2.0 * gap <= settings_.tolerance;
  if (!(r_.lower > 0.0)) return false;
  return upper - r_.lower <=
         std::max(floor_, std::min({settings_.tolerance, kCap * D_.size, kNormal * upper}));
}

// GJK++ eq. 31: s of a momentum direction adds nothing to what is held.
bool Search::nothing_new(double upper, double gap) const {
  if (settings_.stopping == StoppingRule::kPaperGap) return 2.0 * gap <= settings_.tolerance;
  return gap <= kNormal * upper * upper || holds(r_.simplex, s_, kSamePoint * D_.size);
}

bool Search::add() {
  Simplex& simplex = r_.simplex;
  simplex.points[simplex.count] = s_;
  Simplex::Step step = precise_ ? simplex.add_newest<long double>() : simplex.add_newest();
  if (step == Simplex::Step::kStuck && direction_.accelerated()) {
    direction_.drop_momentum();
    return true;
  }
  if (step == Simplex::Step::kStuck && !precise_) {
    precise_ = true;
    step = simplex.add_newest<long double>();
  }
  if (step == Simplex::Step::kInside) return end(End::kOverlap);
  if (step == Simplex::Step::kStuck) return end_without_progress(norm(simplex.closest));
  if (frank_wolfe_ && simplex.count == 2) {  // Alg. 3, line 6: W = {x}
    simplex.points[0] = {simplex.closest, simplex.witness_a(), kSmooth, kSmooth};
    simplex.weights[0] = 1.0;
    simplex.count = 1;
  }
  return true;
}

// No better point exists in double precision. A positive lower bound proves separation. Without
// one the distance is below rounding / 1e-8: |v| is right to rounding, but the noise of its
// direction hides the sign, which the faces of D tell.
bool Search::end_without_progress(double upper) {
  if (r_.lower > 0.0 && upper - r_.lower <= 1e-9 * upper + floor_) {
    return end(End::kSeparated);
  }
  if (upper > kStalled * D_.size) return false;  // kMaxIterations: best bounds
  r_.stalled = true;
  return end(End::kOverlap);
}

}  // namespace

GjkResult gjk(const SupportDifference& D,
              const Vec3d& x0,
              const Simplex* warm,
              const DistanceSettings& settings,
              double stop_above,
              double rough) {
  GjkResult result;
  Search(D, x0, warm != nullptr, settings, stop_above, rough, result).run(x0, warm);
  return result;
}

}  // namespace stiction::detail
