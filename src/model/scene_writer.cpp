#include "stiction/model/scene_io.hpp"
#include "stiction/model/state.hpp"

#include "model/saved_robot.hpp"
#include "model/saved_scene.hpp"

#include <type_traits>
#include <utility>

namespace stiction {

class SceneWriter {
 public:
  explicit SceneWriter(const Scene& scene) : s_(scene) {}

  std::string write() {
    check();
    out_.out.assign(kSceneMagic, kSceneMagicSize);
    out_.put(kSceneVersion);
    out_.put(std::uint64_t{0});  // the size, which is known at the end
    out_.put_text(s_.name, "scene.name");
    put_shapes();
    put_trees();
    put_robots();
    put_geometries();
    put_constraints();
    put_pairs();
    out_.put_list(s_.default_q_);
    put_configurations(out_, s_.configurations_);
    put_messages(out_, s_.messages_);
    put_parameters();
    put_filters();
    put_configurations(out_, s_.velocities_);
    put_visuals();
    put_places();
    put_friction_rules();
    const std::uint64_t size = out_.out.size() + sizeof(std::uint64_t);
    std::memcpy(&out_.out[kSceneHeaderSize - sizeof size], &size, sizeof size);
    out_.put(checksum(out_.out.data(), out_.out.size()));
    return std::move(out_.out);
  }

 private:
  /// What the reader refuses is not written.
  void check() const {
    s_.validate(s_.parameters);
    const auto q = [](const std::vector<double>& x) {
      return Eigen::Map<const Eigen::VectorXd>(x.data(), static_cast<Eigen::Index>(x.size()));
    };
    validate_configuration(s_, q(s_.default_q_), "scene.default_q");
    for (const auto& [name, x] : s_.configurations_)
      validate_configuration(s_, q(x), "scene.configurations[\"" + name + "\"]");
  }

  void put_shapes() {
    for (const Geometry& g : s_.geometries_) shapes_.add(g.shape, "geometry \"" + g.name + "\"");
    for (const RobotSlice& r : s_.robots_) {
      for (const GeometryDescription& g : r.description.geometries)
        shapes_.add(g.shape, "geometry \"" + g.name + "\" of robot \"" + r.name + "\"");
    }
    for (const Visual& v : s_.visuals_) shapes_.add(v.shape, "visual");
    shapes_.put_assets(out_);
  }

  void put_trees() {
    out_.put_count(s_.trees_.size());
    for (const Tree& tree : s_.trees_) {
      out_.put_count(static_cast<std::size_t>(tree.num_bodies));
      for (int i = 0; i < tree.num_bodies; ++i) {
        out_.put_text(s_.body_names_[tree.body_offset + i], "body name");
        out_.put_text(s_.joint_names_[tree.body_offset + i], "joint name");
        out_.put(tree.parent[i]);
        put_joint(out_, tree.joint[i]);
        out_.put(tree.axis_code[i]);
      }
    }
  }

  void put_robots() {
    out_.put_count(s_.robots_.size());
    for (const RobotSlice& r : s_.robots_) {
      out_.put_text(r.name, "robot name");
      out_.put(r.body_offset);
      put_robot(out_, r.description, shapes_);
    }
  }

  void put_geometries() {
    out_.put_count(s_.geometries_.size());
    for (const Geometry& g : s_.geometries_) {
      out_.put_text(g.name, "geometry name");
      out_.put_text(g.link, "link name");
      out_.put(g.body);
      out_.put(g.robot);
      shapes_.put(out_, g.shape);
    }
  }

  void put_constraints() {
    out_.put_count(s_.closures_.size());
    for (const Closure& c : s_.closures_) {
      out_.put_text(c.name, "closure name");
      out_.put(c.kind == Closure::Kind::kWeld);
      out_.put(c.body_a);
      out_.put(c.body_b);
    }
    out_.put_count(s_.gears_.size());
    for (const Gear& g : s_.gears_) {
      out_.put_text(g.name, "gear name");
      out_.put(g.dof);
      out_.put(g.driver);
    }
  }

  void put_pairs() {
    out_.put(s_.only_enabled_);
    for (const auto* pairs : {&s_.disabled_pairs_, &s_.enabled_pairs_, &s_.material_pairs_})
      out_.put_list(*pairs);
  }

  void put_filters() {
    for (const Geometry& g : s_.geometries_) {
      out_.put(g.contype);
      out_.put(g.conaffinity);
    }
  }

  void put_visuals() {
    out_.put_count(s_.visuals_.size());
    for (const Visual& v : s_.visuals_) {
      out_.put(v.body);
      shapes_.put(out_, v.shape);
      put_transform(out_, v.placement);
      out_.put(v.color.data(), v.color.size());
    }
  }

  void put_places() {
    for (const RobotSlice& r : s_.robots_) {
      out_.put_text(r.prefix, "prefix");
      put_transform(out_, r.X_W);
    }
  }

  void put_friction_rules() {
    for (const Geometry& g : s_.geometries_) {
      out_.put(g.friction_rule.larger);
      out_.put(g.friction_rule.condim);
      out_.put(g.friction_rule.priority);
    }
  }

  void put_parameters() {
    const auto put = [this](const char* name, const auto* numbers, std::size_t count) {
      out_.put_text(name, name);
      out_.put(static_cast<std::uint32_t>(sizeof(*numbers) / sizeof(double)));
      out_.put_count(count);
      out_.put(numbers, count);
    };
    std::size_t arrays = 0;
    Parameters::each_array([&](const char*, const auto&) { ++arrays; }, s_.parameters);
    out_.put_count(arrays - 1);
    Parameters::each_array(
        [&](const char* name, const auto& array) {
          using Array = std::decay_t<decltype(array)>;
          if constexpr (std::is_same_v<Array, Vec3d>) {
            put(name, &array, 1);
          } else if constexpr (!std::is_same_v<Array, std::vector<std::int8_t>>) {
            put(name, array.data(), array.size());  // axis_code stands with the trees
          }
        },
        s_.parameters);
  }

  const Scene& s_;
  ShapeWriter shapes_;
  ByteWriter out_;
};

std::string scene_to_bytes(const Scene& scene) { return SceneWriter(scene).write(); }

}  // namespace stiction
