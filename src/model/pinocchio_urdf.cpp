#include "model/pinocchio_urdf.hpp"

#include "model/pinocchio_robot.hpp"
#include <pinocchio/parsers/urdf.hpp>

#include <console_bridge/console.h>
#include <mutex>
#include <stdexcept>

namespace stiction {
namespace {

// urdfdom reports through console_bridge's process-wide handler: take it over for one call.
class CapturedConsole : public console_bridge::OutputHandler {
 public:
  CapturedConsole() : lock_(mutex()) { console_bridge::useOutputHandler(this); }
  ~CapturedConsole() override { console_bridge::restorePreviousOutputHandler(); }
  CapturedConsole(const CapturedConsole&) = delete;
  CapturedConsole& operator=(const CapturedConsole&) = delete;

  void log(const std::string& text, console_bridge::LogLevel, const char*, int) override {
    text_ += (text_.empty() ? "" : "; ") + text;
  }
  const std::string& text() const { return text_; }

 private:
  static std::mutex& mutex() {
    static std::mutex instance;
    return instance;
  }
  std::lock_guard<std::mutex> lock_;
  std::string text_;
};

}  // namespace

/// Pinocchio's "root_joint", unless a joint of the file has that name.
static std::string root_joint_name(const std::string& xml) {
  std::string name = "root_joint";
  while (xml.find('"' + name + '"') != std::string::npos ||
         xml.find('\'' + name + '\'') != std::string::npos)
    name += '_';
  return name;
}

Robot kinematics_from_urdf(const std::string& xml, bool free_flyer, const Material& material) {
  pinocchio::Model model;
  std::string said;
  try {
    const CapturedConsole console;
    try {
      if (free_flyer) {
        pinocchio::urdf::buildModelFromXML(
            xml, pinocchio::JointModelFreeFlyer(), root_joint_name(xml), model);
      } else {
        pinocchio::urdf::buildModelFromXML(xml, model);
      }
    } catch (...) {
      said = console.text();
      throw;
    }
  } catch (const std::exception& e) {
    throw std::runtime_error(std::string(e.what()) + (said.empty() ? "" : " (" + said + ")"));
  }
  return robot_from_pinocchio(model, nullptr, material);
}

}  // namespace stiction
