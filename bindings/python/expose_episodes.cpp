#include "stiction/batch/episodes.hpp"

#include "batch_holder.hpp"
#include "given_rows.hpp"

// The counts of stiction.envs.BatchEnv.

namespace stiction::python {
namespace {

using Holder = BatchHolder;

/// action, steps, episode, waiting.
EpisodeArrays arrays_of(const Holder& batch, const bp::tuple& given) {
  const long n = batch.worlds();
  const int columns = static_cast<int>(bp::len(given[0].attr("T")));
  return {columns,
          checked<double>(given[0], "action", n, columns),
          checked<std::int64_t>(given[1], "steps", n, 0),
          checked<std::int64_t>(given[2], "episode", n, 0),
          checked<std::uint8_t>(given[3], "waiting", n, 0)};
}

template <class Real>
std::ptrdiff_t take(Holder& batch, const bp::tuple& given, const bp::object& actions, double cut) {
  const Inside inside(batch.occupancy, "step");
  const EpisodeArrays arrays = arrays_of(batch, given);
  const Real* x = checked<Real>(actions, "actions", batch.worlds(), arrays.actions, false);
  return with_stiction_errors([&] {
    const AllowThreads free;
    return take_actions(batch, arrays, x, cut);
  });
}

std::ptrdiff_t take_any(Holder& batch,
                        const bp::tuple& given,
                        const bp::object& actions,
                        double cut) {
  const bool single = PyArray_Check(actions.ptr()) &&
                      PyArray_TYPE(reinterpret_cast<PyArrayObject*>(actions.ptr())) == NPY_FLOAT;
  return single ? take<float>(batch, given, actions, cut)
                : take<double>(batch, given, actions, cut);
}

int end(Holder& batch,
        const bp::tuple& given,
        std::int64_t episode_steps,
        const bp::object& fell,
        const bp::object& reward,
        const bp::tuple& ends) {
  const Inside inside(batch.occupancy, "step");
  const long n = batch.worlds();
  const EpisodeArrays arrays = arrays_of(batch, given);
  const auto* failed = checked<std::uint8_t>(fell, "ended", n, 0, false);
  auto* rewards = checked<double>(reward, "reward", n, 0);
  const EpisodeEnds out{checked<std::uint8_t>(ends[0], "terminated", n, 0),
                        checked<std::uint8_t>(ends[1], "truncated", n, 0),
                        checked<std::uint8_t>(ends[2], "ended", n, 0)};
  return with_stiction_errors([&] {
    const AllowThreads free;
    return end_episodes(batch, arrays, episode_steps, failed, rewards, out);
  });
}

void begin(Holder& batch, const bp::tuple& given, const bp::object& mask) {
  const Inside inside(batch.occupancy, "reset");
  const EpisodeArrays arrays = arrays_of(batch, given);
  const auto* worlds = checked<std::uint8_t>(mask, "mask", batch.worlds(), 0, false);
  with_stiction_errors([&] {
    const AllowThreads free;
    begin_episodes(batch, arrays, worlds);
  });
}

}  // namespace

void expose_episodes() {
  using bp::arg;
  bp::def("_take_actions", &take_any, (arg("batch"), arg("arrays"), arg("actions"), arg("limit")));
  bp::def(
      "_end_episodes",
      &end,
      (arg("batch"), arg("arrays"), arg("episode_steps"), arg("fell"), arg("reward"), arg("ends")));
  bp::def("_begin_episodes", &begin, (arg("batch"), arg("arrays"), arg("mask")));
}

}  // namespace stiction::python
