#include "smooth_polish.hpp"

#include "core_feature.hpp"

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

constexpr int kSteps = 10;
constexpr double kParallel = 1e-8;   // sine below which two flat directions are one
constexpr double kSmallStep = 1e-9;  // [rad] the next step of Newton is rounding
constexpr double kLateral = 5e-13;   // of the size: p_B - p_A against phi n
constexpr double kGap = 2e-13;       // of the size: gap along n against phi

struct Column {
  Vec3d e;       // frame A
  double s = 0;  // position along it [m]
};

// Two features, and the normal, points and positions found for them.
class FeaturePair {
 public:
  FeaturePair(const SupportDifference& D, const CoreFeature& fa, const CoreFeature& fb)
      : D_(D), fa_(fa), fb_(fb), count_(fa.flat + fb.flat) {}

  bool solve(const RoughAnswer& rough);
  bool verify(const RoughAnswer& rough, PolishedAnswer& answer) const;

 private:
  void evaluate();
  void find_free();
  void project();
  double newton();
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
  int count_;  // of columns, those of A first
  Column columns_[4];
  int free_ = 2;  // dimension of T
  Vec3d fixed_;   // free_ = 1: the flat direction; 0: the normal to all of them, not unit
  Vec3d n_, pa_, pb_;
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
  const double most = kLateral * D_.size;
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

// One step; returns its length [rad], HUGE_VAL if there is none.
double FeaturePair::newton() {
  const Vec3d w = b() - a();
  const double phi = dot(n_, w);
  const Vec3d helper = std::abs(n_.x) < 0.6 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0};
  Vec3d t = cross(n_, free_ == 1 ? fixed_ : helper);
  t = t * (1.0 / norm(t));
  const Vec3d u = cross(n_, t);
  const double along_a = fa_.flat == 1 ? columns_[0].s : 0.0;
  const double along_b = fb_.flat == 1 ? columns_[fa_.flat].s : 0.0;
  const Bend p = bend_of(D_.a, fa_, n_, t, u, along_a);
  const Mat3d& R = D_.X_AB.R;
  const Bend q = bend_of(
      D_.b, fb_, -transpose_times(R, n_), transpose_times(R, t), transpose_times(R, u), along_b);
  double tt = p.ss + q.ss, tu = p.st + q.st, uu = p.tt + q.tt;
  // Not a maximum of the gap: without phi the step climbs all the same.
  const auto convex = [&](double f) {
    return tt + f > 0.0 && (free_ == 1 || (tt + f) * (uu + f) > tu * tu);
  };
  const double f = convex(phi) ? phi : std::abs(phi);
  if (!convex(f)) return HUGE_VAL;
  tt += f;
  uu += f;
  const double x = dot(w, t), y = dot(w, u);
  Vec3d step = t * (x / tt);
  if (free_ == 2) {
    const double i = 1.0 / (tt * uu - tu * tu);
    step = t * ((uu * x - tu * y) * i) + u * ((tt * y - tu * x) * i);
  }
  const double length = norm(step);
  if (!(length < 1e3)) return HUGE_VAL;
  if (length > 0.5) step = step * (0.5 / length);
  const Vec3d n = n_ + step;
  n_ = n * (1.0 / norm(n));
  evaluate();
  return length;
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
  for (int i = 0; i < kSteps; ++i) {
    const Vec3d before = n_;
    double length = 0.0;
    if (free_ > 0) {
      if (count_ > 0) distribute(0, count_);
      length = newton();
      if (!(length < HUGE_VAL)) return false;
    }
    if (count_ > 0) project();
    if (std::max(length, norm(n_ - before)) < kSmallStep && settle()) return true;
  }
  return false;
}

bool FeaturePair::verify(const RoughAnswer& rough, PolishedAnswer& answer) const {
  answer.normal = n_;
  answer.a = a();
  answer.b = b();
  answer.distance = dot(n_, answer.b - answer.a);
  const double most = kGap * D_.size;
  if (!(answer.distance >= rough.lower - most)) return false;
  const double gap = -dot(n_, D_(n_).w);
  if (!(std::abs(gap - answer.distance) <= most)) return false;
  const double outside =
      std::max(outside_polygon(fa_, answer.a),
               outside_polygon(fb_, transpose_times(D_.X_AB.R, answer.b - D_.X_AB.p)));
  return outside <= kLateral * D_.size;
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
  int tries = 0;
  for (int sum = 0; sum < count_a + count_b - 1; ++sum) {
    for (int i = std::max(0, sum - count_b + 1); i <= std::min(sum, count_a - 1); ++i) {
      if (tries++ == rough.tries) return false;
      FeaturePair pair(D, a[i], b[sum - i]);
      if (pair.solve(rough) && pair.verify(rough, answer)) return true;
    }
  }
  return false;
}

}  // namespace stiction::detail
