#include "solver/common/work_account.hpp"

namespace stiction {

void WorkAccount::allow(int rows, double pass) {
  if (by_formula_) most_ = std::max(most_, work_of_step(rows));
  safe_ = std::max(safe_, kSafePasses * pass);
  set_ceiling();
}

void WorkAccount::keep(double share) {
  kept_ = share;
  set_ceiling();
}

void WorkAccount::set_ceiling() {
  ceiling_ = kUnbounded;
  if (most_ < kUnbounded) ceiling_ = most_ - std::min(safe_, kSafeShare * most_) - kept_ * most_;
}

bool WorkAccount::take(double multiplications) {
  if (!affords(multiplications) || out_of_time()) {
    refused_ = true;
    return false;
  }
  spent_ += multiplications;
  return true;
}

bool WorkAccount::factor(double multiplications) {
  if (!take(multiplications)) return false;
  ++factorisations;
  return true;
}

WorkAccount::Scope::Scope(WorkAccount& account, const SolverSettings& settings)
    : account_(account), opened_(!account.is_open()) {
  constexpr double kForever = 1e9;  // [s]; what counts nanoseconds overflows beyond
  if (!opened_) return;
  account = {};
  account.open_ = true;
  account.by_formula_ = settings.max_work == 0.0;
  account.most_ = account.by_formula_ ? 0.0 : settings.max_work;
  account.ceiling_ = account.most_;
  account.timed_ = settings.time_budget > 0.0 && settings.time_budget < kForever;
  if (!account.timed_) return;
  const Clock::time_point now = Clock::now();
  const auto after = [&](double share) {
    const std::chrono::duration<double> allowed(share * settings.time_budget);
    return now + std::chrono::duration_cast<Clock::duration>(allowed);
  };
  account.deadline_ = after(1.0 - kSafeShare);
  account.end_ = after(1.0);
}

/// What is closed stands in nobody's way; the bound can still be asked for.
WorkAccount::Scope::~Scope() {
  if (!opened_) return;
  account_.open_ = account_.timed_ = false;
  account_.ceiling_ = kUnbounded;
}

WorkAccount::Share::Share(WorkAccount& account, double kept)
    : account_(account), ceiling_(account.ceiling_) {
  account.refused_ = false;
  if (account.ceiling_ == kUnbounded) return;
  account.ceiling_ = std::min(account.ceiling_, std::max(account.spent_, account.ceiling_ - kept));
}

WorkAccount::Safe::Safe(WorkAccount& account)
    : account_(account), ceiling_(account.ceiling_), deadline_(account.deadline_) {
  account.ceiling_ = account.most_;
  account.deadline_ = account.end_;
}

WorkAccount::Safe::~Safe() {
  account_.ceiling_ = ceiling_;
  account_.deadline_ = deadline_;
}

}  // namespace stiction
