#include "math/spring_damper.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

// z' = A z + f0 + f1 t of z = (c x, v, c g). With a tail of five states that shift into each other,
// tau' = N tau, three columns of one exponential are z, its integral and its double integral
// (Carbonell, Jimenez and Pedroso 2008; the columns of Hammoud et al. 2022, eq. 29, with a forcing
// that varies).

namespace stiction {
namespace {

constexpr int kTail = 5, kMoments = 3;  // states of the forcing; z, int z, intint z

/// The power of 2 nearest to x > 0 by ratio, or 1.
double power_of_two(double x) {
  if (!(x > 0.0)) return 1.0;
  int e;
  const double m = std::frexp(x, &e);  // x = m 2^e, 1/2 <= m < 1
  return std::ldexp(1.0, m < 0.70710678118654752 ? e - 1 : e);
}

/// c, near the fastest frequency: all entries of A are then rates.
double x_scale(const SpringRows& rows) {
  double stiffest = 0.0;
  for (int i = 0; i < rows.size; ++i)
    stiffest = std::max(stiffest, std::abs(rows.W[i * rows.size + i]) * rows.K[i]);
  return power_of_two(std::sqrt(stiffest));
}

/// t times the augmented matrix [A, F; 0, N], F = (0, f1, f0, z0, 0), and the columns (z0; e3),
/// (0; e4), (0; e5). F is brought to the size of A by a power of two, taken from the tail again.
void augment(const SpringRows& rows,
             const SpringStart& start,
             double c,
             double t,
             ExponentialWorkspace& work) {
  const int n = rows.size, lags = static_cast<int>(rows.lags.size()), states = 2 * n + lags,
            size = states + kTail;
  work.A.assign(static_cast<std::size_t>(size) * size, 0.0);
  work.columns.assign(static_cast<std::size_t>(size) * kMoments, 0.0);
  const auto A = [&](int i, int j) -> double& { return work.A[i * size + j]; };
  for (int i = 0; i < n; ++i) {
    A(i, n + i) = c;
    for (int j = 0; j < n; ++j) {
      const double w = rows.W[i * n + j];
      A(n + i, j) = -w * rows.K[j] / c;
      A(n + i, n + j) = -w * rows.B[j];
    }
    A(n + i, states + 1) = start.b1[i];
    A(n + i, states + 2) = start.b0[i];
    A(i, states + 3) = c * start.x[i];
    A(n + i, states + 3) = start.v[i];
  }
  for (int k = 0; k < lags; ++k) {
    const SpringRows::Lag& lag = rows.lags[k];
    A(2 * n + k, lag.row) = -lag.gain * rows.K[lag.row];
    A(2 * n + k, n + lag.row) = -c * lag.gain * rows.B[lag.row];
    A(2 * n + k, 2 * n + k) = -lag.rate;
    A(2 * n + k, states + 3) = c * start.g[k];
  }
  const auto largest_sum = [&](int first, int last) {  // of a column
    double largest = 0.0;
    for (int j = first; j < last; ++j) {
      double sum = 0.0;
      for (int i = 0; i < states; ++i) sum += std::abs(A(i, j));
      largest = std::max(largest, sum);
    }
    return largest;
  };
  const double forcing = largest_sum(states, size);
  const double scale =
      forcing > 0.0 ? power_of_two(std::max(largest_sum(0, states), 1.0) / forcing) : 1.0;
  for (int i = 0; i < states; ++i) {
    work.columns[static_cast<std::size_t>(i) * kMoments] = A(i, states + 3);
    for (int j = 0; j < size; ++j) A(i, j) *= j < states ? t : t * scale;
  }
  for (int j = 0; j + 1 < kTail; ++j) A(states + j, states + j + 1) = t;
  for (int m = 0; m < kMoments; ++m) work.columns[(states + 2 + m) * kMoments + m] = 1.0 / scale;
}

void read(const SpringRows& rows, double c, const std::vector<double>& columns, SpringMotion& m) {
  const int n = rows.size;
  for (int i = 0; i < n; ++i) {
    const double *x = columns.data() + i * kMoments, *v = x + n * kMoments;
    m.x[i] = x[0] / c;
    m.v[i] = v[0];
    double* const forces[] = {&m.u[i], &m.U1[i], &m.U2[i]};
    for (int k = 0; k < kMoments; ++k) *forces[k] = -rows.K[i] * x[k] / c - rows.B[i] * v[k];
  }
  for (std::size_t k = 0; k < rows.lags.size(); ++k) m.g[k] = columns[(2 * n + k) * kMoments] / c;
}

}  // namespace

void sample_by_exponential(const SpringRows& rows,
                           const SpringStart& start,
                           double t,
                           int count,
                           ExponentialWorkspace& work,
                           SpringMotion* motions) {
  const double c = x_scale(rows);
  const int size = 2 * rows.size + static_cast<int>(rows.lags.size()) + kTail;
  augment(rows, start, c, t / count, work);
  if (count == 1) {
    work.exponential.apply(work.A.data(), size, work.columns.data(), kMoments);
    read(rows, c, work.columns, motions[0]);
    motions[0].t = t;
    return;
  }
  work.transition.assign(work.A.size(), 0.0);
  for (int i = 0; i < size; ++i) work.transition[i * size + i] = 1.0;
  work.exponential.apply(work.A.data(), size, work.transition.data(), size);
  work.next.resize(work.columns.size());
  for (int k = 0; k < count; ++k) {
    for (int i = 0; i < size; ++i) {
      double sum[kMoments] = {};
      for (int j = 0; j < size; ++j) {
        for (int m = 0; m < kMoments; ++m)
          sum[m] += work.transition[i * size + j] * work.columns[j * kMoments + m];
      }
      std::copy(sum, sum + kMoments, work.next.begin() + i * kMoments);
    }
    std::swap(work.next, work.columns);
    read(rows, c, work.columns, motions[k]);
    motions[k].t = (k + 1) * t / count;
  }
}

}  // namespace stiction
