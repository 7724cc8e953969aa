#pragma once

#include <stdexcept>

namespace stiction {

/// How a caller ends a long computation early: asked once per factorisation, sweep and sub-step, on
/// the thread that computes. Once it has said yes it must keep to it. Nothing allocates or throws.
struct Interrupt {
  bool (*asked)(void* context) = nullptr;  ///< null: never
  void* context = nullptr;
  bool requested() const { return asked != nullptr && asked(context); }
};

/// Thrown by what was ended so and has no status to say it with: derivatives by differences.
struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};

}  // namespace stiction
