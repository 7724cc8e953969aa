#include "model/single_joints.hpp"

#include <cstddef>
#include <stdexcept>
#include <string>

namespace stiction {
namespace {

namespace pin = pinocchio;

template <class T>
const T* as(const pin::JointModel& joint) {
  return boost::get<T>(&joint.toVariant());
}

struct Part {
  pin::JointModel joint;
  pin::SE3 placement;
};

/// Appends what a joint at `placement` is made of.
void take_apart(const pin::JointModel& joint, const pin::SE3& placement, std::vector<Part>& out) {
  const pin::SE3 here = pin::SE3::Identity();
  if (as<pin::JointModelTranslation>(joint)) {
    out.push_back({pin::JointModelPX(), placement});
    out.push_back({pin::JointModelPY(), here});
    out.push_back({pin::JointModelPZ(), here});
  } else if (as<pin::JointModelPlanar>(joint)) {
    out.push_back({pin::JointModelPX(), placement});
    out.push_back({pin::JointModelPY(), here});
    out.push_back({pin::JointModelRUBZ(), here});
  } else if (as<pin::JointModelSphericalZYX>(joint)) {
    out.push_back({pin::JointModelRZ(), placement});
    out.push_back({pin::JointModelRY(), here});
    out.push_back({pin::JointModelRX(), here});
  } else if (const auto* cardan = as<pin::JointModelUniversal>(joint)) {
    out.push_back({pin::JointModelRevoluteUnaligned(cardan->axis1), placement});
    out.push_back({pin::JointModelRevoluteUnaligned(cardan->axis2), here});
  } else if (const auto* whole = as<pin::JointModelComposite>(joint)) {
    for (std::size_t k = 0; k < whole->joints.size(); ++k) {
      const pin::SE3& own = whole->jointPlacements[k];
      take_apart(whole->joints[k], k == 0 ? placement * own : own, out);
    }
  } else {
    out.push_back({joint, placement});
  }
}

void copy_numbers(const pin::Model& from, pin::Model& to) {
  to.name = from.name;
  to.gravity = from.gravity;
  to.referenceConfigurations = from.referenceConfigurations;
  to.lowerPositionLimit = from.lowerPositionLimit;
  to.upperPositionLimit = from.upperPositionLimit;
  to.lowerVelocityLimit = from.lowerVelocityLimit;
  to.upperVelocityLimit = from.upperVelocityLimit;
  to.lowerEffortLimit = from.lowerEffortLimit;
  to.upperEffortLimit = from.upperEffortLimit;
  to.lowerDryFrictionLimit = from.lowerDryFrictionLimit;
  to.upperDryFrictionLimit = from.upperDryFrictionLimit;
  to.damping = from.damping;
  to.armature = from.armature;
  to.rotorInertia = from.rotorInertia;
  to.rotorGearRatio = from.rotorGearRatio;
}

}  // namespace

bool has_compound_joints(const pin::Model& model) {
  for (int j = 1; j < model.njoints; ++j) {
    const pin::JointModel& joint = model.joints[j];
    if (as<pin::JointModelTranslation>(joint) || as<pin::JointModelPlanar>(joint) ||
        as<pin::JointModelSphericalZYX>(joint) || as<pin::JointModelUniversal>(joint) ||
        as<pin::JointModelComposite>(joint))
      return true;
  }
  return false;
}

SingleJoints with_single_joints(const pin::Model& model) {
  SingleJoints out;
  out.joint.push_back(0);
  for (int j = 1; j < model.njoints; ++j) {
    std::vector<Part> parts;
    take_apart(model.joints[j], model.jointPlacements[j], parts);
    if (parts.empty())
      throw std::invalid_argument("joint '" + model.names[j] + "' is a composite of no joints");
    pin::JointIndex last = out.joint[model.parents[j]];
    for (std::size_t k = 0; k < parts.size(); ++k) {
      const bool ends = k + 1 == parts.size();
      const std::string name = model.names[j] + (ends ? "" : ":" + std::to_string(k));
      last = out.model.addJoint(last, parts[k].joint, parts[k].placement, name);
    }
    out.joint.push_back(last);
    out.model.appendBodyToJoint(last, model.inertias[j]);
  }
  for (std::size_t f = 1; f < model.frames.size(); ++f) {
    pin::Frame frame = model.frames[f];
    frame.parentJoint = out.joint[frame.parentJoint];
    frame.parentFrame = 0;
    out.model.addFrame(frame, false);
  }
  copy_numbers(model, out.model);
  return out;
}

}  // namespace stiction
