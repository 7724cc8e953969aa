#include "solver/ncp_newton/local_contact.hpp"

#include "stiction/contact/cone.hpp"

#include <cmath>

// Open: lambda = 0 if v_N >= 0. Stuck: lambda = -G^-1 v if it is in the cone. Sliding against the
// unit vector u: lambda_T = mu lambda_N u with c_N = 0 gives lambda_N = -v_N / (G_NN + mu G_NT u),
// and c_T is parallel to u where
//   h = (w . v_T) (G_NN + mu G_NT . u) - v_N w . (G_TN + mu G_TT u),  w = u turned by 90 degrees,
// vanishes: a trigonometric polynomial of degree two in the angle of u. Angles are never formed: u
// is turned by the rational rotation of tan(angle / 2), the same on every machine.
//
// In any dimension (no angle to turn): c_T = -s lambda_T with a slip s >= 0 and c_N = 0 give
//   (S + s 1) lambda_T = -(v_T - G_TN v_N / G_NN),  S = G_TT - G_TN G_NT / G_NN,
//   lambda_N = -(v_N + G_NT lambda_T) / G_NN,
// and s is a root of ||lambda_T|| - mu lambda_N: positive at s = 0 unless the contact sticks,
// negative as s grows, so that there is one.

namespace stiction {
namespace {

struct Direction {
  double x, y;
};

/// u turned by 2 atan(t).
Direction turned(const Direction& u, double t) {
  const double k = 1.0 / (1.0 + t * t), c = (1.0 - t * t) * k, s = 2.0 * t * k;
  const double x = c * u.x - s * u.y, y = s * u.x + c * u.y;
  const double norm = std::sqrt(x * x + y * y);
  return {x / norm, y / norm};
}

struct SlideEquation {
  const double *G, *v;
  double mu;
  double constant, cos1, sin1, cos2, sin2;  ///< of h

  SlideEquation(const double* G_ii, double friction, const double* v_i)
      : G(G_ii), v(v_i), mu(friction) {
    const double gx = G[2], gy = G[4];
    constant = 0.5 * mu * (v[1] * gx - v[0] * gy);
    cos1 = v[1] * G[5] - v[2] * gy;
    sin1 = -v[0] * G[5] + v[2] * gx;
    cos2 = 0.5 * mu * (v[1] * gx + v[0] * gy) - v[2] * mu * G[1];
    sin2 = 0.5 * mu * (v[1] * gy - v[0] * gx) - 0.5 * v[2] * mu * (G[3] - G[0]);
  }
  double value(const Direction& u) const {
    return constant + cos1 * u.x + sin1 * u.y + cos2 * (u.x * u.x - u.y * u.y) +
           2.0 * sin2 * u.x * u.y;
  }
  double slope(const Direction& u) const {
    return -cos1 * u.y + sin1 * u.x - 4.0 * cos2 * u.x * u.y + 2.0 * sin2 * (u.x * u.x - u.y * u.y);
  }
  /// Sets lambda if friction along u pushes and opposes the motion.
  bool accept(const Direction& u, double* lambda) const {
    const double denominator = G[5] + mu * (G[2] * u.x + G[4] * u.y);
    if (!(denominator > 0.0)) return false;
    const double n = -v[2] / denominator, x = mu * n * u.x, y = mu * n * u.y;
    const double cx = v[0] + G[0] * x + G[1] * y + G[2] * n;
    const double cy = v[1] + G[1] * x + G[3] * y + G[4] * n;
    if (!(cx * u.x + cy * u.y <= 0.0)) return false;
    lambda[0] = x;
    lambda[1] = y;
    lambda[2] = n;
    return true;
  }
};

/// Newton from u; converges in a few steps near a root.
bool newton(const SlideEquation& h, Direction u, double* lambda) {
  for (int k = 0; k < 8; ++k) {
    const double slope = h.slope(u);
    if (!(slope > 0.0 || slope < 0.0)) return false;
    const double step = -h.value(u) / slope;
    if (!(std::abs(step) < 1.0)) return false;
    u = turned(u, 0.5 * step);
    if (std::abs(step) < 1e-14) return h.accept(u, lambda);
  }
  return false;
}

/// The root between two directions where h has opposite signs, by bisection.
Direction bisect(const SlideEquation& h, Direction a, Direction b) {
  const bool positive = h.value(a) > 0.0;
  for (int k = 0; k < 52; ++k) {
    const double x = a.x + b.x, y = a.y + b.y, norm = std::sqrt(x * x + y * y);
    const Direction middle{x / norm, y / norm};
    ((h.value(middle) > 0.0) == positive ? a : b) = middle;
  }
  return a;
}

bool solve_slide(const double* G, double mu, const double* v, double* lambda) {
  constexpr int kIntervals = 24;
  constexpr double kTurn = 0.13165249758739585;  // tan(pi / 24)
  const SlideEquation h(G, mu, v);
  Direction u{lambda[0], lambda[1]};
  if (u.x == 0.0 && u.y == 0.0) u = {-v[0], -v[1]};
  const double norm = std::sqrt(u.x * u.x + u.y * u.y);
  u = norm > 0.0 ? Direction{u.x / norm, u.y / norm} : Direction{1.0, 0.0};
  if (newton(h, u, lambda)) return true;
  for (int k = 0; k < kIntervals; ++k) {
    const Direction next = turned(u, kTurn);
    if ((h.value(u) > 0.0) != (h.value(next) > 0.0) && h.accept(bisect(h, u, next), lambda))
      return true;
    u = next;
  }
  return false;
}

}  // namespace

bool solve_local_contact(const double* G, double mu, const double* v, double* lambda) {
  if (v[2] >= 0.0) {
    lambda[0] = lambda[1] = lambda[2] = 0.0;
    return true;
  }
  // The inverse of a slightly shifted G, so that a singular block has one.
  const double shift = 1e-12 * (G[0] + G[3] + G[5]);
  const double xx = G[0] + shift, xy = G[1], xz = G[2], yy = G[3] + shift, yz = G[4],
               zz = G[5] + shift;
  const double cxx = yy * zz - yz * yz, cxy = xz * yz - xy * zz, cxz = xy * yz - xz * yy;
  const double determinant = xx * cxx + xy * cxy + xz * cxz;
  if (determinant > 0.0) {
    const double k = -1.0 / determinant;
    const double x = k * (cxx * v[0] + cxy * v[1] + cxz * v[2]);
    const double y = k * (cxy * v[0] + (xx * zz - xz * xz) * v[1] + (xy * xz - xx * yz) * v[2]);
    const double z = k * (cxz * v[0] + (xy * xz - xx * yz) * v[1] + (xx * yy - xy * xy) * v[2]);
    if (z >= 0.0 && x * x + y * y <= mu * mu * z * z) {
      lambda[0] = x;
      lambda[1] = y;
      lambda[2] = z;
      return true;
    }
  }
  return solve_slide(G, mu, v, lambda);
}

namespace {

/// x <- A^-1 x of a positive definite A by Cholesky's factors, which replace its lower triangle.
template <int n>
bool solve_positive(double (&A)[n][n], double* x) {
  for (int k = 0; k < n; ++k) {
    for (int j = 0; j < k; ++j) A[k][k] -= A[k][j] * A[k][j];
    if (!(A[k][k] > 0.0)) return false;
    A[k][k] = std::sqrt(A[k][k]);
    for (int i = k + 1; i < n; ++i) {
      for (int j = 0; j < k; ++j) A[i][k] -= A[i][j] * A[k][j];
      A[i][k] /= A[k][k];
    }
    for (int j = 0; j < k; ++j) x[k] -= A[k][j] * x[j];
    x[k] /= A[k][k];
  }
  for (int k = n - 1; k >= 0; --k) {
    for (int i = k + 1; i < n; ++i) x[k] -= A[i][k] * x[i];
    x[k] /= A[k][k];
  }
  return true;
}

/// The impulse at a given slip.
template <int D>
class Slip {
 public:
  Slip(const double* G, int stride, double mu, const double* v) : mu_(mu) {
    const double* normal = G + stride * N;
    pull_ = v[N] / normal[N];
    for (int r = 0; r < N; ++r) {
      coupling_[r] = normal[r] / normal[N];
      rhs_[r] = coupling_[r] * v[N] - v[r];
      for (int c = 0; c < N; ++c) S_[r][c] = G[stride * c + r] - coupling_[r] * normal[c];
      size_ += S_[r][r] / N;
    }
    if (!(size_ > 0.0)) size_ = normal[N];
  }
  double size() const { return size_; }  ///< of S
  /// Sets lambda; ||lambda_T|| - mu lambda_N, or NaN if S is not positive.
  double excess(double slip, double* lambda) const {
    constexpr double kShift = 1e-12;  // so that a singular block has an inverse
    double A[N][N];
    for (int r = 0; r < N; ++r) {
      for (int c = 0; c < N; ++c) A[r][c] = S_[r][c];
      A[r][r] += slip + kShift * size_;
      lambda[r] = rhs_[r];
    }
    if (!solve_positive<N>(A, lambda)) return std::nan("");
    lambda[N] = -pull_;
    for (int r = 0; r < N; ++r) lambda[N] -= coupling_[r] * lambda[r];
    return circular::tangent<D>(lambda) - mu_ * lambda[N];
  }

