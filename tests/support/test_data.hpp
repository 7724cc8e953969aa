#pragma once

#include <string>

namespace stiction::test {

/// A file under tests/data.
std::string test_data(const std::string& file);

}  // namespace stiction::test
