#include "dynamics/column_solves.hpp"

#include "math/clones.hpp"
#include "math/row_sums.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace stiction {

STICTION_CLONES void whiten_columns(
    const TreeView& tree, const TreeData<double>& data, int stride, int width, double* X) {
  for (int k = tree.nv - 1; k >= 0; --k) {
    double* own = X + static_cast<std::ptrdiff_t>(k) * stride;
    const double* l = data.L + tree.row[k];
    const int* chain = tree.chain + tree.row[k];
    const int d = tree.depth[k];
    for (int c = 0; c < width; c += 8) {
      const Octo x = octo(own + c);
      for (int m = 0; m < d; ++m)
        octo(X + static_cast<std::ptrdiff_t>(chain[m]) * stride + c) -= l[m] * x;
    }
    const double root = std::sqrt(data.D_inverse[k]);
    for (int c = 0; c < width; ++c) own[c] *= root;
  }
}

void unwhiten_columns(
    const TreeView& tree, const TreeData<double>& data, int stride, int width, double* X) {
  constexpr int kMost = 64;
  double factors[kMost];
  for (int k = 0; k < tree.nv; ++k) {
    double* own = X + static_cast<std::ptrdiff_t>(k) * stride;
    const double root = std::sqrt(data.D_inverse[k]);
    for (int c = 0; c < width; ++c) own[c] *= root;
    const double* l = data.L + tree.row[k];
    for (int m = 0; m < tree.depth[k]; m += kMost) {
      const int count = std::min(kMost, tree.depth[k] - m);
      for (int i = 0; i < count; ++i) factors[i] = -l[m + i];
      add_rows(factors, tree.chain + tree.row[k] + m, count, X, stride, width, own);
    }
  }
}

void add_whitened_mass(
    const TreeView& tree, const TreeData<double>& data, int stride, int column, double* X) {
  for (int k = 0; k < tree.nv; ++k) {
    const double root = std::sqrt(1.0 / data.D_inverse[k]);
    double* own = X + static_cast<std::ptrdiff_t>(k) * stride + column;
    const double* l = data.L + tree.row[k];
    const int* chain = tree.chain + tree.row[k];
    for (int m = 0; m < tree.depth[k]; ++m) own[chain[m]] += root * l[m];
    own[k] += root;
  }
}

void add_mass_times(const TreeView& tree,
                    const TreeData<double>& data,
                    const double* y,
                    double* x) {
  // D L y, then L^T of it: rows of L end with their own dof, later ones do not see earlier.
  for (int k = tree.nv - 1; k >= 0; --k) {
    const double* l = data.L + tree.row[k];
    const int* chain = tree.chain + tree.row[k];
    double sum = y[k];
    for (int m = 0; m < tree.depth[k]; ++m) sum += l[m] * y[chain[m]];
    sum /= data.D_inverse[k];
    x[k] += sum;
    for (int m = 0; m < tree.depth[k]; ++m) x[chain[m]] += l[m] * sum;
  }
}

}  // namespace stiction
