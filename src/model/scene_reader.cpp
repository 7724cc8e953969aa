#include "stiction/model/scene_io.hpp"
#include "stiction/model/state.hpp"

#include "model/joint.hpp"
#include "model/saved_robot.hpp"
#include "model/saved_scene.hpp"
#include "model/text_file.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

// The scene is composed again by what composes any: trees, closures and gears by the same functions
// with the same checks. Then the numbers take their places and are validated as a whole.

namespace stiction {
namespace {

/// A unit axis of that code; the axis itself is among the parameters.
Vec3d axis_of(std::int8_t code) {
  static constexpr Vec3d kAxes[4] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.6, 0.8, 0}};
  return kAxes[code];
}

using Arrays = std::map<std::string, std::pair<std::uint32_t, std::vector<double>>>;

Arrays get_arrays(ByteReader& in) {
  Arrays arrays;
  in.what = "parameters";
  const std::size_t count = in.count(sizeof(std::uint64_t));
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name = in.text("name");
    auto& [width, numbers] = arrays[name];
    in.get(width);
    if (width == 0 || width > 64)
      in.fail(std::to_string(width) + " doubles per entry of an array: there are 1 to 64");
    numbers.resize(in.count(width * sizeof(double)) * width);
    in.get(numbers.data(), numbers.size());
  }
  return arrays;
}

}  // namespace

class SceneReader {
 public:
  SceneReader(const char* data, std::size_t size, std::uint32_t version)
      : version_(version), in_(data, size, "scene") {}

  Scene read() {
    s_.name = in_.text("name");
    shapes_.get_assets(in_);
    each("trees", [&](std::size_t) { read_tree(); });
    each("robots", [&](std::size_t) { read_robot(); });
    each("geometries", [&](std::size_t) { read_geometry(); });
    each("closures", [&](std::size_t) { read_closure(); });
    each("gears", [&](std::size_t) { read_gear(); });
    read_pairs();
    in_.what = "scene";
    s_.default_q_ = get_configuration(in_, "default_q", s_.nq_);
    s_.configurations_ = get_configurations(in_, s_.nq_);
    s_.messages_ = get_messages(in_);
    read_parameters();
    if (version_ > 1) {
      read_filters();
      read_velocities();
      each("visuals", [&](std::size_t) { read_visual(); });
    }
    if (version_ > 2) read_places();
    if (version_ > 3) read_friction_rules();
    if (!in_.finished()) in_.fail("has bytes left over");
    validate();
    return std::move(s_);
  }

 private:
  template <class Read>
  void each(const std::string& list, Read&& read) {
    in_.what = list;
    const std::size_t count = in_.count(1);
    for (std::size_t i = 0; i < count; ++i) {
      in_.what = list + "[" + std::to_string(i) + "]";
      read(i);
    }
  }

