#pragma once

namespace stiction {

/// Columns that add_rows() works on at once: widths are multiples of it.
inline constexpr int kLaneColumns = 8;

/// out[c] += sum_k factors[k] rows[index[k] stride + c] for c < width, `width` and `stride`
/// multiples of kLaneColumns. Null `index`: rows 0, 1, ... The columns are the lanes: many
/// right-hand sides of one sparse product.
void add_rows(const double* factors,
              const int* index,
              int count,
              const double* rows,
              int stride,
              int width,
              double* out);

}  // namespace stiction
