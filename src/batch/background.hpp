#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <sys/types.h>
#include <thread>
#include <utility>

namespace stiction {

/// A thread that does the same work whenever it is told, while its owner goes on. It starts with
/// the first time.
class Background {
 public:
  explicit Background(std::function<void()> work) : work_(std::move(work)) {}
  ~Background();  ///< waits for work that is under way
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  /// Only after wait() of the time before. Throws std::runtime_error in a process forked from the
  /// one that has the thread.
  void start();
  bool started() const { return started_; }  ///< and not yet waited for
  /// Until the work has ended; `waiting()` every few milliseconds by the caller. Throws what the
  /// work threw, and as start() in a forked process, whose work never ends.
  template <class Waiting>
  void wait(Waiting&& waiting) {
    check_process();
    std::unique_lock lock(mutex_);
    while (!done_.wait_for(lock, kPoll, [this] { return !busy_; })) {
      lock.unlock();
      waiting();
      lock.lock();
    }
    started_ = false;
    if (thrown_ != nullptr) std::rethrow_exception(std::exchange(thrown_, nullptr));
  }
  /// Whether this process was forked from the one that has the thread: it can only be forgotten.
  bool forked() const;

 private:
  void check_process() const;
  void serve();

  static constexpr std::chrono::milliseconds kPoll{10};
  std::function<void()> work_;
  std::thread thread_;
  pid_t process_ = 0;  ///< that has the thread
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::exception_ptr thrown_;
  bool started_ = false;  ///< the owner's
  bool busy_ = false, closing_ = false;
};

}  // namespace stiction
