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

/// A planar joint of another normal than z as a composite of what it is made of: two slides along x
/// and y, turned with z to the normal by the smallest turn, and a rotation about it. q and v keep
/// their places.
static void turn_plane(pinocchio::Model& model, const std::string& joint, const Vec3d& normal) {
  const pinocchio::JointIndex j = model.getJointId(joint);
  const Eigen::Vector3d n = Eigen::Vector3d(normal.x, normal.y, normal.z).normalized();
  if (n == Eigen::Vector3d::UnitZ()) return;
  Eigen::Matrix3d R = Eigen::Vector3d(1, -1, -1).asDiagonal();  // half a turn about x: n = -z
  if (n.z() > -1.0 + 1e-12)
    R = Eigen::Quaterniond::FromTwoVectors(Eigen::Vector3d::UnitZ(), n).toRotationMatrix();
  pinocchio::JointModelComposite parts;
  parts.addJoint(pinocchio::JointModelPrismaticUnaligned(Eigen::Vector3d(R.col(0))));
  parts.addJoint(pinocchio::JointModelPrismaticUnaligned(Eigen::Vector3d(R.col(1))));
  parts.addJoint(pinocchio::JointModelRevoluteUnboundedUnaligned(n));
  pinocchio::JointModel whole(parts);
  whole.setIndexes(j, model.joints[j].idx_q(), model.joints[j].idx_v());
  model.joints[j] = whole;
}

Robot kinematics_from_urdf(const std::string& xml,
                           bool free_flyer,
                           const std::map<std::string, Vec3d>& normals,
                           const Material& material) {
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
  for (const auto& [joint, normal] : normals) turn_plane(model, joint, normal);
  return robot_from_pinocchio(model, nullptr, material);
}

}  // namespace stiction
