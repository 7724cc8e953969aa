#include "stiction/model/scene.hpp"

#include "stiction/model/state.hpp"

#include "math/number_text.hpp"
#include "math/quaternion.hpp"
#include "model/check_rotation.hpp"
#include "model/joint.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace stiction {
namespace {

[[noreturn]] void fail(const std::string& what) { throw std::invalid_argument(what); }

void check_mass(double mass, const std::string& body_name) {
  if (mass >= 1.0 / kLargest && mass <= kLargest) return;
  fail("add_body(\"" + body_name + "\").mass = " + number_text(mass) +
       ": must be > 0 [kg], in [1e-100, 1e100]");
}

}  // namespace

void Scene::add_tree(const std::vector<BodyDescription>& bodies,
                     int first,
                     int last,
                     const Transform& base,
                     const std::vector<DofDescription>& dofs,
                     const std::string& prefix) {
  Tree tree = Tree::build(bodies, first, last);
  tree.body_offset = num_bodies();
  tree.q_offset = nq_;
  tree.v_offset = nv_;
  Parameters& p = parameters;
  for (int i = first; i < last; ++i) {
    const BodyDescription& b = bodies[i];
    body_names_.push_back(prefix + b.name);
    joint_names_.push_back(prefix + (b.joint_name.empty() ? b.name : b.joint_name));
    body_tree_.push_back(static_cast<int>(trees_.size()));
    const int parent = tree.parent[i - first];
    body_parent_.push_back(parent < 0 ? -1 : tree.body_offset + parent);
    p.placement.push_back(b.placement);
    p.axis.push_back(b.axis);
    p.axis_code.push_back(tree.axis_code[i - first]);
    p.mass.push_back(b.mass);
    p.com.push_back(b.com);
    p.inertia.push_back(b.inertia);
    for (int k = 0; k < joint_nv(b.joint); ++k) {
      const bool single = joint_nv(b.joint) == 1;
      dof_names_.push_back(joint_names_.back() + (single ? "" : "[" + std::to_string(k) + "]"));
    }
  }
  for (int k = 0; k < tree.nv; ++k) {
    const DofDescription& d = dofs[k];
    dof_tree_.push_back(static_cast<int>(trees_.size()));
    p.armature.push_back(d.armature);
    p.damping.push_back(d.damping);
    p.dry_friction.push_back(d.dry_friction);
    p.lower.push_back(d.lower);
    p.upper.push_back(d.upper);
    p.effort_limit.push_back(d.effort_limit);
    p.kp.push_back(0.0);
    p.kd.push_back(0.0);
    p.spring_stiffness.push_back(0.0);
    p.spring_rest.push_back(0.0);
  }
  p.base.push_back(base);
  nq_ += tree.nq;
  nv_ += tree.nv;
  trees_.push_back(std::move(tree));
}

int Scene::add_robot(const Robot& robot,
                     const Transform& X_W,
                     const std::string& robot_name,
                     const std::optional<std::string>& given_prefix) {
  RobotSlice slice;
  slice.name = robot_name.empty() ? robot.name : robot_name;
  for (const RobotSlice& r : robots_) {
    if (r.name == slice.name) fail("robot_name \"" + slice.name + "\" is taken; give another one");
  }
  check_rotation(X_W, "add_robot(\"" + slice.name + "\").X_W");
  slice.body_offset = num_bodies();
  slice.q_offset = nq_;
  slice.v_offset = nv_;
  slice.num_bodies = static_cast<int>(robot.bodies.size());
  slice.nq = robot.nq();
  slice.nv = robot.nv();
  const std::string prefix = given_prefix.value_or(robots_.empty() ? "" : slice.name + "/");
  std::vector<BodyDescription> bodies = robot.bodies;
  for (BodyDescription& b : bodies) {
    if (prefix.empty() && b.name == "world")
      b.name = slice.name + "/world";  // a floating root link
    if (!b.name.empty()) check_new_body(prefix + b.name, "add_robot(\"" + slice.name + "\"): link");
  }

  int v = 0;
  for (int first = 0; first < slice.num_bodies;) {
    int last = first + 1;
    while (last < slice.num_bodies && robot.bodies[last].parent >= 0) ++last;
    int nv = 0;
    for (int i = first; i < last; ++i) nv += joint_nv(robot.bodies[i].joint);
    const std::vector<DofDescription> dofs(robot.dofs.begin() + v, robot.dofs.begin() + v + nv);
    add_tree(bodies, first, last, X_W, dofs, prefix);
    v += nv;
    first = last;
  }

  const auto placed = [&](std::vector<double> q) {
    if (!robot.bodies.empty() && joint_facts(robot.bodies[0].joint).free) {
      const Transform X = X_W * Transform{rotation_from_quaternion(&q[3]), {q[0], q[1], q[2]}};
      for (int k = 0; k < 3; ++k) q[k] = X.p[k];
      quaternion_from_rotation(X.R, &q[3]);
    }
    return q;
  };
  const std::vector<double> neutral = placed(robot.neutral);
  default_q_.insert(default_q_.end(), neutral.begin(), neutral.end());
  for (auto& [n, q] : configurations_) q.insert(q.end(), neutral.begin(), neutral.end());
  for (const auto& [n, q] : robot.configurations) {
    std::vector<double> all = configurations_.count(n) ? configurations_[n] : default_q_;
    const std::vector<double> own = placed(q);
    std::copy(own.begin(), own.end(), all.begin() + slice.q_offset);
    configurations_[n] = all;
  }

  const int geometry_offset = static_cast<int>(geometries_.size());
  for (const GeometryDescription& g : robot.geometries) {
    geometries_.push_back({prefix + g.name,
                           g.link,
                           g.body < 0 ? -1 : slice.body_offset + g.body,
                           static_cast<int>(robots_.size()),
                           g.shape});
    parameters.geometry_placement.push_back(g.body < 0 ? X_W * g.placement : g.placement);
    parameters.material.push_back(g.material);
    parameters.geometry_size.push_back(g.shape.size);
    parameters.geometry_velocity.emplace_back();
    parameters.surface_velocity.emplace_back();
  }
  for (const auto& [a, b] : robot.disabled_pairs)
    disable_pair(geometry_offset + a, geometry_offset + b);
  for (const GearDescription& g : robot.gears) {
    add_gear(dof_names_[slice.v_offset + g.dof],
             slice.v_offset + g.dof,
             slice.v_offset + g.driver,
             g.ratio,
             g.offset);
  }
  messages_.insert(messages_.end(), robot.messages.begin(), robot.messages.end());
  slice.description = robot;
  slice.X_W = X_W;
  slice.prefix = prefix;
  robots_.push_back(slice);
  return static_cast<int>(robots_.size()) - 1;
}

