#pragma once

// Kernels on plain doubles that gain from wide registers are compiled for several instruction sets
// and chosen when the program is loaded. Contraction is off and every sum has a fixed order, so all
// clones give the same bits. Sanitizers do not support the resolver.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define STICTION_CLONES __attribute__((target_clones("default", "avx2", "arch=x86-64-v4")))
#else
#define STICTION_CLONES
#endif

namespace stiction {

/// Four doubles, lowered to whatever registers the clone has.
typedef double Quad __attribute__((vector_size(32)));
/// The same at any address.
typedef double UnalignedQuad __attribute__((vector_size(32), aligned(8), may_alias));

/// Four doubles at x, to read or to assign; references, since clones return vectors differently.
inline __attribute__((always_inline)) const UnalignedQuad& quad(const double* x) {
  return *reinterpret_cast<const UnalignedQuad*>(x);
}
inline __attribute__((always_inline)) UnalignedQuad& quad(double* x) {
  return *reinterpret_cast<UnalignedQuad*>(x);
}

/// Eight doubles, in the same manner.
typedef double Octo __attribute__((vector_size(64)));
typedef double UnalignedOcto __attribute__((vector_size(64), aligned(8), may_alias));

inline __attribute__((always_inline)) const UnalignedOcto& octo(const double* x) {
  return *reinterpret_cast<const UnalignedOcto*>(x);
}
inline __attribute__((always_inline)) UnalignedOcto& octo(double* x) {
  return *reinterpret_cast<UnalignedOcto*>(x);
}

}  // namespace stiction
