#include "stiction/model/scene.hpp"

#include "model/joint.hpp"
#include "model/near_names.hpp"

#include <algorithm>
#include <stdexcept>

// What names may be and what they stand for: bodies, geometries, dofs, robots, frames.

namespace stiction {
namespace {

int find(const std::vector<std::string>& names, const std::string& name) {
  const auto it = std::find(names.begin(), names.end(), name);
  return it == names.end() ? -1 : static_cast<int>(it - names.begin());
}

[[noreturn]] void unknown(const char* kind,
                          const std::string& name,
                          const std::vector<std::string>& names,
                          const std::string& hint = "") {
  std::string list;
  for (const std::string& n : names) list += (list.empty() ? "" : ", ") + n;
  const std::string near = names.size() > 5 ? near_names(name, names) : "";
  throw std::invalid_argument(std::string("no ") + kind + " \"" + name + "\"" + hint + near +
                              "; there are: " + (list.empty() ? "none" : list));
}

[[noreturn]] void refuse(const std::string& what) { throw std::invalid_argument(what); }

}  // namespace

int Scene::body(const std::string& n) const {
  const int i = find(body_names_, n);
  if (i >= 0) return i;
  // A link on a fixed joint is merged into its parent's body and lives on as a frame.
  for (const RobotSlice& r : robots_) {
    for (const FrameDescription& f : r.description.frames) {
      if (!r.has_name(f, n)) continue;
      const std::string body_name =
          f.body < 0 ? "the world" : "body \"" + body_names_[r.body_offset + f.body] + "\"";
      unknown("body",
              n,
              body_names_,
              "; \"" + n + "\" is a frame fixed to " + body_name + "; scene.frame(\"" + n +
                  "\") gives its placement");
    }
  }
  unknown("body", n, body_names_);
}

int Scene::joint(const std::string& n) const {
  const int i = find(joint_names_, n);
  if (i >= 0) return i;
  for (const RobotSlice& r : robots_) {
    for (const FrameDescription& f : r.description.frames) {
      if (r.has_name(f, n))
        unknown(
            "joint", n, joint_names_, "; \"" + n + "\" is a frame, and frames move with a body");
    }
  }
  unknown("joint", n, joint_names_);
}

int Scene::geometry(const std::string& n) const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < geometries_.size(); ++i) {
    if (geometries_[i].name == n) return static_cast<int>(i);
    names.push_back(geometries_[i].name);
  }
  unknown("geometry", n, names);
}

int Scene::dof(const std::string& joint_name) const {
  const int i = find(dof_names_, joint_name);
  if (i < 0) unknown("joint with one degree of freedom", joint_name, dof_names_);
  return i;
}

int Scene::robot(const std::string& n) const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < robots_.size(); ++i) {
    if (robots_[i].name == n) return static_cast<int>(i);
    names.push_back(robots_[i].name);
  }
  unknown("robot", n, names);
}

std::pair<int, Transform> Scene::frame(const std::string& n) const {
  std::vector<std::string> names;
  for (const RobotSlice& r : robots_) {
    for (const FrameDescription& f : r.description.frames) {
      if (r.has_name(f, n)) {
        if (f.body >= 0) return {r.body_offset + f.body, f.placement};
        const int tree = r.num_bodies > 0 ? body_tree_[r.body_offset] : -1;
        const bool stands = tree >= 0 && !trees_[tree].free_root;  // the base is part of the world
        return {-1, (stands ? parameters.base[tree] : r.X_W) * f.placement};
      }
      names.push_back(r.prefix + f.name);
    }
  }
  const int b = find(body_names_, n);
  if (b >= 0) return {b, Transform::identity()};
  names.insert(names.end(), body_names_.begin(), body_names_.end());
  unknown("frame", n, names);
}

/// Names end in messages and files, where a zero byte would cut them off.
void Scene::check_name(const std::string& given, const std::string& field) {
  if (given.empty()) refuse(field + " = \"\": must not be empty");
  if (given.find('\0') != std::string::npos) refuse(field + ": must hold no zero byte");
}

void Scene::check_new_body(const std::string& body_name, const std::string& field) const {
  check_name(body_name, field);
  if (body_name == "world")
    refuse(field +
           " = \"world\": means the fixed world wherever a body is asked for; take another");
  if (std::find(body_names_.begin(), body_names_.end(), body_name) != body_names_.end())
    refuse(field + " \"" + body_name + "\" is taken; give another one");
}

namespace {

/// FNV-1a, over numbers and over text with its length.
struct Hash {
  std::uint64_t value = 14695981039346656037ull;
  void add(std::uint64_t x) {
    for (int k = 0; k < 64; k += 8) value = (value ^ (x >> k & 0xff)) * 1099511628211ull;
  }
  void add(const std::string& text) {
    add(text.size());
    for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  }
};

}  // namespace

std::uint64_t Scene::fingerprint() const {
  Hash hash;
  hash.add(name);
  for (const std::vector<std::string>* names : {&body_names_, &joint_names_, &dof_names_}) {
    hash.add(names->size());
    for (const std::string& n : *names) hash.add(n);
  }
  for (const Tree& tree : trees_) {
    for (int b = 0; b < tree.num_bodies; ++b) {
      hash.add(static_cast<std::uint64_t>(tree.parent[b]));
      hash.add(static_cast<std::uint64_t>(tree.joint[b]));
    }
  }
  for (const Geometry& g : geometries_) {
    hash.add(g.name);
    hash.add(static_cast<std::uint64_t>(g.body));
    hash.add(static_cast<std::uint64_t>(g.shape.type));
  }
  for (const Closure& c : closures_) {
    hash.add(c.name);
    hash.add(static_cast<std::uint64_t>(c.kind));
  }
  for (const Gear& g : gears_) hash.add(g.name);
  return hash.value | 1;
}

}  // namespace stiction