int Scene::add_body(const std::string& body_name,
                    const MassProperties& mass,
                    const Transform& X_W) {
  check_new_body(body_name, "body_name");
  check_mass(mass.mass, body_name);
  check_rotation(X_W, "add_body(\"" + body_name + "\").X_W");
  BodyDescription b;
  b.name = body_name;
  b.joint_name = body_name;
  b.joint = JointType::kFreeFlyer;
  b.mass = mass.mass;
  b.com = mass.com;
  b.inertia = mass.inertia;
  add_tree({b}, 0, 1, X_W, std::vector<DofDescription>(6), "");
  double q[7] = {X_W.p.x, X_W.p.y, X_W.p.z};
  quaternion_from_rotation(X_W.R, q + 3);
  default_q_.insert(default_q_.end(), q, q + 7);
  for (auto& [n, c] : configurations_) c.insert(c.end(), q, q + 7);
  return num_bodies() - 1;
}

int Scene::add_body(const std::string& body_name,
                    const Shape& shape,
                    double mass,
                    const Transform& X_W,
                    const Material& material) {
  MassProperties m = mass_properties(shape, 1.0);
  check_mass(mass, body_name);
  const double s = mass / m.mass;
  m.mass = mass;
  m.inertia = {m.inertia.xx * s,
               m.inertia.xy * s,
               m.inertia.yy * s,
               m.inertia.xz * s,
               m.inertia.yz * s,
               m.inertia.zz * s};
  const int body = add_body(body_name, m, X_W);
  add_geometry(body_name, body, shape, Transform::identity(), material);
  return body;
}

void Scene::check_body(int body, const std::string& field) const {
  if (body >= -1 && body < num_bodies()) return;
  fail(field + " = " + std::to_string(body) + ": must be in [-1, " + std::to_string(num_bodies()) +
       ")");
}

int Scene::add_geometry(const std::string& geometry_name,
                        int body,
                        const Shape& shape,
                        const Transform& X_B,
                        const Material& material) {
  check_name(geometry_name, "geometry_name");
  check_body(body, "add_geometry(\"" + geometry_name + "\").body");
  validate_material(material, "add_geometry(\"" + geometry_name + "\").material");
  if (body >= 0 && !shape.bounded()) {
    fail("add_geometry(\"" + geometry_name +
         "\"): a half-space must be fixed to the world (body = -1)");
  }
  for (const Geometry& g : geometries_) {
    if (g.name == geometry_name)
      fail("geometry_name \"" + geometry_name + "\" is taken; give another one");
  }
  check_rotation(X_B, "add_geometry(\"" + geometry_name + "\").X_B");
  geometries_.push_back({geometry_name, "", body, -1, shape});
  parameters.geometry_placement.push_back(X_B);
  parameters.material.push_back(material);
  parameters.geometry_size.push_back(shape.size);
  parameters.geometry_velocity.emplace_back();
  parameters.surface_velocity.emplace_back();
  return static_cast<int>(geometries_.size()) - 1;
}

int Scene::add_ground(const Material& material) {
  return add_geometry("ground", -1, Shape::half_space(), Transform::identity(), material);
}

