#pragma once

namespace stiction {

/// Numbers [n] of one world to its lane of a pack's, and back; `lane`: the first of them there.
inline void scatter(const double* from, int n, int width, double* lane) {
  for (int k = 0; k < n; ++k) lane[k * width] = from[k];
}
inline void gather(const double* lane, int n, int width, double* to) {
  for (int k = 0; k < n; ++k) to[k] = lane[k * width];
}

}  // namespace stiction
