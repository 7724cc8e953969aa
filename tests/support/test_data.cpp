#include "test_data.hpp"

namespace stiction::test {

std::string test_data(const std::string& file) { return STICTION_TEST_DATA "/" + file; }

}  // namespace stiction::test
