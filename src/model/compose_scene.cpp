#include "stiction/model/scene.hpp"

#include "math/number_text.hpp"
#include "math/quaternion.hpp"
#include "model/check_rotation.hpp"

#include <algorithm>
#include <stdexcept>
#include <type_traits>

// One scene as a part of another. Everything of it is numbered after what was there, in its order:
// so lists of pairs stay sorted, and a part has the numbers that it has alone, plus an offset.

namespace stiction {
namespace {

[[noreturn]] void fail(const std::string& what) { throw std::invalid_argument(what); }

template <class T>
void append(std::vector<T>& to, const std::vector<T>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

void append(std::vector<std::string>& to,
            const std::vector<std::string>& more,
            const std::string& prefix) {
  for (const std::string& name : more) to.push_back(name.empty() ? name : prefix + name);
}

/// Floating roots moved by X_W.
std::vector<double> placed(const Scene& scene, const Transform& X_W, std::vector<double> q) {
  for (const Tree& tree : scene.trees()) {
    if (!tree.free_root) continue;
    double* root = q.data() + tree.q_offset;
    const Transform X =
        X_W * Transform{rotation_from_quaternion(root + 3), {root[0], root[1], root[2]}};
    for (int k = 0; k < 3; ++k) root[k] = X.p[k];
    quaternion_from_rotation(X.R, root + 3);
  }
  return q;
}

}  // namespace

void Scene::add_scene(const Scene& other,
                      const Transform& X_W,
                      const std::optional<std::string>& given_prefix) {
  if (&other == this) return add_scene(Scene(other), X_W, given_prefix);
  const std::string prefix = given_prefix.value_or(num_bodies() == 0 ? "" : other.name + "/");
  check_rotation(X_W, "add_scene(\"" + other.name + "\").X_W");
  Scene whole = *this;  // a name that is taken, or a body that is "world", leaves this as it is
  whole.add_names(other, prefix);
  whole.add_pairs(other);
  whole.add_configurations(other, X_W);
  whole.add_topology(other, X_W, prefix);
  whole.add_numbers(other, X_W);
  append(whole.messages_, other.messages_);
  whole.compare_gravity(other);
  *this = std::move(whole);
}

/// It belongs to the whole: what the part was made for may be another.
void Scene::compare_gravity(const Scene& other) {
  const Vec3d &own = parameters.gravity, &given = other.parameters.gravity;
  if (norm(own - given) <= 1e-9 * (norm(own) + norm(given))) return;
  const auto text = [](const Vec3d& g) {
    return "[" + number_text(g.x) + ", " + number_text(g.y) + ", " + number_text(g.z) + "]";
  };
  messages_.push_back({LoadMessage::Kind::kWarning,
                       "",
                       0,
                       "scene \"" + other.name + "\" was added to \"" + name + "\": its gravity " +
                           text(given) + " is not that of the scene, " + text(own) +
                           ", which holds; set parameters.gravity to change it"});
}

void Scene::add_names(const Scene& other, const std::string& prefix) {
  const std::string field = "add_scene(\"" + other.name + "\"): ";
  const std::string mend = "\" is taken; give another prefix than \"" + prefix + "\"";
  for (const std::string& n : other.body_names_) {
    if (n.empty()) continue;
    if (std::find(body_names_.begin(), body_names_.end(), prefix + n) != body_names_.end())
      fail(field + "body \"" + prefix + n + mend);
    check_new_body(prefix + n, field + "body");
  }
  const auto check = [&](const char* kind, const auto& own, const auto& given) {
    for (const auto& x : given) {
      for (const auto& y : own) {
        if (y.name == prefix + x.name) fail(field + kind + " \"" + prefix + x.name + mend);
      }
    }
  };
  check("robot", robots_, other.robots_);
  check("geometry", geometries_, other.geometries_);
  check("closure", closures_, other.closures_);
  check("gear", gears_, other.gears_);
  append(body_names_, other.body_names_, prefix);
  append(joint_names_, other.joint_names_, prefix);
  append(dof_names_, other.dof_names_, prefix);
}

/// add_names() has added the names.
void Scene::add_topology(const Scene& other, const Transform& X_W, const std::string& prefix) {
  const int bodies = static_cast<int>(body_tree_.size()), trees = static_cast<int>(trees_.size());
  const int robots = static_cast<int>(robots_.size());
  const auto moved = [&](int body) { return body < 0 ? -1 : bodies + body; };
  for (Tree tree : other.trees_) {
    tree.body_offset += bodies;
    tree.q_offset += nq_;
    tree.v_offset += nv_;
    trees_.push_back(std::move(tree));
  }
  for (const int tree : other.body_tree_) body_tree_.push_back(trees + tree);
  for (const int tree : other.dof_tree_) dof_tree_.push_back(trees + tree);
  for (const int parent : other.body_parent_) body_parent_.push_back(moved(parent));
  for (RobotSlice robot : other.robots_) {
    robot.name = prefix + robot.name;
    robot.body_offset += bodies;
    robot.q_offset += nq_;
    robot.v_offset += nv_;
    robot.prefix = prefix + robot.prefix;
    robot.X_W = X_W * robot.X_W;
    robots_.push_back(std::move(robot));
  }
  for (Geometry g : other.geometries_) {
    g.name = prefix + g.name;
    g.body = moved(g.body);
    if (g.robot >= 0) g.robot += robots;
    geometries_.push_back(std::move(g));
  }
  for (const Closure& c : other.closures_)
    closures_.push_back({c.kind, prefix + c.name, moved(c.body_a), moved(c.body_b)});
  for (const Gear& g : other.gears_)
    gears_.push_back({prefix + g.name, nv_ + g.dof, nv_ + g.driver});
  for (Visual v : other.visuals_) {
    if (v.body < 0) v.placement = X_W * v.placement;
    v.body = moved(v.body);
    visuals_.push_back(std::move(v));
  }
  nq_ += other.nq_;
  nv_ += other.nv_;
}

void Scene::add_numbers(const Scene& other, const Transform& X_W) {
  Parameters more = other.parameters;
  for (Transform& X : more.base) X = X_W * X;
  for (std::size_t g = 0; g < other.geometries_.size(); ++g) {
    if (other.geometries_[g].body < 0)
      more.geometry_placement[g] = X_W * more.geometry_placement[g];
  }
  for (std::size_t c = 0; c < other.closures_.size(); ++c) {
    if (other.closures_[c].body_a < 0) more.closure_X_A[c] = X_W * more.closure_X_A[c];
    if (other.closures_[c].body_b < 0) more.closure_X_B[c] = X_W * more.closure_X_B[c];
  }
  Parameters::each_array(
      [](const char*, auto& to, const auto& from) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(to)>, Vec3d>) append(to, from);
      },
      parameters,
      more);
}

