#pragma once

#include <string>

namespace stiction {

/// Path of a file under the data or the robots directory of scenes.hpp. Throws std::runtime_error
/// that says where it was sought and what to do.
std::string data_file(const std::string& relative);
std::string robot_file(const std::string& relative);

}  // namespace stiction
