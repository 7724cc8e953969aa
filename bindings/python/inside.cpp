#include "inside.hpp"

#include <algorithm>
#include <string_view>
#include <time.h>

namespace stiction::python {
namespace {

struct Pinned {
  const void* object;
  const char* caller;
  bool writes;
};

/// Guarded by Python's lock.
std::vector<Pinned>& pinned() {
  static std::vector<Pinned> all;
  return all;
}

/// Null: not pinned.
const Pinned* find_pinned(const void* object, bool writes) {
  for (const Pinned& p : pinned()) {
    if (p.object == object && (p.writes || !writes)) return &p;
  }
  return nullptr;
}

/// Only a Simulator has a snapshot(), which another thread may take while it steps.
bool has_snapshot(std::string_view caller) { return caller.starts_with("Simulator"); }

[[noreturn]] void raise_in_use(const char* what, const Pinned& pin) {
  const std::string advice = has_snapshot(pin.caller) ? "take a copy() for it, or look at "
                                                        "sim.snapshot()"
                                                      : "or take a copy() for it";
  raise_stiction_error((std::string(what) + ": in use by " + pin.caller +
                        ", which is under way; wait for its end, " + advice)
                           .c_str());
}

bool on_main_thread() {
  static const unsigned long main =
      bp::extract<unsigned long>(bp::import("threading").attr("main_thread")().attr("ident"));
  return PyThread_get_thread_ident() == main;
}

/// [ns], good to a few milliseconds and quick to read.
long coarse_time() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  return t.tv_sec * 1000000000L + t.tv_nsec;
}

constexpr long kInterval = 50000000;  // [ns]

}  // namespace

void SignalPoll::begin() {
  raised_ = false;
  active_ = on_main_thread();
  if (active_) next_ = coarse_time() + kInterval;
}

void SignalPoll::end() {
  active_ = false;
  if (raised_) throw bp::error_already_set();
}

bool SignalPoll::asked(void* self) {
  auto& poll = *static_cast<SignalPoll*>(self);
  if (poll.raised_ || !poll.active_) return poll.raised_;
  const long now = coarse_time();
  if (now < poll.next_) return false;
  const PyGILState_STATE lock = PyGILState_Ensure();
  poll.raised_ = PyErr_CheckSignals() != 0;
  PyGILState_Release(lock);
  poll.next_ = coarse_time() + kInterval;
  return poll.raised_;
}

Inside::Inside(Occupancy& occupancy, const char* caller) : occupancy_(occupancy) {
  const char* other = nullptr;
  if (!occupancy.caller.compare_exchange_strong(other, caller, std::memory_order_acquire)) {
    if (occupancy.awaited)
      raise_stiction_error(
          (std::string(caller) + ": " + other + " is under way: call wait() first").c_str());
    const bool same = occupancy.thread == PyThread_get_thread_ident();
    const char* advice = same                  ? ", which called a signal handler"
                         : has_snapshot(other) ? "; use sim.snapshot()"
                                               : ": wait for its end";
    raise_stiction_error((std::string(caller) + ": " + (same ? "this thread" : "another thread") +
                          " is inside " + other + advice)
                             .c_str());
  }
  occupancy.thread = PyThread_get_thread_ident();
  occupancy.signals.begin();
}

Pin::Pin(const void* object, const char* caller, bool writes) : object_(object) {
  if (const Pinned* other = find_pinned(object, !writes)) raise_in_use(caller, *other);
  pinned().push_back({object, caller, writes});
}

Pin::~Pin() {
  auto& all = pinned();
  const auto mine = [this](const Pinned& p) { return p.object == object_; };
  // Any pin of the same object will do: several of them only read.
  const auto it = std::find_if(all.rbegin(), all.rend(), mine);
  if (it != all.rend()) all.erase(std::next(it).base());
}

bool is_pinned(const void* object) { return find_pinned(object, false) != nullptr; }

void before_changing(const void* object, const char* what) {
  if (const Pinned* pin = find_pinned(object, false)) raise_in_use(what, *pin);
}

void before_reading(const void* object, const char* what) {
  if (const Pinned* pin = find_pinned(object, true)) raise_in_use(what, *pin);
}

}  // namespace stiction::python