/// Before nq_ and nv_ grow.
void Scene::add_configurations(const Scene& other, const Transform& X_W) {
  const std::vector<double> start = placed(other, X_W, other.default_q_);
  append(default_q_, start);
  for (auto& [n, q] : configurations_) append(q, start);
  for (const auto& [n, q] : other.configurations_) {
    const std::vector<double> own = placed(other, X_W, q);
    std::vector<double>& all = configurations_.try_emplace(n, default_q_).first->second;
    std::copy(own.begin(), own.end(), all.begin() + nq_);
  }
  for (const auto& entry : other.velocities_) {
    const std::string& n = entry.first;
    std::vector<double>& all = velocities_[n];
    all.resize(static_cast<std::size_t>(nv_), 0.0);
    append(all, other.configuration_velocity(n));
  }
}

/// Before the geometries are added.
void Scene::add_pairs(const Scene& other) {
  const auto first = static_cast<PairKey>(geometries_.size());
  const auto append_moved = [&](std::vector<PairKey>& to, const std::vector<PairKey>& from) {
    for (const PairKey k : from) to.push_back(k + (first << 32 | first));
  };
  append_moved(material_pairs_, other.material_pairs_);
  if (only_enabled_ == other.only_enabled_) {
    append_moved(disabled_pairs_, other.disabled_pairs_);
    append_moved(enabled_pairs_, other.enabled_pairs_);
    return;
  }
  // One of them collides in listed pairs only: every pair of the other scene is listed as it is.
  const int count = static_cast<int>(other.geometries_.size());
  for (int a = 0; a < count; ++a) {
    for (int b = a + 1; b < count; ++b) {
      const PairKey k = key(a, b) + (first << 32 | first);
      if (other.geometries_[a].body == other.geometries_[b].body) continue;
      if (other.pair_enabled(a, b))
        enabled_pairs_.push_back(k);
      else if (!only_enabled_)
        disabled_pairs_.push_back(k);
    }
  }
}

}  // namespace stiction
