#include "scenes/scenes.hpp"

#include "scenes/builders.hpp"

#include <charconv>
#include <cmath>
#include <stdexcept>

namespace stiction {
namespace {

struct Entry {
  SceneInfo info;
  Scene (*make)(const SceneOptions&);
};

const std::vector<Entry>& registry() {
  static const std::vector<Entry> entries = {
      {{"solo12", "quadruped Solo-12 standing on four sphere feet, PD servos, friction 0.9"},
       make_solo12},
      {{"solo12-trot", "Solo-12 with stiffer servos, for a trot (stiction.trot_targets)"},
       make_solo12_trot},
      {{"solo12-rough", "the quadruped on a height field of samples up to 40 mm apart in height"},
       make_solo12_rough},
      {{"solo12-trot-bumpy", "the same on a path of box tiles of uneven height, friction 0.3"},
       make_solo12_trot_bumpy},
      {{"talos", "humanoid TALOS standing half sitting on eight spheres, stiff servos", 0, true},
       make_talos},
      {{"allegro-ball", "Allegro hand, palm up, closing on a ball of 0.1 kg", 0, true},
       make_allegro_ball},
      {{"cube-slide",
        "cube of 1 kg at y = -1 m on the floor, friction 0.4; start it with v_y = 1 m/s"},
       make_cube_slide},
      {{"cube-drag",
        "cube of 1 kg at rest, friction 0.4; drag it by min(17.658, 39.24 t) N along y"},
       make_cube_drag},
      {{"two-cubes", "cube of 1 g under a cube of 1000 kg, friction 0.9 below and 0.95 between"},
       make_two_cubes},
      {{"box-stack", "stack of n cubes of 0.2 m and 1 kg, friction 0.7", 10}, make_box_stack},
      {{"ball-drop", "ball of 1 kg and radius 0.1 m, 1 m above the floor, restitution 0.8"},
       make_ball_drop},
      {{"slope", "cube of 1 kg on a plane of 15 degrees, friction 0.2: it slides along +x"},
       make_slope},
      {{"cartpole", "cart on a rail of 2 m with a pole, both with end stops"}, make_cartpole},
      {{"double-pendulum", "two rods of 0.5 m and 1 kg on hinges, released from the horizontal"},
       make_double_pendulum},
      {{"four-bar", "planar four-bar linkage closed by a point closure"}, make_four_bar},
      {{"ycb-pile", "n convex hulls of YCB objects dropped into a funnel of four planes", 10},
       make_ycb_pile},
  };
  return entries;
}

[[noreturn]] void fail(const std::string& text) { throw std::invalid_argument(text); }

int parse_count(const std::string& name, const std::string& digits) {
  int n = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, n);
  if (error != std::errc() || stop != end) {
    fail("scene \"" + name + "\": \"" + digits + "\" is not an integer");
  }
  return n;
}

// "box-stack(10)" and "box-stack:10" -> "box-stack", n = 10.
std::string split_name(const std::string& name, SceneOptions& options) {
  const std::size_t colon = name.find(':'), bracket = name.find('(');
  if (colon != std::string::npos) {
    options.n = parse_count(name, name.substr(colon + 1));
    return name.substr(0, colon);
  }
  if (bracket != std::string::npos && name.back() == ')') {
    options.n = parse_count(name, name.substr(bracket + 1, name.size() - bracket - 2));
    return name.substr(0, bracket);
  }
  return name;
}

void check_options(const Entry& entry, bool has_count, const SceneOptions& options) {
  const std::string head = "scene \"" + entry.info.name + "\": ";
  if (entry.info.default_n == 0 && has_count) fail(head + "takes no number of bodies");
  if (entry.info.default_n > 0 && (options.n < 1 || options.n > 100000)) {
    fail(head + "n = " + std::to_string(options.n) + " must be in [1, 100000]");
  }
  if (!std::isfinite(options.friction)) fail(head + "friction must be finite");
  if (!(options.restitution <= 1.0)) {
    fail(head + "restitution = " + std::to_string(options.restitution) + " must be at most 1");
  }
}

}  // namespace

std::vector<SceneInfo> scenes() {
  std::vector<SceneInfo> result;
  for (const Entry& entry : registry()) result.push_back(entry.info);
  return result;
}

Scene make_scene(const std::string& name, const SceneOptions& given) {
  SceneOptions options = given;
  const std::string plain = split_name(name, options);
  const bool has_count = plain != name || options.n != 0;
  std::string names;
  for (const Entry& entry : registry()) {
    names += (names.empty() ? "" : ", ") + entry.info.name + (entry.info.default_n ? "(n)" : "");
    if (entry.info.name != plain) continue;
    if (!has_count) options.n = entry.info.default_n;
    check_options(entry, has_count, options);
    Scene scene = entry.make(options);
    scene.name = name;
    return scene;
  }
  fail("no scene \"" + plain + "\"; there are: " + names);
}

}  // namespace stiction
