#pragma once

#include "stiction/collision/distance.hpp"

#include "common.hpp"

#include <string>

namespace stiction::python {

/// A result with the warm start it leaves for the next query of the same pair, and the placements
/// it is of.
struct Query : DistanceResult {
  DistanceCache warm_start;
  Transform X_WA, X_WB;
};

Query query(const Shape& a,
            const bp::object& X_WA,
            const Shape& b,
            const bp::object& X_WB,
            double tolerance,
            long max_iterations,
            const bp::object& warm_start,
            const std::string& method,
            const std::string& stopping,
            double max_distance);

void expose_distance_derivatives();

}  // namespace stiction::python
