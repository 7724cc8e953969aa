#pragma once

#include "measure.hpp"

#include <vector>

namespace stiction::bench {

/// What an engine's answers are worth, over the queries of a row.
struct Errors {
  double median = 0.0, p99 = 0.0, worst = 0.0;  ///< of the distance [m]
  int wrong_signs = 0;                          ///< where |distance| > 1e-8 m
};

/// Signed distances known to rounding. Separated: bracketed by a separating plane and two points,
/// in long double; `bracket` is the widest of them [m]. Penetrating: the least depth along any
/// engine's normal, in long double, an upper bound of the depth.
struct Truth {
  std::vector<double> distance;
  double bracket = 0.0;
};
Truth truth_of(const Shapes& shapes, const std::vector<Query>& queries, const Table& table);

Errors errors_of(const Measured& measured, const Truth& truth);

}  // namespace stiction::bench
