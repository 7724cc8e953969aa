#pragma once

#include <cassert>

/// An invariant of the library's own: what no input may break, as the bounds of raw indices.
/// Checked unless NDEBUG is defined: by the presets dev, asan and tsan, not in Release. Mistakes of
/// a caller are exceptions, trouble with numbers is a status.
#ifdef NDEBUG
#define STICTION_ASSERT(...) static_cast<void>(sizeof(static_cast<bool>(__VA_ARGS__)))
#else
#define STICTION_ASSERT(...) assert((__VA_ARGS__))
#endif
