#include "batch/foot_heights_impl.hpp"

namespace stiction {

FootHeights foot_heights_avx512();
FootHeights foot_heights_avx512() { return foot_heights_of<Pack<8>>; }

}  // namespace stiction
