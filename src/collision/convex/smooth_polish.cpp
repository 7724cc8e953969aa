#include "collision/convex/smooth_polish.hpp"

#include "collision/convex/core_feature.hpp"

#include <algorithm>

// The signed distance is the largest width of the gap, n . (p_B - p_A) with the support points
// p_A(n) and p_B(-n), over the unit normals n (of all local maxima for overlapping cores). On a
// pair of features, with e the flat directions of both and phi = n . (p_B - p_A),
//   e . n = 0,    p_B - p_A + sum s e = phi n,    dp_A = H_A dn,    dp_B = -H_B dn
// with H the second derivatives of the support functions. T spans what is orthogonal to n and all
// e: T^T (H_A + H_B + phi) T y = T^T (p_B - p_A), n <- n + T y converges quadratically and is
// regular at phi = 0. What comes out is checked by support points and extents of the features,
// so the choice of features needs no proof.

namespace stiction::detail {
namespace {

constexpr int kSteps = 16;
constexpr double kParallel = 1e-8;   // sine below which two flat directions are one
constexpr double kSmallStep = 1e-9;  // [rad] the error of such a step is its square
constexpr double kLongStep = 0.5;    // [rad] a longer one is cut to it
constexpr double kReach = 2e-3;      // of the distance of the frames, added to the size: rounding
constexpr double kLateral = 5e-13;   // of the size: p_B - p_A against phi n
constexpr double kExact = 4e-16;     // of the size: the same, as good as rounding allows
constexpr double kGap = 2e-13;       // of the size: gap along n against phi

struct Column {
  Vec3d e;       // frame A
  double s = 0;  // position along it [m]
};

// Two features, and the normal, points and positions found for them.
class FeaturePair {
 public:
  FeaturePair(const SupportDifference& D, const CoreFeature& fa, const CoreFeature& fb)
      : D_(D),
        fa_(fa),
        fb_(fb),
        size_(D.size + kReach * norm(D.X_AB.p)),
        count_(fa.flat + fb.flat) {}

  bool solve(const RoughAnswer& rough);
  bool verify(PolishedAnswer& bound) const;

 private:
  void evaluate();
  void find_free();
  void project();
  struct Step {
    Vec3d n, a, b;  // of the normal and the two points
  };
  bool find_step(Step& step) const;
  bool advance();
  bool settle();
  void distribute(int from, int to);
  void clamp();
  Vec3d lateral() const {
    const Vec3d w = b() - a();
    return w - n_ * dot(n_, w);
  }
  Vec3d a() const { return point(pa_, 0, fa_.flat); }
  Vec3d b() const { return point(pb_, fa_.flat, count_); }
  Vec3d point(Vec3d p, int from, int to) const {
    for (int k = from; k < to; ++k) p += columns_[k].e * columns_[k].s;
    return p;
  }

