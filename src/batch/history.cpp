#include "stiction/batch/observer.hpp"

#include "batch/batch_impl.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace stiction {

template <class Real>
void roll_history(const Batch& batch,
                  int length,
                  int m,
                  const Real* newest,
                  const std::uint8_t* begun,
                  Real* history) {
  if (length < 1)
    throw std::invalid_argument("length = " + std::to_string(length) + ": must be at least 1");
  if (m < 0) throw std::invalid_argument("m = " + std::to_string(m) + ": must be >= 0");
  const std::ptrdiff_t row = m, size = length * row;
  batch.each_world(nullptr, [&](std::ptrdiff_t world) {
    Real* rows = history + world * size;
    const Real* now = newest + world * row;
    std::copy(rows + row, rows + size, rows);
    const bool all = begun != nullptr && begun[world] != 0;
    for (int k = all ? 0 : length - 1; k < length; ++k) std::copy_n(now, m, rows + k * row);
  });
}
template void roll_history(const Batch&, int, int, const float*, const std::uint8_t*, float*);
template void roll_history(const Batch&, int, int, const double*, const std::uint8_t*, double*);

}  // namespace stiction
