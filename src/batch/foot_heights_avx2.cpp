#include "batch/foot_heights_impl.hpp"

namespace stiction {

FootHeights foot_heights_avx2();
FootHeights foot_heights_avx2() { return foot_heights_of<Pack<4>>; }

}  // namespace stiction
