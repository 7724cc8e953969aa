#include "stiction/model/robot.hpp"

#include "model/joint.hpp"
#include "model/near_names.hpp"

#include <stdexcept>

namespace stiction {

int Robot::nq() const {
  int n = 0;
  for (const BodyDescription& b : bodies) n += joint_nq(b.joint);
  return n;
}

int Robot::nv() const {
  int n = 0;
  for (const BodyDescription& b : bodies) n += joint_nv(b.joint);
  return n;
}

int Robot::frame(const std::string& wanted) const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (frames[i].name == wanted) return static_cast<int>(i);
    names.push_back(frames[i].name);
  }
  throw std::invalid_argument("robot \"" + name + "\" has no frame \"" + wanted + "\"" +
                              near_names(wanted, names));
}

int Robot::body(const std::string& wanted) const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    if (bodies[i].name == wanted) return static_cast<int>(i);
    names.push_back(bodies[i].name);
  }
  for (const FrameDescription& f : frames) {
    if (f.name == wanted) return f.body;
    names.push_back(f.name);
  }
  throw std::invalid_argument("robot \"" + name + "\" has no body or frame \"" + wanted + "\"" +
                              near_names(wanted, names));
}

}  // namespace stiction
