#pragma once

namespace stiction::test {

/// Heap allocations of this program so far: operator new and, through it, the containers; Eigen's
/// own calls go through malloc, which allocation_guard.cpp wraps in programs that ask.
long& allocation_count();

}  // namespace stiction::test