int Scene::add_half_space(const std::string& geometry_name,
                          const Vec3d& point,
                          const Vec3d& normal,
                          const Material& material) {
  const double n = norm(normal);
  if (!(n > 0.0 && std::isfinite(n)))
    fail("add_half_space(\"" + geometry_name + "\").normal: must not be zero");
  const Vec3d z = normal * (1.0 / n);
  const Vec3d helper = std::abs(z.x) < 0.9 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0};
  Vec3d x = helper - z * dot(helper, z);
  x = x * (1.0 / norm(x));
  return add_geometry(
      geometry_name, -1, Shape::half_space(), {{x, cross(z, x), z}, point}, material);
}

int Scene::add_closure(const Closure& closure, const Transform& X_A, const Transform& X_B) {
  const std::string field = "closure \"" + closure.name + "\"";
  check_body(closure.body_a, field + ".body_a");
  check_body(closure.body_b, field + ".body_b");
  if (closure.body_a == closure.body_b) fail(field + ": body_a and body_b are the same");
  check_rotation(X_A, field + ".X_A");
  check_rotation(X_B, field + ".X_B");
  closures_.push_back(closure);
  parameters.closure_X_A.push_back(X_A);
  parameters.closure_X_B.push_back(X_B);
  return static_cast<int>(closures_.size()) - 1;
}

int Scene::add_point_closure(
    const std::string& closure_name, int body_a, const Vec3d& p_A, int body_b, const Vec3d& p_B) {
  const Transform X_A{Mat3d::identity(), p_A}, X_B{Mat3d::identity(), p_B};
  return add_closure({Closure::Kind::kPoint, closure_name, body_a, body_b}, X_A, X_B);
}

int Scene::add_weld(const std::string& weld_name,
                    int body_a,
                    const Transform& X_A,
                    int body_b,
                    const Transform& X_B) {
  return add_closure({Closure::Kind::kWeld, weld_name, body_a, body_b}, X_A, X_B);
}

int Scene::add_gear(
    const std::string& gear_name, int dof_index, int driver, double ratio, double offset) {
  for (const int d : {dof_index, driver}) {
    if (d < 0 || d >= nv_)
      fail("gear \"" + gear_name + "\": dof " + std::to_string(d) + " does not exist");
  }
  if (dof_index == driver) fail("gear \"" + gear_name + "\": dof and driver are the same");
  for (const int d : {dof_index, driver}) {
    if (joint_facts(joint_of_dof(d)).nv != 1)
      fail("gear \"" + gear_name + "\": \"" + dof_names_[d] + "\" is not a one-dof joint");
  }
  check_gear("gear \"" + gear_name + "\".ratio", {gear_name, dof_index, driver}, ratio);
  for (const auto& [field, x] : {std::pair("ratio", ratio), std::pair("offset", offset)}) {
    if (!(std::abs(x) <= kLargest)) {
      fail("gear \"" + gear_name + "\"." + field + " = " + number_text(x) +
           ": must be finite, at most 1e100");
    }
  }
  gears_.push_back({gear_name, dof_index, driver});
  parameters.gear_ratio.push_back(ratio);
  parameters.gear_offset.push_back(offset);
  return static_cast<int>(gears_.size()) - 1;
}

int Scene::body_of_dof(int dof) const {
  const Tree& tree = trees_[dof_tree_[dof]];
  return tree.body_offset + tree.joint_of_dof[dof - tree.v_offset];
}

JointType Scene::joint_of_dof(int dof) const {
  const Tree& tree = trees_[dof_tree_[dof]];
  return tree.joint[tree.joint_of_dof[dof - tree.v_offset]];
}

bool Scene::takes_servo(int dof) const { return joint_nv(joint_of_dof(dof)) == 1; }

void Scene::set_gains(int d, double kp, double kd) {
  if (d < 0 || d >= nv_)
    fail("set_gains.dof = " + std::to_string(d) + ": must be in [0, " + std::to_string(nv_) + ")");
  if (!takes_servo(d)) {
    fail("set_gains(\"" + dof_names_[d] +
         "\"): servos need a revolute, continuous or prismatic joint");
  }
  if (!(kp >= 0.0 && kp <= kLargest && kd >= 0.0 && kd <= kLargest)) {
    fail("set_gains(\"" + dof_names_[d] + "\"): kp = " + number_text(kp) +
         ", kd = " + number_text(kd) + ": must be >= 0 and finite, at most 1e100");
  }
  parameters.kp[d] = kp;
  parameters.kd[d] = kd;
}

void Scene::add_visual(const Visual& visual) {
  check_body(visual.body, "add_visual.body");
  check_rotation(visual.placement, "add_visual.X_B");
  for (const double x : visual.color) {
    if (!(x >= 0.0 && x <= 1.0))
      fail("add_visual.color = " + std::to_string(x) + ": must be in [0, 1]");
  }
  visuals_.push_back(visual);
}

std::vector<double> Scene::dof_positions(const std::vector<double>& q) const {
  std::vector<double> x(nv_, 0.0);
  for (const Tree& tree : trees_) {
    for (int b = 0; b < tree.num_bodies; ++b) {
      x[tree.v_offset + tree.v_index[b]] =
          joint_position(tree.joint[b], q.data() + tree.q_offset + tree.q_index[b]);
    }
  }
  return x;
}

}  // namespace stiction
