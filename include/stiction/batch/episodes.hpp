#pragma once

#include "stiction/batch/batch.hpp"

namespace stiction {

/// What an environment keeps of the episodes of its worlds, row by row.
struct EpisodeArrays {
  int actions;            ///< of a world
  double* action;         ///< [worlds, actions] the last one
  std::int64_t* steps;    ///< [worlds] of the episode
  std::int64_t* episode;  ///< [worlds] begun, less one
  std::uint8_t* waiting;  ///< [worlds] for the reset of "NextStep"
};
/// What a step of all worlds ended, [worlds] each.
struct EpisodeEnds {
  std::uint8_t *terminated, *truncated, *ended;
};

/// Into `action`, each cut to [-limit, limit], of all worlds; one more step of the episodes that
/// do not wait. Returns the index of the first action that is not finite, and then nothing is
/// changed; else -1.
template <class Real>
std::ptrdiff_t take_actions(const Batch& batch,
                            const EpisodeArrays& of,
                            const Real* actions,
                            double limit);

/// After the steps of the worlds that do not wait: those that fell or are frozen are terminated,
/// others after `episode_steps` truncated; the reward of frozen and waiting worlds is 0. Returns
/// how many ended.
int end_episodes(Batch& batch,
                 const EpisodeArrays& of,
                 std::int64_t episode_steps,
                 const std::uint8_t* fell,
                 double* reward,
                 const EpisodeEnds& out);

/// The counts of a next episode of the worlds of the mask.
void begin_episodes(const Batch& batch, const EpisodeArrays& of, const std::uint8_t* mask);

}  // namespace stiction
