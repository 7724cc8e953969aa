#include "model/pinocchio_robot.hpp"
#include "stepper.hpp"
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/kinematics.hpp>

#include <algorithm>
#include <stdexcept>

// The one file of this program that calls Pinocchio's algorithms. Eigen::Ref arguments take the
// instances compiled in its libraries.

namespace stiction::bench {
namespace {

namespace pin = pinocchio;
using Eigen::Vector3d;
using VectorRef = Eigen::Ref<const Eigen::VectorXd>;
using ForceVector = PINOCCHIO_ALIGNED_STD_VECTOR(pin::Force);

const pin::Model& model_of(const Job& job) {
  if (job.scene.robots().size() != 1 || job.scene.robots()[0].nv != job.scene.nv())
    throw std::runtime_error("steps of Pinocchio are for scenes of one robot");
  return job.scene.robots()[0].description.model->model;
}

/// A sphere of the robot that may touch the ground.
struct Foot {
  pin::JointIndex joint;
  Vector3d centre;  // in the joint [m]
  double radius, friction;
  std::uint64_t pair;
  Vector3d extension;  // of the tangential spring, world [m]
};

std::vector<Foot> feet_of(const Job& job) {
  const Scene& scene = job.scene;
  std::vector<Foot> feet;
  const int ground = scene.geometry("ground");
  for (int g = 0; g < static_cast<int>(scene.geometries().size()); ++g) {
    const Geometry& geometry = scene.geometries()[g];
    if (geometry.body < 0 || !scene.pair_enabled(ground, g)) continue;
    if (geometry.shape.type != ShapeType::kSphere)
      throw std::runtime_error("geometry " + geometry.name + " is no sphere");
    const Vec3d p = scene.parameters.geometry_placement[g].p;
    feet.push_back({static_cast<pin::JointIndex>(geometry.body + 1),
                    {p.x, p.y, p.z},
                    geometry.shape.size.x,
                    scene.pair_material(scene.parameters, ground, g).friction,
                    static_cast<std::uint64_t>(ground) << 32 | static_cast<std::uint64_t>(g),
                    Vector3d::Zero()});
  }
  return feet;
}

class PinocchioStep : public Stepper {
 public:
  PinocchioStep(const Job& job, int steps, bool contacts)
      : model_(model_of(job)),
        data_(model_),
        steps_(steps),
        h_(job.period / steps),
        k_(job.stiffness),
        d_(job.damping),
        forces_(model_.joints.size(), pin::Force::Zero()) {
    if (contacts) feet_ = feet_of(job);
    with_contacts_ = contacts;
  }

  void begin(const Window& window) override {
    q_ = window.state.q;
    v_ = window.state.v;
    torque_ = window.torque;
    for (Foot& foot : feet_) {
      foot.extension.setZero();
      for (const ContactMemory& m : window.state.contacts)
        if (m.pair == foot.pair) foot.extension = {m.extension.x, m.extension.y, m.extension.z};
    }
  }
  void advance() override {
    for (int k = 0; k < steps_; ++k) step();
  }
  const Eigen::VectorXd& velocity() const override { return v_; }
  bool finite() const override { return q_.allFinite() && v_.allFinite(); }

 private:
  void step() {
    if (with_contacts_) {
      pin::forwardKinematics(model_, data_, VectorRef(q_), VectorRef(v_));
      for (pin::Force& f : forces_) f.setZero();
      for (Foot& foot : feet_) push(foot);
      pin::aba(model_, data_, VectorRef(q_), VectorRef(v_), VectorRef(torque_), forces_);
    } else {
      pin::aba(model_, data_, VectorRef(q_), VectorRef(v_), VectorRef(torque_));
    }
    way_ = h_ * v_ + 0.5 * h_ * h_ * data_.ddq;
    v_ += h_ * data_.ddq;
    next_.resize(q_.size());
    pin::integrate(model_, VectorRef(q_), VectorRef(way_), Eigen::Ref<Eigen::VectorXd>(next_));
    q_.swap(next_);
  }

  /// Spring, damper and friction cone at the lowest point of a sphere, as a force on its joint.
  void push(Foot& foot) {
    const pin::SE3& X = data_.oMi[foot.joint];
    const Vector3d point = X.act(foot.centre) - Vector3d(0, 0, foot.radius);
    if (point.z() >= 0.0) {
      foot.extension.setZero();
      return;
    }
    const Vector3d arm = X.actInv(point);
    const pin::Motion& V = data_.v[foot.joint];
    const Vector3d velocity = X.rotation() * (V.linear() + V.angular().cross(arm));
    const double normal = std::max(0.0, -k_ * point.z() - d_ * velocity.z());
    Vector3d force(k_ * foot.extension.x() - d_ * velocity.x(),
                   k_ * foot.extension.y() - d_ * velocity.y(),
                   normal);
    const double trial = force.head<2>().norm(), limit = foot.friction * normal;
    if (trial <= limit) {
      foot.extension.head<2>() -= h_ * velocity.head<2>();
    } else {  // backward Euler on e' = (f - k e) / d
      force.head<2>() *= limit / trial;
      foot.extension.head<2>() =
          (foot.extension.head<2>() + h_ / d_ * force.head<2>()) / (1.0 + h_ * k_ / d_);
    }
    const Vector3d local = X.rotation().transpose() * force;
    forces_[foot.joint].linear() += local;
    forces_[foot.joint].angular() += arm.cross(local);
  }

  const pin::Model& model_;
  pin::Data data_;
  int steps_;
  double h_, k_, d_;
  bool with_contacts_ = false;
  std::vector<Foot> feet_;
  ForceVector forces_;
  Eigen::VectorXd q_, v_, torque_, way_, next_;
};

}  // namespace

std::unique_ptr<Stepper> pinocchio_aba(const Job& job, int steps) {
  return std::make_unique<PinocchioStep>(job, steps, false);
}

std::unique_ptr<Stepper> pinocchio_explicit_euler(const Job& job, int steps) {
  return std::make_unique<PinocchioStep>(job, steps, true);
}

}  // namespace stiction::bench
