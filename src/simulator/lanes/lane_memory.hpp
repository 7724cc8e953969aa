#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

namespace stiction {

/// Doubles aligned for any lane type; zero.
class LaneMemory {
 public:
  LaneMemory() = default;
  explicit LaneMemory(std::size_t doubles);
  double* data() { return data_.get(); }
  const double* data() const { return data_.get(); }

 private:
  struct Free {
    void operator()(double* x) const { std::free(x); }
  };
  std::unique_ptr<double[], Free> data_;
};

}  // namespace stiction
