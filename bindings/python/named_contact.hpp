#pragma once

#include "stiction/simulator/report.hpp"

#include <string>

namespace stiction::python {

/// A contact report that carries its names: it outlives the simulator.
struct NamedContact : ContactReport {
  std::string geometry_a_name, geometry_b_name, body_a_name, body_b_name;
};

}  // namespace stiction::python
