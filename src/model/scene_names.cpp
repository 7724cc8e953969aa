#include "stiction/model/scene.hpp"

#include <algorithm>
#include <stdexcept>

// What a name stands for: bodies, geometries, dofs, robots, frames.

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
  throw std::invalid_argument(std::string("no ") + kind + " \"" + name + "\"" + hint +
                              "; there are: " + (list.empty() ? "none" : list));
}

}  // namespace

int Scene::body(const std::string& n) const {
  const int i = find(body_names_, n);
  if (i >= 0) return i;
  // A link on a fixed joint is merged into its parent's body and lives on as a frame.
  for (const RobotSlice& r : robots_) {
    for (const FrameDescription& f : r.description.frames) {
      if (f.name != n && r.name + "/" + f.name != n) continue;
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
      if (f.name == n || r.name + "/" + f.name == n) {
        return {f.body < 0 ? -1 : r.body_offset + f.body, f.placement};
      }
      names.push_back(f.name);
    }
  }
  const int b = find(body_names_, n);
  if (b >= 0) return {b, Transform::identity()};
  unknown("frame", n, names);
}

}  // namespace stiction
