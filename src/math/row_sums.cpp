#include "math/row_sums.hpp"

#include "math/clones.hpp"

#include <cstddef>

namespace stiction {
namespace {

/// `Blocks` times eight columns with their sums in registers: one chain of additions alone would be
/// bound by its latency.
template <int Blocks>
inline __attribute__((always_inline)) void add_block(const double* factors,
                                                     const int* index,
                                                     int count,
                                                     const double* rows,
                                                     int stride,
                                                     double* out) {
  Octo sum[Blocks];
  for (int b = 0; b < Blocks; ++b) sum[b] = octo(out + 8 * b);
  for (int k = 0; k < count; ++k) {
    const double* row = rows + static_cast<std::ptrdiff_t>(index ? index[k] : k) * stride;
    for (int b = 0; b < Blocks; ++b) sum[b] += factors[k] * octo(row + 8 * b);
  }
  for (int b = 0; b < Blocks; ++b) octo(out + 8 * b) = sum[b];
}

}  // namespace

STICTION_CLONES void add_rows(const double* factors,
                              const int* index,
                              int count,
                              const double* rows,
                              int stride,
                              int width,
                              double* out) {
  int c = 0;
  for (; c + 32 <= width; c += 32) add_block<4>(factors, index, count, rows + c, stride, out + c);
  for (; c + 16 <= width; c += 16) add_block<2>(factors, index, count, rows + c, stride, out + c);
  for (; c < width; c += 8) add_block<1>(factors, index, count, rows + c, stride, out + c);
}

}  // namespace stiction
