#include "stiction/batch/episodes.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

namespace stiction {
namespace {

/// The first of n numbers that is not finite, else n.
template <class Real>
std::ptrdiff_t first_not_finite(const Real* x, std::ptrdiff_t n) {
  bool bad = false;
  for (std::ptrdiff_t k = 0; k < n; ++k)
    bad |= !(std::abs(x[k]) <= std::numeric_limits<Real>::max());
  if (!bad) return n;
  return std::find_if_not(x, x + n, [](Real a) { return std::isfinite(a); }) - x;
}

}  // namespace

template <class Real>
std::ptrdiff_t take_actions(const Batch& batch,
                            const EpisodeArrays& of,
                            const Real* actions,
                            double limit) {
  const std::ptrdiff_t m = of.actions, all = batch.worlds() * m;
  std::atomic<std::ptrdiff_t> bad{all};
  batch.each_range([&](int from, int to) {
    const std::ptrdiff_t count = (to - from) * m, k = first_not_finite(actions + from * m, count);
    if (k == count) return;
    std::ptrdiff_t lowest = bad;
    while (from * m + k < lowest && !bad.compare_exchange_weak(lowest, from * m + k)) {
    }
  });
  if (bad < all) return bad;
  batch.each_range([&](int from, int to) {
    for (std::ptrdiff_t k = from * m; k < to * m; ++k)
      of.action[k] = std::clamp(static_cast<double>(actions[k]), -limit, limit);
    for (int world = from; world < to; ++world) of.steps[world] += of.waiting[world] == 0;
  });
  return -1;
}
template std::ptrdiff_t take_actions(const Batch&, const EpisodeArrays&, const float*, double);
template std::ptrdiff_t take_actions(const Batch&, const EpisodeArrays&, const double*, double);

int end_episodes(Batch& batch,
                 const EpisodeArrays& of,
                 std::int64_t episode_steps,
                 const std::uint8_t* fell,
                 double* reward,
                 const EpisodeEnds& out) {
  constexpr auto kFrozen = static_cast<std::uint8_t>(StepStatus::kNotFinite);
  const std::uint8_t* status = batch.arrays().status;
  std::atomic<int> count{0};
  batch.each_range([&](int from, int to) {
    int ended = 0;
    for (int world = from; world < to; ++world) {
      const bool moved = of.waiting[world] == 0, frozen = status[world] == kFrozen;
      const bool failed = moved && (fell[world] != 0 || frozen);
      const bool late = moved && !failed && of.steps[world] >= episode_steps;
      out.terminated[world] = failed;
      out.truncated[world] = late;
      out.ended[world] = failed || late;
      ended += failed || late;
      if (frozen || !moved) reward[world] = 0.0;
    }
    count += ended;
  });
  return count;
}

void begin_episodes(const Batch& batch, const EpisodeArrays& of, const std::uint8_t* mask) {
  batch.each_world(mask, [&](std::ptrdiff_t world) {
    ++of.episode[world];
    of.steps[world] = 0;
    of.waiting[world] = 0;
    std::fill_n(of.action + world * of.actions, of.actions, 0.0);
  });
}

}  // namespace stiction