  const SupportDifference& D_;
  const CoreFeature &fa_, &fb_;
  double size_;
  int count_;  // of columns, those of A first
  Column columns_[4];
  int free_ = 2;  // dimension of T
  Vec3d fixed_;   // free_ = 1: the flat direction; 0: the normal to all of them, not unit
  Vec3d n_, pa_, pb_;
  bool failed_ = false;
};

void FeaturePair::evaluate() {
  const FeatureAt a = feature_at(D_.a, fa_, n_);
  const FeatureAt b = feature_at(D_.b, fb_, -transpose_times(D_.X_AB.R, n_));
  pa_ = a.p;
  pb_ = D_.X_AB * b.p;
  for (int k = 0; k < fa_.flat; ++k) columns_[k].e = a.e[k];
  for (int k = 0; k < fb_.flat; ++k) columns_[fa_.flat + k].e = D_.X_AB.R * b.e[k];
}

void FeaturePair::find_free() {
  free_ = count_ > 0 ? 1 : 2;
  fixed_ = columns_[0].e;
  double most = kParallel * kParallel;
  for (int i = 0; i < count_; ++i) {
    for (int j = i + 1; j < count_; ++j) {
      const Vec3d c = cross(columns_[i].e, columns_[j].e);
      if (!(squared_norm(c) > most)) continue;
      most = squared_norm(c);
      fixed_ = c;
      free_ = 0;
    }
  }
}

// n orthogonal to the flat directions; those of a cone turn with n, so this is repeated with it.
void FeaturePair::project() {
  find_free();
  if (free_ == 2) return;
  const Vec3d n =
      free_ == 0 ? fixed_ * (dot(fixed_, n_) < 0.0 ? -1.0 : 1.0) : n_ - fixed_ * dot(fixed_, n_);
  n_ = n * (1.0 / norm(n));
  evaluate();
}

// Changes of columns `from` to `to` - 1 of least norm that take p_B - p_A nearest to the line of n.
// Repeated because the normal equations square the condition of nearly parallel directions.
void FeaturePair::distribute(int from, int to) {
  const Vec3d helper = std::abs(n_.x) < 0.6 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0};
  Vec3d t = cross(n_, helper);
  t = t * (1.0 / norm(t));
  const Vec3d u = cross(n_, t);
  double x[4], y[4], xx = 0.0, xy = 0.0, yy = 0.0;
  for (int k = from; k < to; ++k) {
    const double sign = k < fa_.flat ? -1.0 : 1.0;
    x[k] = sign * dot(columns_[k].e, t);
    y[k] = sign * dot(columns_[k].e, u);
    xx += x[k] * x[k];
    xy += x[k] * y[k];
    yy += y[k] * y[k];
  }
  const double trace = xx + yy, determinant = xx * yy - xy * xy;
  if (!(trace > 0.25)) return;
  const bool regular = determinant > kParallel * kParallel * trace * trace;
  for (int repeat = 0; repeat < (regular ? 2 : 1); ++repeat) {
    const Vec3d w = b() - a();
    const double wx = -dot(w, t), wy = -dot(w, u);
    const double f = regular ? 1.0 / determinant : 1.0 / (trace * trace);
    const double mx = f * (regular ? yy * wx - xy * wy : xx * wx + xy * wy);
    const double my = f * (regular ? xx * wy - xy * wx : xy * wx + yy * wy);
    for (int k = from; k < to; ++k) columns_[k].s += x[k] * mx + y[k] * my;
  }
}

void FeaturePair::clamp() {
  const int f = fa_.flat;
  double a[2] = {columns_[0].s, columns_[1].s}, b[2] = {columns_[f].s, columns_[(f + 1) & 3].s};
  clamp_to(fa_, a);
  clamp_to(fb_, b);
  for (int k = 0; k < f; ++k) columns_[k].s = a[k];
  for (int k = 0; k < fb_.flat; ++k) columns_[f + k].s = b[k];
}

// Positions within the features; where both are flat there are many, near those GJK found.
bool FeaturePair::settle() {
  const double most = kLateral * size_;
  if (count_ > 0) {
    distribute(0, count_);
    clamp();
  }
  for (int k = 0; k < 4 && count_ > 1 && squared_norm(lateral()) > most * most; ++k) {
    distribute(k % 2 == 0 ? 0 : fa_.flat, k % 2 == 0 ? fa_.flat : count_);
    clamp();
  }
  return squared_norm(lateral()) <= most * most;
}

// From n and the points at hand. False: singular.
bool FeaturePair::find_step(Step& step) const {
  const Vec3d w = b() - a();
  const double phi = dot(n_, w);
  const Vec3d helper = std::abs(n_.x) < 0.6 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0};
  const Vec3d across = cross(n_, free_ == 1 ? fixed_ : helper);
  const Vec3d t = across * (1.0 / norm(across)), u = cross(n_, t);
  const Mat3d& R = D_.X_AB.R;
  const double along_a = fa_.flat == 1 ? columns_[0].s : 0.0;
  const double along_b = fb_.flat == 1 ? columns_[fa_.flat].s : 0.0;
  const Bend p = bend_of(D_.a, fa_, n_, t, u, along_a);
  const Bend q = bend_of(
      D_.b, fb_, -transpose_times(R, n_), transpose_times(R, t), transpose_times(R, u), along_b);
  const double tu = p.st + q.st;
  // The least curvature of -gap. Where it is negative, as deep inside, its sign is changed: the
  // step climbs then as well.
  const double half = 0.5 * (p.ss + q.ss - p.tt - q.tt);
  const double mean = 0.5 * (p.ss + q.ss + p.tt + q.tt);
  const double least = phi + (free_ == 1 ? p.ss + q.ss : mean - std::sqrt(half * half + tu * tu));
  const double f = least < 0.0 ? phi - 2.0 * least : phi;
  const double tt = p.ss + q.ss + f, uu = p.tt + q.tt + f, wt = dot(w, t), wu = dot(w, u);
  if (!(least != 0.0)) return false;
  double x = wt / tt, y = 0.0;
  if (free_ == 2) {
    const double i = 1.0 / (tt * uu - tu * tu);
    x = (uu * wt - tu * wu) * i;
    y = (tt * wu - tu * wt) * i;
  }
  step.n = t * x + u * y;
  step.a = t * (p.ss * x + p.st * y) + u * (p.st * x + p.tt * y);
  step.b = -(t * (q.ss * x + q.st * y) + u * (q.st * x + q.tt * y));
  return norm(step.n) < 1e3;
}

