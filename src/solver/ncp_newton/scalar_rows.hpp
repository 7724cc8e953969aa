#pragma once

// The rows of one dimension beside the cones of the interior point method in space: low <= l <=
// high with multipliers y of the lower and z of the upper bound, c = y - z. What has no bounds is
// free, c = 0; what has no room between them is held. The algebra is that of interior_point.cpp's
// bounds.

namespace stiction::scalar_rows {

struct Bounds {
  int count;
  const double *low, *high;

  bool held(int k) const { return low[k] == high[k]; }
  bool has_low(int k) const;
  bool has_high(int k) const;
};

struct Pairs {
  double *l, *y, *z;
};
struct ConstPairs {
  const double *l, *y, *z;
  ConstPairs(const double* l_, const double* y_, const double* z_) : l(l_), y(y_), z(z_) {}
  ConstPairs(const Pairs& p) : l(p.l), y(p.y), z(p.z) {}  // NOLINT: as pointers convert
};

/// Between the bounds, or `impulse` off the one that there is; multipliers `velocity`.
void start(const Bounds& bounds, double impulse, double velocity, const Pairs& out);
/// Near l with velocity c: at pairs of `size`, the difference of room and multiplier theirs at the
/// bound that c presses against.
void start_near(const Bounds& bounds, double size, const double* c, const Pairs& out);

/// B = y / (l - low) + z / (high - l) + R and its inverse H; a little of a free row, which is
/// solved again in the next step; nothing of a held one, which sees nothing and moves nothing.
void blocks(const Bounds& bounds, const ConstPairs& at, const double* R, double* B, double* H);
/// What dy and dz aim for, d and dz, at l + dl = l, and the right-hand side b = -share r + d - dz;
/// `predictor`: null where there is none.
void aim(const Bounds& bounds,
         const ConstPairs& at,
         const ConstPairs* predictor,
         const double* r,
         double centre,
         double share,
         double* d,
         double* dz,
         double* b);
/// dy and dz of dl.
void finish(const Bounds& bounds,
            const ConstPairs& at,
            const double* d,
            const double* dl,
            double* dy,
            double* dz);

/// The largest alpha <= limit that stays inside.
double longest_step(const Bounds& bounds,
                    const ConstPairs& at,
                    const ConstPairs& step,
                    double limit);
/// The least pair at l + alpha dl, the sum of all and how many there are.
double worst_pair(const Bounds& bounds,
                  const ConstPairs& at,
                  const ConstPairs& step,
                  double alpha,
                  double* sum,
                  int* pairs);
/// r += g - (y - z), 0 of what is held; the largest of it.
double subtract_velocity(const Bounds& bounds, const ConstPairs& at, const double* g, double* r);

}  // namespace stiction::scalar_rows
