#pragma once

#include "face_planes.hpp"
#include "measure.hpp"

#include <vector>

namespace stiction::bench {

/// What an engine's answers are worth, over the queries of a row; infinite where one is not finite.
struct Errors {
  double median = 0.0, p99 = 0.0, worst = 0.0;  ///< of the distance [m]
  int wrong_signs = 0;                          ///< where |distance| > 1e-8 m
  double normal = 0.0;   ///< largest |gap between the hulls along the normal - distance| [m]
  double witness = 0.0;  ///< largest |w_B - w_A - distance * normal| [m]
  double outside = 0.0;  ///< farthest that a witness point lies beyond a face of its hull [m]
};

/// Signed distances known to rounding. Separated: bracketed by a separating plane and two points,
/// in long double; `bracket` is the widest of them [m]. Penetrating: the least depth along any
/// engine's normal, in long double, an upper bound of the depth.
struct Truth {
  std::vector<double> distance;
  double bracket = 0.0;
};

/// Judges answers about these hulls, which must outlive it.
class Judge {
 public:
  explicit Judge(const Shapes& shapes);
  Truth truth(const std::vector<Query>& queries, const Table& table) const;
  Errors errors(const std::vector<Query>& queries,
                const Measured& measured,
                const Truth& truth) const;

 private:
  const Shapes& shapes_;
  std::vector<FacePlanes> planes_;
};

}  // namespace stiction::bench
