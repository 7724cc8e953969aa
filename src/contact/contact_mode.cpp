#include "stiction/contact/contact_mode.hpp"

namespace stiction {

const char* to_string(ContactMode mode) {
  switch (mode) {
    case ContactMode::kOpen:
      return "open";
    case ContactMode::kStick:
      return "stick";
    case ContactMode::kSlide:
      return "slide";
  }
  return "unknown";
}

}  // namespace stiction
