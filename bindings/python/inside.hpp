#pragma once

#include "stiction/solver/interrupt.hpp"

#include "common.hpp"

#include <atomic>

// What holds while a computation runs without Python's lock: who is inside, what may not be touched
// from outside, and signals. Everything here is entered and left with the lock held.

namespace stiction::python {

/// Ctrl-C and other signals during a computation: every 50 ms of it Python's handlers are asked, on
/// the main thread, where alone they run. One that raises ends the computation.
class SignalPoll {
 public:
  void begin();
  /// Throws what a handler raised.
  void end();
  Interrupt interrupt() { return {&SignalPoll::asked, this}; }

 private:
  static bool asked(void* self);
  bool active_ = false, raised_ = false;
  long next_ = 0;  ///< [ns]
};

/// What keeps a second call out of a simulator.
struct Occupancy {
  std::atomic<const char*> caller{nullptr};  ///< "Simulator.run"
  unsigned long thread = 0;
  bool awaited = false;  ///< the call inside has returned, and wait() ends it
  SignalPoll signals;
};

/// One call is inside a simulator. A second one raises StictionError naming both, whichever thread
/// it comes from.
class Inside {
 public:
  Inside(Occupancy& occupancy, const char* caller);
  ~Inside() {
    occupancy_.awaited = false;
    occupancy_.caller.store(nullptr, std::memory_order_release);
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  /// Raises what a signal's handler raised meanwhile, e.g. KeyboardInterrupt.
  void raise_signals() { occupancy_.signals.end(); }
  /// work() while other Python threads run, and then raise_signals().
  template <class Work>
  void without_lock(Work&& work) {
    try {
      const AllowThreads free;
      work();
    } catch (const Interrupted&) {  // by such a handler
    }
    raise_signals();
  }

 private:
  Occupancy& occupancy_;
};

/// While it lives `object` is used by `caller`: others may not change it, and if it `writes`, not
/// read more of it than numbers.
class Pin {
 public:
  Pin(const void* object, const char* caller, bool writes);
  ~Pin();
  Pin(const Pin&) = delete;
  Pin& operator=(const Pin&) = delete;

 private:
  const void* object_;
};

/// Whether a computation uses it.
bool is_pinned(const void* object);
/// Raises StictionError if a computation uses it: `what` is "State.time".
void before_changing(const void* object, const char* what);
/// Raises StictionError if a computation writes it.
void before_reading(const void* object, const char* what);

}  // namespace stiction::python
