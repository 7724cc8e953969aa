#pragma once

// The cones of the interior point method of loose bodies, all of three rows: [3][count], a row of
// all cones after the other, so that a kernel takes as many at once as the registers hold. The
// algebra is that of lorentz.hpp; y - ||y_T|| e_N is smoothed by `slip` in derivatives.

namespace stiction::cone_planes {

inline constexpr int kRows = 3;

/// Nesterov and Todd's scaling of each pair, and y_T / sqrt(||y_T||^2 + slip^2).
struct Scalings {
  double* w;     ///< [3][count]
  double* beta;  ///< [count]
  double* p;     ///< [2][count]
};

void scale(int count, const double* l, const double* y, double slip, const Scalings& out);

/// out [3][3][count] = E W^2
void blocks(int count, const Scalings& W, double* out);
/// out = (E W^2)^-1
void inverse_blocks(int count, const Scalings& W, double* out);
/// out [3][count] = A x, A [3][3][count]
void times(int count, const double* A, const double* x, double* out);

/// The second-order term of a predictor dl, dy.
struct Predictor {
  const double *l, *y;  ///< null: none
};
/// d = W (z \ q) with z = W l, q = -z o z + centre e - (W dl) o (W^-1 dy), and b = -share r + E d.
void aim(int count,
         const Scalings& W,
         const double* l,
         const Predictor& predictor,
         const double* r,
         double centre,
         double share,
         double* d,
         double* b);
/// dy = d - W^2 dl
void finish(int count, const Scalings& W, const double* d, const double* dl, double* dy);

/// The largest alpha <= limit with x + alpha dx in every cone; `scratch` [count].
double longest_step(int count, const double* x, const double* dx, double limit, double* scratch);
/// Least eigenvalue of a pair at l + alpha dl, y + alpha dy, and the sum of l . y there;
/// `scratch` [2][count].
double worst_pair(int count,
                  const double* l,
                  const double* dl,
                  const double* y,
                  const double* dy,
                  double alpha,
                  double* sum,
                  double* scratch);

/// r += g - (y - ||y_T|| e_N); the largest of it. `scratch` [count].
double subtract_velocity(int count, const double* y, const double* g, double* r, double* scratch);

}  // namespace stiction::cone_planes
