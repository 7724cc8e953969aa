#include "solver/ncp_newton/cone_planes.hpp"

#include "math/clones.hpp"
#include "solver/common/lorentz.hpp"

#include <algorithm>
#include <cmath>

namespace stiction::cone_planes {
namespace {

struct Vector {
  double x[kRows];
};

inline __attribute__((always_inline)) Vector at(const double* planes, int count, int i) {
  return {{planes[i], planes[count + i], planes[2 * count + i]}};
}
inline __attribute__((always_inline)) void put(const Vector& v, double* planes, int count, int i) {
  for (int r = 0; r < kRows; ++r) planes[r * count + i] = v.x[r];
}

/// out = W v, or W^-1 v with sign -1 and 1 / beta.
inline __attribute__((always_inline)) Vector apply(const Vector& w,
                                                   double sign,
                                                   double factor,
                                                   const Vector& v) {
  const double a = sign * (w.x[0] * v.x[0] + w.x[1] * v.x[1]);
  const double k = sign * (a / (1.0 + w.x[2]) + v.x[2]);
  return {{factor * (v.x[0] + w.x[0] * k),
           factor * (v.x[1] + w.x[1] * k),
           factor * (a + w.x[2] * v.x[2])}};
}

inline __attribute__((always_inline)) Vector product(const Vector& a, const Vector& b) {
  return {{a.x[2] * b.x[0] + b.x[2] * a.x[0],
           a.x[2] * b.x[1] + b.x[2] * a.x[1],
           a.x[0] * b.x[0] + a.x[1] * b.x[1] + a.x[2] * b.x[2]}};
}

inline __attribute__((always_inline)) double tangent(const Vector& v) {
  return std::sqrt(v.x[0] * v.x[0] + v.x[1] * v.x[1]);
}
inline __attribute__((always_inline)) double det(const Vector& v) {
  const double t = tangent(v);
  return (v.x[2] - t) * (v.x[2] + t);
}

}  // namespace

STICTION_CLONES void scale(
    int count, const double* l, const double* y, double slip, const Scalings& out) {
  double *w = out.w, *beta = out.beta, *p = out.p;
#pragma GCC ivdep
  for (int i = 0; i < count; ++i) {
    const Vector a = at(l, count, i), b = at(y, count, i);
    const double dl = std::sqrt(det(a)), dy = std::sqrt(det(b));
    const Vector z{{a.x[0] / dl, a.x[1] / dl, a.x[2] / dl}};
    const Vector s{{b.x[0] / dy, b.x[1] / dy, b.x[2] / dy}};
    const double inner = s.x[0] * z.x[0] + s.x[1] * z.x[1] + s.x[2] * z.x[2];
    const double k = 0.5 / std::sqrt(0.5 * (1.0 + inner));
    put({{k * (s.x[0] - z.x[0]), k * (s.x[1] - z.x[1]), k * (s.x[2] + z.x[2])}}, w, count, i);
    beta[i] = std::sqrt(dy / dl);
    const double norm = std::sqrt(b.x[0] * b.x[0] + b.x[1] * b.x[1] + slip * slip);
    p[i] = b.x[0] / norm;
    p[count + i] = b.x[1] / norm;
  }
}

STICTION_CLONES void blocks(int count, const Scalings& W, double* out) {
  const double *planes = W.w, *beta = W.beta, *p = W.p;
#pragma GCC ivdep
  for (int i = 0; i < count; ++i) {
    const Vector w = at(planes, count, i);
    const double scale = beta[i] * beta[i];
    for (int c = 0; c < kRows; ++c) {
      Vector column;
      for (int r = 0; r < kRows; ++r) {
        const double unit = r != c ? 0.0 : r == 2 ? -1.0 : 1.0;
        column.x[r] = scale * (2.0 * w.x[r] * w.x[c] + unit);
      }
      column.x[2] -= p[i] * column.x[0] + p[count + i] * column.x[1];
      for (int r = 0; r < kRows; ++r) out[(kRows * r + c) * count + i] = column.x[r];
    }
  }
}

STICTION_CLONES void inverse_blocks(int count, const Scalings& W, double* out) {
  const double *planes = W.w, *beta = W.beta, *p = W.p;
#pragma GCC ivdep
  for (int i = 0; i < count; ++i) {
    const Vector w = at(planes, count, i), v{{-w.x[0], -w.x[1], w.x[2]}};
    const double scale = 1.0 / (beta[i] * beta[i]);
    for (int r = 0; r < kRows; ++r) {
      Vector row;
      for (int c = 0; c < kRows; ++c) {
        const double unit = r != c ? 0.0 : r == 2 ? -1.0 : 1.0;
        row.x[c] = scale * (2.0 * v.x[r] * v.x[c] + unit);
      }
      row.x[0] += row.x[2] * p[i];
      row.x[1] += row.x[2] * p[count + i];
      for (int c = 0; c < kRows; ++c) out[(kRows * r + c) * count + i] = row.x[c];
    }
  }
}

STICTION_CLONES void times(int count, const double* A, const double* x, double* out) {
#pragma GCC ivdep
  for (int i = 0; i < count; ++i) {
    const Vector v = at(x, count, i);
    Vector sum;
    for (int r = 0; r < kRows; ++r) {
      const double* row = A + static_cast<long>(kRows * r) * count + i;
      sum.x[r] = row[0] * v.x[0] + row[count] * v.x[1] + row[2 * count] * v.x[2];
    }
    put(sum, out, count, i);
  }
}

STICTION_CLONES void aim(int count,
                         const Scalings& W,
                         const double* l,
                         const Predictor& predictor,
                         const double* r,
                         double centre,
                         double share,
                         double* d,
                         double* b) {
  const double *planes = W.w, *beta = W.beta, *p = W.p, *pl = predictor.l, *py = predictor.y;
  const bool corrected = pl != nullptr;
  if (!corrected) pl = py = l;
#pragma GCC ivdep
  for (int i = 0; i < count; ++i) {
    const Vector w = at(planes, count, i);
    const Vector z = apply(w, 1.0, beta[i], at(l, count, i));
    const Vector u = apply(w, 1.0, beta[i], at(pl, count, i));
    const Vector v = apply(w, -1.0, 1.0 / beta[i], at(py, count, i));
    const Vector zz = product(z, z), uv = product(u, v);
    Vector q;
    for (int k = 0; k < kRows; ++k) q.x[k] = -zz.x[k] - (corrected ? uv.x[k] : 0.0);
    q.x[2] += centre;
    const double n = (z.x[2] * q.x[2] - z.x[0] * q.x[0] - z.x[1] * q.x[1]) / det(z);
    const Vector ratio{{(q.x[0] - n * z.x[0]) / z.x[2], (q.x[1] - n * z.x[1]) / z.x[2], n}};
    const Vector a = apply(w, 1.0, beta[i], ratio);
    put(a, d, count, i);
    const double along = p[i] * a.x[0] + p[count + i] * a.x[1];
    const Vector residual = at(r, count, i);
    put({{a.x[0] - share * residual.x[0],
          a.x[1] - share * residual.x[1],
          a.x[2] - along - share * residual.x[2]}},
        b,
        count,
        i);
  }
}

STICTION_CLONES void finish(
    int count, const Scalings& W, const double* d, const double* dl, double* dy) {
  const double *planes = W.w, *beta = W.beta;
#pragma GCC ivdep
  for (int i = 0; i < count; ++i) {
    const Vector w = at(planes, count, i), x = at(dl, count, i), a = at(d, count, i);
    const double scale = beta[i] * beta[i];
    const double along = 2.0 * (w.x[0] * x.x[0] + w.x[1] * x.x[1] + w.x[2] * x.x[2]);
    put({{a.x[0] - scale * (along * w.x[0] + x.x[0]),
          a.x[1] - scale * (along * w.x[1] + x.x[1]),
          a.x[2] - scale * (along * w.x[2] - x.x[2])}},
        dy,
        count,
        i);
  }
}

namespace {

STICTION_CLONES void longest_steps(
    int count, const double* x, const double* dx, double limit, double* out) {
#pragma GCC ivdep
  for (int i = 0; i < count; ++i) {
    const Vector p = at(x, count, i), d = at(dx, count, i);
    const double a = det(d), c = det(p);
    const double b = p.x[2] * d.x[2] - p.x[0] * d.x[0] - p.x[1] * d.x[1];
    const double discriminant = b * b - a * c;
    const double divisor = std::sqrt(discriminant < 0.0 ? 0.0 : discriminant) - b;
    const double inside = c > 0.0 ? c : 0.0;
    const double step = inside / (divisor > 0.0 ? divisor : 1.0);
    const bool free = discriminant < 0.0 || !(divisor > 0.0) || step > limit;
    out[i] = free ? limit : step;
  }
}

STICTION_CLONES void pairs(int count,
                           const double* l,
                           const double* dl,
                           const double* y,
                           const double* dy,
                           double alpha,
                           double* inner,
                           double* least) {
#pragma GCC ivdep
  for (int i = 0; i < count; ++i) {
    Vector a = at(l, count, i), b = at(y, count, i);
    const Vector da = at(dl, count, i), db = at(dy, count, i);
    for (int r = 0; r < kRows; ++r) {
      a.x[r] += alpha * da.x[r];
      b.x[r] += alpha * db.x[r];
    }
    const double dot = a.x[0] * b.x[0] + a.x[1] * b.x[1] + a.x[2] * b.x[2];
    const double both = det(a) * det(b), rest = dot * dot - both;
    const double sum = dot + std::sqrt(rest > 0.0 ? rest : 0.0);
    inner[i] = dot;
    least[i] = both / (sum > 1e-300 ? sum : 1e-300);
  }
}

STICTION_CLONES void subtract(
    int count, const double* y, const double* g, double* r, double* largest) {
#pragma GCC ivdep
  for (int i = 0; i < count; ++i) {
    const Vector v = at(y, count, i), free = at(g, count, i);
    Vector c = at(r, count, i);
    const double slip = tangent(v);
    for (int k = 0; k < kRows; ++k) c.x[k] += free.x[k] - v.x[k];
    c.x[2] += slip;
    put(c, r, count, i);
    double most = 0.0;
    for (int k = 0; k < kRows; ++k) {
      const double size = c.x[k] < 0.0 ? -c.x[k] : c.x[k];
      most = size > most ? size : most;
    }
    largest[i] = most;
  }
}

}  // namespace

double longest_step(int count, const double* x, const double* dx, double limit, double* scratch) {
  longest_steps(count, x, dx, limit, scratch);
  for (int i = 0; i < count; ++i) limit = std::min(limit, scratch[i]);
  return limit;
}

double worst_pair(int count,
                  const double* l,
                  const double* dl,
                  const double* y,
                  const double* dy,
                  double alpha,
                  double* sum,
                  double* scratch) {
  pairs(count, l, dl, y, dy, alpha, scratch, scratch + count);
  double worst = INFINITY;
  *sum = 0.0;
#pragma GCC ivdep
  for (int i = 0; i < count; ++i) {
    *sum += scratch[i];
    worst = std::min(worst, scratch[count + i]);
  }
  return worst;
}

double subtract_velocity(int count, const double* y, const double* g, double* r, double* scratch) {
  subtract(count, y, g, r, scratch);
  double largest = 0.0;
#pragma GCC ivdep
  for (int i = 0; i < count; ++i) {
    if (!(scratch[i] <= largest)) largest = scratch[i];  // NaN included
  }
  return largest;
}

}  // namespace stiction::cone_planes
