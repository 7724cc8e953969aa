#include "model/joint.hpp"
#include "model/pinocchio_robot.hpp"

// The way back: a Pinocchio model of a robot that has none, because it was read from a saved scene
// or put together in memory.

namespace stiction {
namespace {

namespace pin = pinocchio;

pin::SE3 to_se3(const Transform& X) {
  Eigen::Matrix3d R;
  R << X.R.c0.x, X.R.c1.x, X.R.c2.x, X.R.c0.y, X.R.c1.y, X.R.c2.y, X.R.c0.z, X.R.c1.z, X.R.c2.z;
  return {R, Eigen::Vector3d(X.p.x, X.p.y, X.p.z)};
}

template <class X, class Y, class Z, class Unaligned>
pin::JointModel about(const Vec3d& axis) {
  if (axis.x == 1.0) return pin::JointModel(X());
  if (axis.y == 1.0) return pin::JointModel(Y());
  if (axis.z == 1.0) return pin::JointModel(Z());
  return pin::JointModel(Unaligned(Eigen::Vector3d(axis.x, axis.y, axis.z)));
}

pin::JointModel joint_model(const BodyDescription& body) {
  switch (body.joint) {
    case JointType::kFreeFlyer:
      return pin::JointModel(pin::JointModelFreeFlyer());
    case JointType::kSpherical:
      return pin::JointModel(pin::JointModelSpherical());
    case JointType::kContinuous:
      return about<pin::JointModelRUBX,
                   pin::JointModelRUBY,
                   pin::JointModelRUBZ,
                   pin::JointModelRevoluteUnboundedUnaligned>(body.axis);
    case JointType::kPrismatic:
      return about<pin::JointModelPX,
                   pin::JointModelPY,
                   pin::JointModelPZ,
                   pin::JointModelPrismaticUnaligned>(body.axis);
    case JointType::kRevolute:
      break;
  }
  return about<pin::JointModelRX,
               pin::JointModelRY,
               pin::JointModelRZ,
               pin::JointModelRevoluteUnaligned>(body.axis);
}

pin::Inertia to_inertia(const BodyDescription& body) {
  const Sym3d& i = body.inertia;
  Eigen::Matrix3d I;
  I << i.xx, i.xy, i.xz, i.xy, i.yy, i.yz, i.xz, i.yz, i.zz;
  return {body.mass, Eigen::Vector3d(body.com.x, body.com.y, body.com.z), I};
}

void set_dof(const DofDescription& dof, JointType joint, int q, int v, pin::Model& model) {
  if (joint_facts(joint).limited) {
    model.lowerPositionLimit[q] = dof.lower;
    model.upperPositionLimit[q] = dof.upper;
  }
  model.lowerEffortLimit[v] = -dof.effort_limit;
  model.upperEffortLimit[v] = dof.effort_limit;
  model.lowerVelocityLimit[v] = -dof.velocity_limit;
  model.upperVelocityLimit[v] = dof.velocity_limit;
  model.lowerDryFrictionLimit[v] = -dof.dry_friction;
  model.upperDryFrictionLimit[v] = dof.dry_friction;
  model.damping[v] = dof.damping;
  model.armature[v] = dof.armature;
}

/// Joints have theirs already.
void add_frames(const Robot& robot, pin::Model& model) {
  for (const FrameDescription& f : robot.frames) {
    const auto joint = static_cast<pin::JointIndex>(f.body + 1);
    if (!f.link && f.body >= 0 && f.name == model.names[joint]) continue;
    const pin::FrameIndex parent =
        joint == 0 ? 0 : model.getFrameId(model.names[joint], pin::JOINT);
    model.addFrame(
        pin::Frame(f.name, joint, parent, to_se3(f.placement), f.link ? pin::BODY : pin::OP_FRAME));
  }
}

}  // namespace

pinocchio::Model pinocchio_model_of(const Robot& robot) {
  if (robot.model) return robot.model->model;
  pin::Model model;
  model.name = robot.name;
  std::size_t v = 0;
  for (const BodyDescription& body : robot.bodies) {
    const std::string& name = body.joint_name.empty() ? body.name : body.joint_name;
    const pin::JointIndex j = model.addJoint(static_cast<pin::JointIndex>(body.parent + 1),
                                             joint_model(body),
                                             to_se3(body.placement),
                                             name);
    model.addJointFrame(j);
    model.appendBodyToJoint(j, to_inertia(body), pin::SE3::Identity());
    for (int k = 0; k < joint_nv(body.joint); ++k)
      set_dof(robot.dofs[v++], body.joint, model.idx_qs[j], model.idx_vs[j] + k, model);
  }
  add_frames(robot, model);
  for (const auto& [name, q] : robot.configurations) {
    model.referenceConfigurations[name] =
        Eigen::Map<const Eigen::VectorXd>(q.data(), static_cast<Eigen::Index>(q.size()));
  }
  return model;
}

}  // namespace stiction
