#include "batch/thread_pool.hpp"

#include <chrono>
#include <stdexcept>
#include <unistd.h>

namespace stiction {
namespace {

constexpr std::chrono::milliseconds kWait{10};

}  // namespace

ThreadPool::ThreadPool(int parts) : parts_(parts), thrown_(parts) {}

ThreadPool::~ThreadPool() { close(); }

bool ThreadPool::forked() const { return !threads_.empty() && process_ != getpid(); }

void ThreadPool::close() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  closing_ = false;
}

void ThreadPool::start() {
  process_ = getpid();
  threads_.reserve(parts_);
  try {
    for (int part = 1; part < parts_; ++part)
      threads_.emplace_back([this, part, seen = call_] { serve(part, seen); });
  } catch (...) {  // no more threads to be had
    close();
    throw;
  }
}

/// `seen`: the calls before its first.
void ThreadPool::serve(int part, std::uint64_t seen) {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [&] { return closing_ || call_ != seen; });
    if (closing_) return;
    seen = call_;
    lock.unlock();
    do_part(part);
    lock.lock();
    if (--at_work_ == 0) done_.notify_one();
  }
}

void ThreadPool::do_part(int part) {
  try {
    work_.call(work_.object, part);
  } catch (...) {
    thrown_[part] = std::current_exception();
  }
}

void ThreadPool::run_tasks(Task work, Task waiting) {
  if (parts_ > 1 && threads_.empty()) start();
  if (forked())
    throw std::runtime_error(
        "the threads of this batch are in the process that this one was forked from: make a batch "
        "here, or take one thread");
  for (std::exception_ptr& e : thrown_) e = nullptr;
  work_ = work;
  if (parts_ > 1) {
    {
      const std::lock_guard lock(mutex_);
      at_work_ = parts_ - 1;
      ++call_;
    }
    wake_.notify_all();
  }
  do_part(0);
  std::unique_lock lock(mutex_);
  while (!done_.wait_for(lock, kWait, [this] { return at_work_ == 0; })) {
    lock.unlock();
    waiting.call(waiting.object, 0);
    lock.lock();
  }
  lock.unlock();
  for (const std::exception_ptr& e : thrown_) {
    if (e != nullptr) std::rethrow_exception(e);
  }
}

}  // namespace stiction
