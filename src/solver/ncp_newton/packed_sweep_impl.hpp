#pragma once

#include "math/clones.hpp"
#include "solver/common/pgs_kernel.hpp"
#include "solver/ncp_newton/packed_sweep.hpp"

// The sweep by W lanes at a time, compiled once per instruction set. No body is twice in a pack, so
// that parts of one may follow each other: W changes no bit.

namespace stiction {
namespace {

using namespace contact_pack;

template <int W>
inline Pack<W> load(const double* x) {
  Pack<W> out;
  __builtin_memcpy(&out.v, x, sizeof out.v);
  return out;
}
template <int W>
inline void store(double* x, Pack<W> value) {
  __builtin_memcpy(x, &value.v, sizeof value.v);
}

/// The motions of W bodies, a coordinate in each pack: gather(u, body, out) and scatter(in, body,
/// u). Each instruction set has its own.
template <int W>
struct Motions;

/// sum_m z_m u_m of one row; even and odd coordinates by themselves.
template <int W>
inline Pack<W> product(const double* z, const Pack<W> (&u)[kCoordinates]) {
  Pack<W> even = load<W>(z) * u[0], odd = load<W>(z + kLanes) * u[1];
  for (int m = 2; m < kCoordinates; m += 2) {
    even += load<W>(z + kLanes * m) * u[m];
    odd += load<W>(z + kLanes * (m + 1)) * u[m + 1];
  }
  return even + odd;
}

template <int W>
inline void push(const double* z, const Pack<W> (&d)[kRows], Pack<W> (&u)[kCoordinates]) {
  for (int m = 0; m < kCoordinates; ++m) {
    Pack<W> sum = load<W>(z + kLanes * m) * d[0];
    for (int r = 1; r < kRows; ++r) sum += load<W>(z + kLanes * (kCoordinates * r + m)) * d[r];
    u[m] += sum;
  }
}

template <int W>
inline void sweep_lanes(const double* rows,
                        const double* constants,
                        const int* body,
                        double* impulse,
                        double* change,
                        double* u) {
  constexpr int kRow = kLanes * kCoordinates, kSide = kRows * kRow;
  Pack<W> a[kCoordinates], b[kCoordinates], l[kRows], d[kRows], c[kRows];
  Motions<W>::gather(u, body, a);
  Motions<W>::gather(u, body + kLanes, b);
  for (int r = 0; r < kRows; ++r) {
    l[r] = load<W>(impulse + kLanes * r);
    c[r] = (load<W>(constants + kLanes * (kFreeVelocity + r)) +
            load<W>(constants + kLanes * (kCompliance + r)) * l[r]) +
           (product<W>(rows + kRow * r, a) + product<W>(rows + kSide + kRow * r, b));
    d[r] = l[r];
  }
  ConeStep<Pack<W>> step;
  for (int k = 0; k < 6; ++k) step.inverse[k] = load<W>(constants + kLanes * k);
  step.inverse_normal = load<W>(constants + kLanes * 6);
  step.inverse_tangent = load<W>(constants + kLanes * 7);
  step.g_tn[0] = load<W>(constants + kLanes * 8);
  step.g_tn[1] = load<W>(constants + kLanes * 9);
  update_cone(step, load<W>(constants + kLanes * kFriction), c, l);
  for (int r = 0; r < kRows; ++r) {
    d[r] = l[r] - d[r];
    store<W>(impulse + kLanes * r, l[r]);
    store<W>(change + kLanes * r, d[r]);
  }
  push<W>(rows, d, a);
  push<W>(rows + kSide, d, b);
  Motions<W>::scatter(a, body, u);
  Motions<W>::scatter(b, body + kLanes, u);
}

template <int W>
void sweep_packs(int packs,
                 const double* rows,
                 const double* constants,
                 const int* body,
                 double* impulse,
                 double* change,
                 double* u) {
  for (int p = 0; p < packs; ++p) {
    for (int h = 0; h < kLanes; h += W)
      sweep_lanes<W>(rows + h, constants + h, body + h, impulse + h, change + h, u);
    rows += kPackRows;
    constants += kPackConstants;
    body += 2 * kLanes;
    impulse += kPackImpulses;
    change += kPackImpulses;
  }
}

}  // namespace
}  // namespace stiction
