#pragma once

#include "stiction/math/lanes.hpp"

// Of packs a lane is a world. Of one world the rows of its problem are the lanes: they are worked
// on several at a time, each in the order of sums that it has in a pack, so that the bits are the
// same.

namespace stiction {
inline namespace STICTION_ISA {

#if defined(__AVX512F__)
inline constexpr int kWide = 8;
#elif defined(__AVX__)
inline constexpr int kWide = 4;
#else
inline constexpr int kWide = 2;
#endif
typedef double Wide __attribute__((vector_size(8 * kWide)));
typedef double UnalignedWide __attribute__((vector_size(8 * kWide), aligned(8), may_alias));

inline __attribute__((always_inline)) const UnalignedWide& wide(const double* x) {
  return *reinterpret_cast<const UnalignedWide*>(x);
}
inline __attribute__((always_inline)) UnalignedWide& wide(double* x) {
  return *reinterpret_cast<UnalignedWide*>(x);
}

/// The rows of one dimension of one world are the lanes of a group, those of a pack come one by
/// one.
inline constexpr int kRowGroup = kWide < 4 ? kWide : 4;
template <class Real>
struct RowGroupOf {
  using type = Real;
};
template <>
struct RowGroupOf<double> {
  using type = Pack<kRowGroup>;
};
template <class Real>
using RowGroup = typename RowGroupOf<Real>::type;
template <class Real>
inline constexpr int group_size = lane_width<RowGroup<Real>> / lane_width<Real>;

template <class Real>
inline Real load_rows(const Real* x) {
  return *x;
}
template <class Real>
inline void store_rows(Real value, Real* x) {
  *x = value;
}
typedef double UnalignedGroup __attribute__((vector_size(8 * kRowGroup), aligned(8), may_alias));
inline RowGroup<double> load_rows(const double* x) {
  return RowGroup<double>::from(*reinterpret_cast<const UnalignedGroup*>(x));
}
inline void store_rows(RowGroup<double> value, double* x) {
  *reinterpret_cast<UnalignedGroup*>(x) = value.v;
}
/// The same of rows that lie `step` apart.
template <class Real>
inline Real load_rows(const Real* x, int) {
  return *x;
}
inline RowGroup<double> load_rows(const double* x, int step) {
  RowGroup<double> rows;
  for (int i = 0; i < kRowGroup; ++i) rows.v[i] = x[i * step];
  return rows;
}
/// sum + x, row after row.
template <class Real>
inline Real add_rows(Real sum, Real x) {
  return sum + x;
}
inline double add_rows(double sum, RowGroup<double> x) {
  for (int i = 0; i < kRowGroup; ++i) sum += x.v[i];
  return sum;
}

/// Numbers from one row or column to the next of a dense matrix: of one world a multiple of eight.
template <class Real>
constexpr int dense_stride(int rows) {
  constexpr int kMost = 8;  // the largest kWide: memory is laid out by code of any instruction set
  return lane_width<Real> == 1 ? (rows + kMost - 1) / kMost * kMost : rows;
}

/// out = base + G x, G by columns.
template <int Blocks>
inline __attribute__((always_inline)) void add_wide_block(
    int rows, int stride, const double* G, const double* x, const double* base, double* out) {
  Wide sum[Blocks];
  for (int b = 0; b < Blocks; ++b) sum[b] = wide(base + kWide * b);
  for (int k = 0; k < rows; ++k, G += stride) {
    for (int b = 0; b < Blocks; ++b) sum[b] += wide(G + kWide * b) * x[k];
  }
  for (int b = 0; b < Blocks; ++b) wide(out + kWide * b) = sum[b];
}
inline void add_wide_columns(
    int rows, int stride, const double* G, const double* x, const double* base, double* out) {
  int r = 0;
  for (; r + 4 * kWide <= stride; r += 4 * kWide)
    add_wide_block<4>(rows, stride, G + r, x, base + r, out + r);
  for (; r + 2 * kWide <= stride; r += 2 * kWide)
    add_wide_block<2>(rows, stride, G + r, x, base + r, out + r);
  for (; r < stride; r += kWide) add_wide_block<1>(rows, stride, G + r, x, base + r, out + r);
}

/// out[first, end) -= x from, and what lies before `first` in its group is lost.
inline __attribute__((always_inline)) void subtract_wide(
    int first, int end, double x, const double* from, double* out) {
  for (int j = first / kWide * kWide; j < end; j += kWide) wide(out + j) -= wide(from + j) * x;
}

}  // namespace STICTION_ISA
}  // namespace stiction