  void read_tree() {
    std::vector<BodyDescription> bodies(in_.count(sizeof(std::uint64_t)));
    if (bodies.empty()) in_.fail("a tree without bodies");
    const std::string tree = in_.what;
    std::size_t nv = 0;
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      BodyDescription& b = bodies[i];
      in_.what = tree + ".bodies[" + std::to_string(i) + "]";
      b.name = in_.text("name");
      b.joint_name = in_.text("joint_name");
      b.parent = in_.index("parent", -1, i);
      b.joint = get_joint(in_);
      std::int8_t code = 0;
      in_.get(code);
      if (code < 0 || code > 3) in_.refuse("axis_code", std::to_string(code) + " must be 0 to 3");
      b.axis = axis_of(code);
      nv += static_cast<std::size_t>(joint_nv(b.joint));
      if (!b.name.empty()) Scene::check_name(b.name, in_.what + ".name");
    }
    s_.add_tree(bodies,
                0,
                static_cast<int>(bodies.size()),
                Transform::identity(),
                std::vector<DofDescription>(nv),
                "");
  }

  void read_robot() {
    RobotSlice slice;
    slice.name = in_.text("name");
    const std::string what = in_.what;
    slice.body_offset = in_.index("body_offset", 0, s_.body_names_.size() + 1);
    slice.description = get_robot(in_, what, shapes_);
    in_.what = what;
    const Robot& robot = slice.description;
    slice.num_bodies = static_cast<int>(robot.bodies.size());
    slice.nq = robot.nq();
    slice.nv = robot.nv();
    check_bodies(slice);
    const bool last = slice.body_offset == s_.num_bodies();
    const Tree* first = last ? nullptr : &s_.trees_[s_.body_tree_[slice.body_offset]];
    slice.q_offset = last ? s_.nq_ : first->q_offset;
    slice.v_offset = last ? s_.nv_ : first->v_offset;
    s_.robots_.push_back(std::move(slice));
  }

  /// The robot's bodies are those of whole trees of the scene: their joints, their parents.
  void check_bodies(const RobotSlice& slice) const {
    const auto begins_tree = [&](int body) {
      return body == s_.num_bodies() || s_.trees_[s_.body_tree_[body]].body_offset == body;
    };
    const int end = slice.body_offset + slice.num_bodies;
    if (end > s_.num_bodies() || !begins_tree(slice.body_offset) || !begins_tree(end))
      in_.refuse("body_offset", "its bodies are not those of whole trees");
    for (int b = slice.body_offset; b < end; ++b) {
      const BodyDescription& d = slice.description.bodies[b - slice.body_offset];
      const Tree& tree = s_.trees_[s_.body_tree_[b]];
      const int parent = d.parent < 0 ? -1 : slice.body_offset + d.parent;
      if (d.joint == tree.joint[b - tree.body_offset] && parent == s_.body_parent_[b]) continue;
      in_.fail("body \"" + d.name + "\" has another joint or parent than the scene's");
    }
  }

  void read_geometry() {
    Geometry g;
    g.name = in_.text("name");
    Scene::check_name(g.name, in_.what + ".name");
    g.link = in_.text("link");
    g.body = in_.index("body", -1, s_.body_names_.size());
    g.robot = in_.index("robot", -1, s_.robots_.size());
    g.shape = shapes_.get(in_);
    if (g.body >= 0 && !g.shape.bounded())
      in_.refuse("body", "a half-space must be fixed to the world (body = -1)");
    s_.geometries_.push_back(std::move(g));
    s_.parameters.geometry_placement.push_back(Transform::identity());
    s_.parameters.material.emplace_back();
    s_.parameters.geometry_size.push_back(s_.geometries_.back().shape.size);
    s_.parameters.geometry_velocity.emplace_back();
    s_.parameters.surface_velocity.emplace_back();
  }

  void read_closure() {
    Closure c;
    c.name = in_.text("name");
    c.kind = in_.flag("weld") ? Closure::Kind::kWeld : Closure::Kind::kPoint;
    c.body_a = in_.index("body_a", -1, s_.body_names_.size());
    c.body_b = in_.index("body_b", -1, s_.body_names_.size());
    s_.add_closure(c, Transform::identity(), Transform::identity());
  }

  void read_gear() {
    const std::string name = in_.text("name");
    const int dof = in_.index("dof", 0, s_.dof_names_.size());
    const int driver = in_.index("driver", 0, s_.dof_names_.size());
    s_.add_gear(name, dof, driver, 1.0, 0.0);
  }

  void read_pairs() {
    in_.what = "pairs";
    s_.only_enabled_ = in_.flag("only_enabled");
    s_.disabled_pairs_ = get_pairs("disabled");
    s_.enabled_pairs_ = get_pairs("enabled");
    s_.material_pairs_ = get_pairs("material");
    s_.parameters.pair_material.resize(s_.material_pairs_.size());
  }

  std::vector<Scene::PairKey> get_pairs(const char* list) {
    std::vector<Scene::PairKey> pairs;
    in_.get_list(pairs);
    for (const Scene::PairKey k : pairs) {
      const std::uint64_t a = k >> 32, b = k & 0xffffffffu;
      if (a <= b && b < s_.geometries_.size()) continue;
      in_.refuse(list,
                 "geometries " + std::to_string(a) + " and " + std::to_string(b) +
                     ": must ascend, there are " + std::to_string(s_.geometries_.size()));
    }
    if (!std::is_sorted(pairs.begin(), pairs.end())) in_.refuse(list, "must be in ascending order");
    return pairs;
  }

  void read_parameters() {
    Arrays arrays = get_arrays(in_);
    Parameters::each_array(
        [&](const char* name, auto& array) {
          using Array = std::decay_t<decltype(array)>;
          const auto found = arrays.find(name);
          if (found == arrays.end()) return;
          if constexpr (std::is_same_v<Array, Vec3d>) {
            fill(name, found->second, &array, 1);
          } else if constexpr (!std::is_same_v<Array, std::vector<std::int8_t>>) {
            fill(name, found->second, array.data(), array.size());
          } else {
            return;
          }
          arrays.erase(found);
        },
        s_.parameters);
    if (!arrays.empty()) {
      in_.fail("there is no array \"" + arrays.begin()->first +
               "\" in this library: a newer one may have written it");
    }
  }

  void read_filters() {
    in_.what = "filters";
    for (Geometry& g : s_.geometries_) {
      in_.get(g.contype);
      in_.get(g.conaffinity);
    }
  }

  void read_velocities() {
    in_.what = "velocities";
    const std::size_t count = in_.count(2 * sizeof(std::uint64_t));
    for (std::size_t i = 0; i < count; ++i) {
      const std::string name = in_.text("name");
      if (s_.configurations_.count(name) == 0)
        in_.refuse("name", "\"" + name + "\" is no configuration");
      in_.get_list(s_.velocities_[name]);
    }
  }

  void read_visual() {
    Visual v;
    v.body = in_.index("body", -1, s_.body_names_.size());
    v.shape = shapes_.get(in_);
    v.placement = get_transform(in_, "placement");
    in_.get(v.color.data(), v.color.size());
    s_.add_visual(v);
  }

  void read_places() {
    for (RobotSlice& r : s_.robots_) {
      in_.what = "robot \"" + r.name + "\"";
      r.prefix = in_.text("prefix");  // to version 3 of add_scene() alone
      r.X_W = get_transform(in_, "X_W");
    }
  }

  void read_friction_rules() {
    for (std::size_t g = 0; g < s_.geometries_.size(); ++g) {
      in_.what = "geometries[" + std::to_string(g) + "]";
      FrictionRule rule;
      rule.larger = in_.flag("larger");
      in_.get(rule.condim);
      in_.get(rule.priority);
      s_.set_friction_rule(static_cast<int>(g), rule);
    }
  }

  template <Storable T>
  void fill(const char* name, const Arrays::mapped_type& stored, T* entries, std::size_t count) {
    const auto& [width, numbers] = stored;
    if (width * sizeof(double) != sizeof(T) || numbers.size() != count * width) {
      in_.refuse(name,
                 "has " + std::to_string(numbers.size() / width) + " entries of " +
                     std::to_string(width) + " doubles, the scene " + std::to_string(count) +
                     " of " + std::to_string(sizeof(T) / sizeof(double)));
    }
    if (count > 0) std::memcpy(static_cast<void*>(entries), numbers.data(), count * sizeof(T));
  }

  void validate() const {
    s_.validate(s_.parameters);
    const auto check = [&](const std::vector<double>& q, const std::string& field) {
      validate_configuration(s_, Eigen::Map<const Eigen::VectorXd>(q.data(), s_.nq_), field);
    };
    check(s_.default_q_, "default_q");
    for (const auto& [name, q] : s_.configurations_) check(q, "configurations[\"" + name + "\"]");
    for (const auto& [name, v] : s_.velocities_) {
      if (v.size() > static_cast<std::size_t>(s_.nv_) ||
          !std::all_of(v.begin(), v.end(), [](double x) { return std::abs(x) <= kLargest; }))
        in_.fail("velocities[\"" + name + "\"]: must be at most nv finite numbers");
    }
  }

  std::uint32_t version_;
  Scene s_;
  ShapeReader shapes_;
  ByteReader in_;
};

