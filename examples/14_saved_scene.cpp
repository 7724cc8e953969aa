// A scene in one file: composed or loaded once, then read by Python and C++ alike.
//
//   example_14                    saves a scene, reads it back, and steps both
//   example_14 ant.stiction       reads what stiction.load("ant.xml").save("ant.stiction") wrote

#include "stiction/model/scene_io.hpp"
#include "stiction/model/state_io.hpp"
#include "stiction/simulator/simulator.hpp"

#include "scenes/scenes.hpp"

#include <cstdio>
#include <filesystem>
#include <string>

using namespace stiction;

namespace {

// The state after half a second of servos that hold the start.
State run(const Scene& scene) {
  Simulator sim(scene, {});
  State state = sim.initial_state();
  sim.run(state, sim.hold(), 500);
  return state;
}

void describe(const Scene& scene) {
  std::printf("%s: %d bodies, %d dofs, %zu geometries\n",
              scene.name.c_str(),
              scene.num_bodies(),
              scene.nv(),
              scene.geometries().size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) {
    const Scene scene = load_scene(argv[1]);
    describe(scene);
    const State state = run(scene);
    std::printf("after %.3f s: q[2] = %.6f\n", state.time, state.q[2]);
    return 0;
  }
  Scene scene = make_scene("solo12");
  scene.add_body("ball", Shape::sphere(0.1), 1.0, {Mat3d::identity(), {0.6, 0.0, 0.1}});
  const std::string path = (std::filesystem::temp_directory_path() / "14.stiction").string();
  save_scene(scene, path);

  const Scene other = load_scene(path);
  std::filesystem::remove(path);
  describe(other);
  const bool same = save_state(run(other)) == save_state(run(scene));
  std::printf("steps with the same bits: %s\n", same ? "yes" : "no");
  return same && other.fingerprint() == scene.fingerprint() ? 0 : 1;
}