// One step of Newton. True: it was the last. Then the points move along their tangents, by the
// rounding of the step: where features are nearly flat, that of n moves their support points more.
bool FeaturePair::advance() {
  if (count_ > 0) distribute(0, count_);
  Step step;
  failed_ = !find_step(step);
  if (failed_) return true;
  const double length = norm(step.n);
  const Vec3d n = n_ + step.n * (length > kLongStep ? kLongStep / length : 1.0);
  n_ = n * (1.0 / norm(n));
  if (length < kSmallStep) {
    pa_ += step.a;
    pb_ += step.b;
    return true;
  }
  evaluate();
  return false;
}

bool FeaturePair::solve(const RoughAnswer& rough) {
  n_ = rough.normal;
  evaluate();
  project();
  for (int k = 0; k < count_; ++k) {
    columns_[k].s =
        k < fa_.flat ? dot(columns_[k].e, rough.a - pa_) : dot(columns_[k].e, rough.b - pb_);
  }
  clamp();
  const double exact = kExact * size_;
  for (int i = 0; i < kSteps; ++i) {
    if (free_ > 0 && advance()) return !failed_ && settle();
    const Vec3d before = n_;
    if (count_ > 0) project();
    if (free_ == 0 && norm(n_ - before) < kSmallStep) return settle();
    if (free_ > 0 && settle() && squared_norm(lateral()) <= exact * exact) return true;
  }
  return false;
}

// `bound`: the best known, with its normal; raised by the gap along n.
bool FeaturePair::verify(PolishedAnswer& bound) const {
  const double most = kGap * size_;
  const PolishedAnswer found{n_, a(), b(), dot(n_, b() - a())};
  if (!(found.distance >= bound.distance - most)) return false;
  const double gap = -dot(n_, D_(n_).w);
  const bool closed = std::abs(gap - found.distance) <= most;
  const Vec3d b_B = transpose_times(D_.X_AB.R, found.b - D_.X_AB.p);
  if (closed &&
      std::max(outside_polygon(fa_, found.a), outside_polygon(fb_, b_B)) <= kLateral * size_) {
    bound = found;
    const std::uint32_t kinds = 8 * std::uint32_t(fa_.kind) + std::uint32_t(fb_.kind);
    bound.feature = mix(mix(kinds, fa_.id), fb_.id) | 1;
    return true;
  }
  if (gap > bound.distance) bound = {n_, found.a, found.b, gap};
  return false;
}

int candidates(const Core& core,
               const Vec3d& d,
               const Vec3d& witness,
               const Vec3d* used,
               const RoughAnswer& rough,
               int SupportPoint::* number,
               CoreFeature* features) {
  int numbers[4];
  for (int i = 0; i < rough.count; ++i) numbers[i] = rough.points[i].*number;
  return features_near(core, d, witness, used, numbers, rough.count, features);
}

}  // namespace

bool polish(const SupportDifference& D, const RoughAnswer& rough, PolishedAnswer& answer) {
  const Transform& X = D.X_AB;
  Vec3d used_a[4], used_b[4];
  for (int i = 0; i < rough.count; ++i) {
    used_a[i] = rough.points[i].a;
    used_b[i] = transpose_times(X.R, rough.points[i].b() - X.p);
  }
  CoreFeature a[kMaxFeatures], b[kMaxFeatures];
  const int count_a =
      candidates(D.a, rough.normal, rough.a, used_a, rough, &SupportPoint::index_a, a);
  const int count_b = candidates(D.b,
                                 -transpose_times(X.R, rough.normal),
                                 transpose_times(X.R, rough.b - X.p),
                                 used_b,
                                 rough,
                                 &SupportPoint::index_b,
                                 b);
  answer = {rough.normal, rough.a, rough.b, rough.lower};
  int tries = 0;
  for (int sum = 0; sum < count_a + count_b - 1; ++sum) {
    for (int i = std::max(0, sum - count_b + 1); i <= std::min(sum, count_a - 1); ++i) {
      if (tries++ == rough.tries) return false;
      FeaturePair pair(D, a[i], b[sum - i]);
      if (pair.solve(rough) && pair.verify(answer)) return true;
    }
  }
  return false;
}

}  // namespace stiction::detail
