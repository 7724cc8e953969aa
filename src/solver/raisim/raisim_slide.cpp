#include "solver/raisim/raisim_slide.hpp"

#include "stiction/math/constants.hpp"
#include "stiction/math/lanes.hpp"

#include "math/elementary.hpp"

#include <algorithm>
#include <cmath>

// The impulses of the cone's surface with c_N = 0 are, in polar coordinates, u = (cos a, sin a),
//   l(a) = r (u, 1/mu),   r = -c_free_N / d,   d = G_NN / mu + G_NT u,
// an ellipse, or one branch of a hyperbola where d changes its sign: then only d > 0 is on the cone
// (c_free_N < 0). The slope of the objective along the curve, times d^2 / r > 0, is
//   D(a) = (G_NN / mu w + J G_TN) (d c_T),   w = J u, J the quarter turn,
//   d c_T = d c_free_T - c_free_N (G_TT u + G_TN / mu),
// a trigonometric polynomial of degree 2. It can have four roots; the minimum is the one on the arc
// that `stick` sees, where the tangent of the curve separates the two:
//   u . stick_T > mu stick_N,
// an arc about the angle of stick_T, open towards both sides: at its ends, where the tangent passes
// through `stick` or the curve goes to infinity, D points inwards (the objective is convex). So the
// bracket needs no search, and the root is exact to rounding. Published are a search for a bracket
// with steps 1e-2 * 1.3^k from the angle of stick_T and bisection: bisected_slide_impulse.

namespace stiction {
namespace {

/// Angles [centre - half, centre + half].
struct Arc {
  double centre, half;
};
/// Where u . (x, y) > bound.
Arc arc_beyond(double x, double y, double bound) {
  const double reach = length(x, y);
  if (bound <= -reach) return {0.0, kPi};
  return {arc_tangent(y, x), bound >= reach ? 0.0 : arc_cosine(bound / reach)};
}

/// D and its derivative.
class Slope {
 public:
  Slope(const Eigen::Matrix3d& G, const Eigen::Vector3d& c_free, double mu)
      : tangent_(G.topLeftCorner<2, 2>()),
        couple_(G(0, 2), G(1, 2)),
        free_(c_free.head<2>()),
        free_normal_(c_free[2]),
        normal_(G(2, 2) / mu),
        mu_(mu) {}
  double divisor(double a) const { return normal_ + couple_[0] * cosine(a) + couple_[1] * sine(a); }
  double operator()(double a, double& derivative) const {
    const Eigen::Vector2d u(cosine(a), sine(a)), w(-u[1], u[0]);
    const Eigen::Vector2d along = normal_ * w + Eigen::Vector2d(-couple_[1], couple_[0]);
    const Eigen::Vector2d velocity =
        (normal_ + couple_.dot(u)) * free_ - free_normal_ * (tangent_ * u + couple_ / mu_);
    derivative = -normal_ * u.dot(velocity) +
                 along.dot(couple_.dot(w) * free_ - free_normal_ * (tangent_ * w));
    return along.dot(velocity);
  }

 private:
  Eigen::Matrix2d tangent_;
  Eigen::Vector2d couple_, free_;
  double free_normal_, normal_, mu_;
};

/// The root of D in [low, high], D(low) < 0 < D(high): Newton's method, or bisection where its step
/// leaves the bracket or is more than half the last one.
double find_root(const Slope& slope, double low, double high) {
  constexpr int kMaxIterations = 200;
  double a = 0.5 * (low + high), last_step = high - low;
  for (int k = 0; k < kMaxIterations; ++k) {
    double derivative;
    const double value = slope(a, derivative);
    (value < 0.0 ? low : high) = a;
    double next = a - value / derivative;
    if (!(next >= low && next <= high && std::abs(next - a) <= 0.5 * last_step))
      next = 0.5 * (low + high);
    if (next == a) break;
    last_step = std::abs(next - a);
    a = next;
  }
  return a;
}

/// The arc of the curve that `stick` sees; empty only by rounding.
bool find_bracket(
    const Eigen::Matrix3d& G, double mu, const Eigen::Vector3d& stick, double& low, double& high) {
  const Arc seen = arc_beyond(stick[0], stick[1], mu * stick[2]);
  const Arc curve = arc_beyond(G(0, 2), G(1, 2), -G(2, 2) / mu);
  low = seen.centre - seen.half;
  high = seen.centre + seen.half;
  if (curve.half == kPi) return low <= high;  // an ellipse
  const double centre = seen.centre + std::remainder(curve.centre - seen.centre, 2.0 * kPi);
  const bool all_seen = seen.half == kPi;
  low = all_seen ? centre - curve.half : std::max(low, centre - curve.half);
  high = all_seen ? centre + curve.half : std::min(high, centre + curve.half);
  return low <= high;
}

}  // namespace

Eigen::Vector3d slide_impulse(const Eigen::Matrix3d& G,
                              const Eigen::Vector3d& c_free,
                              double mu,
                              const Eigen::Vector3d& stick,
                              const Eigen::Vector3d& before) {
  double low, high;
  if (!find_bracket(G, mu, stick, low, high)) return before;
  const Slope slope(G, c_free, mu);
  const double a = find_root(slope, low, high);
  const double divisor = slope.divisor(a), r = -c_free[2] / divisor;
  if (!(divisor > 0.0 && std::isfinite(r))) return before;
  return {r * cosine(a), r * sine(a), r / mu};
}

Eigen::Vector3d bisected_slide_impulse(const Eigen::Matrix3d& G,
                                       const Eigen::Vector3d& c_free,
                                       double mu,
                                       const Eigen::Vector3d& stick,
                                       const Eigen::Vector3d& before,
                                       double tolerance) {
  constexpr int kMost = 100;                               // steps of either search
  constexpr double kFirst = 1e-2, kBack = 0.5, kOn = 1.3;  // beta_1, beta_2, beta_3
  const Slope slope(G, c_free, mu);
  const auto impulse = [&](double a) -> Eigen::Vector3d {
    const double r = -c_free[2] / slope.divisor(a);
    return {r * cosine(a), r * sine(a), r / mu};
  };
  const auto on_arc = [&](double a) {
    return slope.divisor(a) > 0.0 && cosine(a) * stick[0] + sine(a) * stick[1] >= mu * stick[2];
  };
  const auto rises = [&](double a) {
    double derivative;
    return slope(a, derivative) >= 0.0;
  };
  double near = arc_tangent(stick[1], stick[0]), far = near;
  if (!(slope.divisor(near) > 0.0)) return before;
  const bool rises_at_first = rises(near);
  double step = rises_at_first ? -kFirst : kFirst;
  for (int k = 0; k < kMost && rises(far) == rises_at_first; ++k) {
    if (!on_arc(far + step)) {
      step *= kBack;
      continue;
    }
    near = far;
    far += step;
    step *= kOn;
  }
  for (int k = 0; k < kMost; ++k) {
    if ((impulse(near) - impulse(far)).lpNorm<Eigen::Infinity>() < tolerance) break;
    const double middle = 0.5 * (near + far);
    (rises(middle) == rises_at_first ? near : far) = middle;
  }
  const Eigen::Vector3d found = impulse(far);
  return found.allFinite() ? found : before;
}

}  // namespace stiction
