#include "support/random_world.hpp"

#include "stiction/math/constants.hpp"
#include "stiction/model/tangents.hpp"

#include "integrator/step_record.hpp"
#include "support/contact_problems.hpp"
#include "support/random_tree.hpp"
#include "support/recovery.hpp"

#include <algorithm>
#include <cstdlib>

namespace stiction::test {
namespace {

/// Random gains, losses and limits; what is near a limit goes by the configuration q.
void random_dofs(Rng& rng, Scene& scene, const Eigen::VectorXd& q, bool far) {
  Parameters& p = scene.parameters;
  for (const Tree& tree : scene.trees()) {
    for (int b = 0; b < tree.num_bodies; ++b) {
      const JointFacts& joint = joint_facts(tree.joint[b]);
      for (int k = tree.v_offset + tree.v_index[b]; k < tree.v_offset + tree.v_index[b] + joint.nv;
           ++k) {
        p.damping[k] = rng.uniform(0.0, 0.2);
        if (joint.free) continue;
        p.armature[k] = rng.uniform(0.0, 0.1);
        if (rng.uniform(0.0, 1.0) < 0.3) p.dry_friction[k] = rng.uniform(0.01, 3.0);
        if (joint.nv > 1) continue;
        if (rng.uniform(0.0, 1.0) < 0.5) {
          p.kp[k] = rng.uniform(0.0, 50.0);
          p.kd[k] = rng.uniform(0.0, 1.0);
        }
        if (rng.uniform(0.0, 1.0) < 0.3) p.effort_limit[k] = rng.uniform(0.1, 5.0);
        if (!joint.limited || rng.uniform(0.0, 1.0) > 0.3) continue;
        const double x = joint_position(tree.joint[b], q.data() + tree.q_offset + tree.q_index[b]);
        const double gap =
            far ? -std::pow(10.0, rng.uniform(-4.0, -1.0)) : rng.uniform(-5e-5, 2e-4);
        p.lower[k] = x - gap;
        if (rng.uniform(0.0, 1.0) < 0.5) {
          p.lower[k] = -kInfinity;
          p.upper[k] = x + gap;
        }
      }
    }
  }
}

/// A closure that is nearly closed at q, between the world and a body or two bodies.
void add_closures(Rng& rng, Scene& scene, const DynamicsWorkspace& work, double open) {
  const int n = scene.num_bodies();
  const int b = static_cast<int>(rng.uniform(0.0, 0.999) * n);
  const int a = static_cast<int>(rng.uniform(-0.3, 0.999) * n);
  const Transform X_B{rotation(rng), uniform_vector(rng, 0.2)};
  Transform X_W = body_placement(scene, work, b) * X_B;
  X_W.p += uniform_vector(rng, open);
  const Transform X_A = a < 0 || a == b ? X_W : inverse(body_placement(scene, work, a)) * X_W;
  const int other = a < 0 || a == b ? -1 : a;
  if (rng.uniform(0.0, 1.0) < 0.5) {
    scene.add_point_closure("closure", other, X_A.p, b, X_B.p);
  } else {
    scene.add_weld(
        "weld", other, {X_A.R * small_rotation(uniform_vector(rng, open)), X_A.p}, b, X_B);
  }
}

void add_gear(Rng& rng, Scene& scene, const Eigen::VectorXd& q, bool far) {
  std::vector<int> dofs;
  std::vector<double> x;
  for (const Tree& tree : scene.trees()) {
    for (int b = 0; b < tree.num_bodies; ++b) {
      if (joint_nv(tree.joint[b]) != 1 || joint_facts(tree.joint[b]).wraps) continue;
      dofs.push_back(tree.v_offset + tree.v_index[b]);
      x.push_back(joint_position(tree.joint[b], q.data() + tree.q_offset + tree.q_index[b]));
    }
  }
  if (dofs.size() < 2) return;
  const double ratio = rng.uniform(-2.0, 2.0);
  scene.add_gear(
      "gear", dofs.back(), dofs[0], ratio, x.back() - ratio * x[0] + (far ? 0.05 : 1e-5));
}

/// Torsional friction of every third world, in half of these with rolling friction; numbers of its
/// own. Not where ADMM solves: it knows the direction of a moment, a hundredth of the force, to
/// less than differences ask for.
void add_couples(int number, bool admm, Scene& scene) {
  if (number % 3 != 1 || admm) return;
  Rng rng(number);
  const auto some = [&](Material& m) {
    m.torsional_friction = rng.uniform(0.001, 0.05);
    m.rolling_friction = number % 2 ? rng.uniform(0.001, 0.02) : 0.0;
  };
  for (Material& m : scene.parameters.material) some(m);
  for (Material& m : scene.parameters.pair_material) some(m);
}

}  // namespace

Material random_material(Rng& rng, const Features& f) {
  Material m;
  m.friction = rng.uniform(0.0, 1.0) < 0.15 ? 0.0 : rng.uniform(0.1, 3.0);
  if (f.restitution) m.restitution = rng.uniform(0.2, 0.9);
  if (f.springs) {
    m.stiffness = rng.uniform(1e3, 1e5);
    m.damping = rng.uniform(0.0, 100.0);
  }
  return m;
}

World random_world(Rng& rng, const Features& f) {
  World w;
  Robot robot = random_robot(random_tree(rng));
  w.scene.add_robot(robot);
  w.scene.add_body("loose",
                   Shape::sphere(0.1),
                   1.0,
                   {rotation(rng), uniform_vector(rng, 0.5)},
                   random_material(rng, f));
  w.scene.parameters.com.back() = uniform_vector(rng, 0.02);
  const int nv = w.scene.nv();
  w.state = make_state(w.scene, w.scene.default_q());
  w.state.q = integrate(w.scene, w.state.q, random_vector(rng, nv));
  w.state.v =
      random_vector(rng, nv) * (rng.uniform(0.0, 1.0) < (f.springs ? 0.8 : 0.5) ? 0.01 : 1.0);
  DynamicsWorkspace work;
  work.resize(w.scene);
  forward_kinematics(w.scene, w.scene.parameters, w.state.q.data(), w.state.v.data(), work);
  // Feet, and a plane that the lowest ones touch.
  const Vec3d n = unit_vector(rng);
  double lowest = dot(n, body_placement(w.scene, work, w.scene.num_bodies() - 1).p) - 0.1;
  for (int b = 0; b + 1 < w.scene.num_bodies(); ++b) {
    if (rng.uniform(0.0, 1.0) < 0.4) continue;
    const Vec3d p = uniform_vector(rng, 0.2);
    const double r = rng.uniform(0.01, 0.1);
    w.scene.add_geometry("foot" + std::to_string(b),
                         b,
                         Shape::sphere(r),
                         {rotation(rng), p},
                         random_material(rng, f));
    lowest = std::min(lowest, dot(n, body_placement(w.scene, work, b) * p) - r);
  }
  const double gap = f.far ? -std::pow(10.0, rng.uniform(-4.0, -1.5)) : rng.uniform(-2e-4, 1e-4);
  w.scene.add_half_space("plane", n * (lowest - gap), n, random_material(rng, f));
  const int plane = static_cast<int>(w.scene.geometries().size()) - 1;
  std::vector<std::pair<int, int>> pairs;
  for (int g = 0; g < plane; ++g) pairs.push_back({g, plane});
  w.scene.enable_only(pairs);
  if (f.closures) add_closures(rng, w.scene, work, f.far ? 0.02 : 1e-5);
  if (f.gears) add_gear(rng, w.scene, w.state.q, f.far);
  random_dofs(rng, w.scene, w.state.q, f.far);
  const Eigen::VectorXd q = w.state.q, v = w.state.v;
  w.state = make_state(w.scene, {q.data(), q.data() + q.size()});
  w.state.v = v;
  w.control.torque = random_vector(rng, nv);
  w.control.position_target = random_vector(rng, nv);
  w.control.velocity_target = random_vector(rng, nv);
  if (f.wrench)
    w.control.wrenches.push_back({static_cast<int>(rng.uniform(0.0, 0.999) * w.scene.num_bodies()),
                                  uniform_vector(rng, 3.0),
                                  uniform_vector(rng, 1.0)});
  w.settings.solver.tolerance = 1e-13;
  w.settings.solver.name = f.ccp ? "ccp-admm" : "ncp-newton";
  if (f.ccp) w.settings.solver.max_iterations = 20000;
  w.settings.contact.tangential_compliance = f.tangential;
  w.settings.dt = rng.uniform(5e-4, 4e-3);
  return w;
}

int num_worlds() { return std::getenv("STICTION_FUZZ") != nullptr ? 9200 : 460; }

double smoothing_of(int world) {
  constexpr double kEnergies[] = {1e-2, 1e-4, 1e-6};
  return world % 8 == 7 ? kEnergies[world / 8 % 3] : 0.0;
}

DrawnWorld draw_world(Rng& rng, int number, double restitution, double closures) {
  const auto chance = [&](double p) { return rng.uniform(0.0, 1.0) < p; };
  const bool springs = chance(0.4);
  const Features features{springs,
                          springs && chance(0.5),
                          !springs && chance(restitution),
                          chance(closures),
                          chance(0.4),
                          chance(0.5),
                          chance(0.1) && smoothing_of(number) == 0.0};
  World w = random_world(rng, features);
  w.settings.smoothing = smoothing_of(number);
  if (chance(0.4)) {
    const int plane = static_cast<int>(w.scene.geometries().size()) - 1;
    w.scene.set_pair_material(0, plane, random_material(rng, features));
  }
  add_couples(number, features.ccp, w.scene);
  return {features, std::move(w)};
}

std::vector<std::string> kinds_of(const Simulator& simulator, const GradientReport& report) {
  std::vector<std::string> kinds;
  for (std::size_t i = 0; i < report.modes.size(); ++i) {
    const ConstraintRow& row = simulator.record().rows.rows[i];
    const bool tangential = row.source == RowSource::kContact && row.compliance[0] > 0.0;
    const bool far = row.source == RowSource::kLimitRecovery;  // beside its limit
    kinds.push_back((far ? to_string((&row - 1)->source) + std::string(" ") : "") +
                    to_string(row.source) + " " + to_string(row.kind) + " " +
                    (tangential ? "tangential " : "") + to_string(report.modes[i]));
  }
  return kinds;
}

bool comparable(const GradientReport& r) {
  const bool near = !r.margin.empty() && *std::ranges::min_element(r.margin) < 1e-5;
  return r.exact() && r.two_sided() && r.smallest_pivot > 1e-7 && !near;
}

Eigen::MatrixXd dense(const StepDerivatives& d) {
  Eigen::MatrixXd J(2 * d.nv(), 3 * d.nv());
  J << d.A(), d.B();
  return J;
}

}  // namespace stiction::test
