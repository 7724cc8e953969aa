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
typedef double UnalignedQuad __attribute__((vector_size(32), aligned(8)));

}  // namespace stiction