namespace {

struct Body {
  const char* data;
  std::size_t size;
  std::uint32_t version;
};

/// Everything but the header and the checksum; throws unless both fit.
Body checked_body(const std::string& bytes) {
  const auto fail = [](const std::string& what) { throw std::invalid_argument(what); };
  if (bytes.compare(0, kSceneMagicSize, kSceneMagic) != 0)
    fail("is not a saved scene: does not begin with \"STICSCEN\"");
  std::uint64_t size = 0, sum = 0;
  if (bytes.size() < kSceneHeaderSize + sizeof(sum)) fail("truncated: ends in its header");
  std::uint32_t version = 0;
  std::memcpy(&version, bytes.data() + kSceneMagicSize, sizeof version);
  if (version < 1 || version > kSceneVersion) {
    fail("has version " + std::to_string(version) + ", this library reads versions 1 to " +
         std::to_string(kSceneVersion) +
         (version > kSceneVersion ? ": install a newer stiction, or save it again with this one"
                                  : ""));
  }
  std::memcpy(&size, bytes.data() + kSceneHeaderSize - sizeof size, sizeof size);
  if (bytes.size() != size) {
    fail(std::string(bytes.size() < size ? "truncated" : "has bytes left over") + ": it has " +
         std::to_string(bytes.size()) + " bytes, its header says " + std::to_string(size));
  }
  const std::size_t end = bytes.size() - sizeof sum;
  std::memcpy(&sum, bytes.data() + end, sizeof sum);
  if (sum != checksum(bytes.data(), end)) fail("damaged: its checksum does not match");
  return {bytes.data() + kSceneHeaderSize, end - kSceneHeaderSize, version};
}

}  // namespace

Scene scene_from_bytes(const std::string& bytes, const std::string& name) {
  try {
    const Body body = checked_body(bytes);
    return SceneReader(body.data, body.size, body.version).read();
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(name + ": " + one_line(error.what()));
  }
}

}  // namespace stiction
