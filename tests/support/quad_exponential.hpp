#pragma once

#include <cmath>
#include <vector>

// e^A in quadruple precision by scaling, Taylor series and squaring: the oracle of the
// exponentials.

namespace stiction::test {

using Quadruple = __float128;

inline std::vector<Quadruple> times(const std::vector<Quadruple>& A,
                                    const std::vector<Quadruple>& B,
                                    int n) {
  std::vector<Quadruple> C(A.size(), 0);
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < n; ++k) {
      const Quadruple a = A[i * n + k];
      if (a == 0) continue;
      for (int j = 0; j < n; ++j) C[i * n + j] += a * B[k * n + j];
    }
  }
  return C;
}

/// Of an n x n matrix, row-major; `A` of double or of Quadruple.
template <class Real>
std::vector<double> quad_exponential(const std::vector<Real>& A, int n) {
  double norm = 0.0;
  for (int i = 0; i < n; ++i) {
    double row = 0.0;
    for (int j = 0; j < n; ++j) row += std::abs(double(A[i * n + j]));
    norm = std::max(norm, row);
  }
  const int squarings = norm > 0.25 ? static_cast<int>(std::ceil(std::log2(norm))) + 2 : 0;
  const Quadruple scale = std::ldexp(1.0, -squarings);
  std::vector<Quadruple> S(A.begin(), A.end()), sum(A.size(), 0), term(A.size(), 0);
  for (Quadruple& s : S) s *= scale;
  for (int i = 0; i < n; ++i) term[i * n + i] = sum[i * n + i] = 1;
  for (int k = 1; k <= 24; ++k) {  // 0.25^25 / 25! < 1e-40
    term = times(term, S, n);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += term[i] /= k;
  }
  for (int k = 0; k < squarings; ++k) sum = times(sum, sum, n);
  return std::vector<double>(sum.begin(), sum.end());
}

}  // namespace stiction::test
