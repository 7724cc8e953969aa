#include "model/check_rotation.hpp"

#include "math/number_text.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace stiction {

void check_rotation(const Transform& X, const std::string& field) {
  const auto fail = [&](const std::string& what) { throw std::invalid_argument(field + what); };
  const Mat3d e = transpose_times(X.R, X.R);
  const double defect = std::max({std::abs(e.c0.x - 1),
                                  std::abs(e.c1.y - 1),
                                  std::abs(e.c2.z - 1),
                                  std::abs(e.c0.y),
                                  std::abs(e.c0.z),
                                  std::abs(e.c1.z)});
  if (!(defect < 1e-6)) fail(": rotation is not orthonormal (defect " + number_text(defect) + ")");
  if (dot(cross(X.R.c0, X.R.c1), X.R.c2) < 0.0) fail(": rotation is a reflection");
  if (!std::isfinite(X.p.x + X.p.y + X.p.z)) fail(": position is not finite");
}

}  // namespace stiction
