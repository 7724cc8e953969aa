#include "batch/background.hpp"

#include <stdexcept>
#include <unistd.h>

namespace stiction {

bool Background::forked() const { return thread_.joinable() && process_ != getpid(); }

Background::~Background() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Background::check_process() const {
  if (!forked()) return;
  throw std::runtime_error(
      "the threads of this batch are in the process that this one was forked from: make a batch "
      "here");
}

void Background::start() {
  check_process();
  if (!thread_.joinable()) {
    process_ = getpid();
    thread_ = std::thread([this] { serve(); });
  }
  {
    const std::lock_guard lock(mutex_);
    busy_ = true;
  }
  started_ = true;
  wake_.notify_all();
}

void Background::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return busy_ || closing_; });
    if (!busy_) return;
    lock.unlock();
    std::exception_ptr thrown;
    try {
      work_();
    } catch (...) {
      thrown = std::current_exception();
    }
    lock.lock();
    thrown_ = thrown;
    busy_ = false;
    done_.notify_all();
  }
}

}  // namespace stiction