 private:
  static constexpr int N = D - 1;
  double mu_, pull_, size_ = 0.0, coupling_[N], rhs_[N], S_[N][N];
};

}  // namespace

template <int D>
bool solve_local_contact(const double* G, int stride, double mu, const double* v, double* lambda) {
  constexpr int N = D - 1, kTrials = 100;
  if (v[N] >= 0.0) {
    std::fill(lambda, lambda + D, 0.0);
    return true;
  }
  if (!(G[(stride + 1) * N] > 0.0)) return false;
  double found[D] = {};
  if (mu == 0.0) {
    std::copy(found, found + N, lambda);
    lambda[N] = -v[N] / G[(stride + 1) * N];
    return true;
  }
  const Slip<D> slip(G, stride, mu, v);
  double at_low = slip.excess(0.0, found);
  if (std::isnan(at_low)) return false;
  // slip = size x / (1 - x): x in [0, 1); regula falsi in the Illinois form, with a bisection now
  // and then.
  double low = 0.0, high = 1.0, at_high = mu * v[N] / G[(stride + 1) * N], x = 0.0;
  for (int k = 0; at_low > 0.0 && k < kTrials && high - low > 1e-16; ++k) {
    x = k % 4 == 3 ? 0.5 * (low + high) : low + (high - low) * at_low / (at_low - at_high);
    if (!(x > low && x < high)) break;
    const double at = slip.excess(slip.size() * x / (1.0 - x), found);
    if (at == 0.0) break;
    (at > 0.0 ? low : high) = x;
    (at > 0.0 ? at_low : at_high) = at;
    if (k % 4 != 3) (at > 0.0 ? at_high : at_low) *= 0.5;
  }
  circular::project_disk<D>(mu, found);
  std::copy(found, found + D, lambda);
  return true;
}

template bool solve_local_contact<3>(const double*, int, double, const double*, double*);
template bool solve_local_contact<4>(const double*, int, double, const double*, double*);
template bool solve_local_contact<6>(const double*, int, double, const double*, double*);

}  // namespace stiction
