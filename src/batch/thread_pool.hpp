#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <sys/types.h>
#include <thread>
#include <vector>

namespace stiction {

/// Threads that wait for work between calls. The caller's thread does part 0 itself. They start
/// with the first call.
class ThreadPool {
 public:
  explicit ThreadPool(int parts);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int parts() const { return parts_; }
  /// Whether this process was forked from the one that has the threads: the pool can then neither
  /// work nor end, only be forgotten.
  bool forked() const;
  /// work(part) for each part, all at a time; `waiting()` every few milliseconds by the caller
  /// while the others are at work. Throws what the lowest part threw, when all have ended. Throws
  /// std::runtime_error in a process forked from the one that started the threads: they are not
  /// in it.
  template <class Work, class Waiting>
  void run(Work&& work, Waiting&& waiting) {
    run_tasks(task(work, [](auto& w, int part) { w(part); }),
              task(waiting, [](auto& w, int) { w(); }));
  }

 private:
  struct Task {
    void* object = nullptr;
    void (*call)(void* object, int part) = nullptr;
  };
  template <class F, class Call>
  static Task task(F& f, Call) {
    return {const_cast<void*>(static_cast<const void*>(&f)),
            [](void* object, int part) { Call{}(*static_cast<F*>(object), part); }};
  }
  void run_tasks(Task work, Task waiting);
  void start();
  void serve(int part, std::uint64_t seen);
  void close();
  void do_part(int part);

  int parts_;
  pid_t process_ = 0;  ///< that has the threads
  std::vector<std::thread> threads_;
  std::vector<std::exception_ptr> thrown_;  ///< [parts]
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  Task work_;
  std::uint64_t call_ = 0;  ///< raised to wake the threads
  int at_work_ = 0;
  bool closing_ = false;
};

}  // namespace stiction
