#include "integrator/step_record.hpp"
#include "support/random_tree.hpp"
#include "support/recovery.hpp"
#include "support/step_differences.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <map>
#include <string>

// The derivatives of one step of random robots and loose bodies on a random plane, with every kind
// of row, against differences of the step.

namespace stiction::test {
namespace {

/// What a world has besides a robot, a loose body and a plane.
struct Features {
  bool springs, tangential, restitution, closures, gears, wrench, ccp;
};

struct World {
  Scene scene;
  SimulatorSettings settings;
  State state;
  Control control;
};

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

/// Random gains, losses and limits; what is near a limit goes by the configuration q.
void random_dofs(Rng& rng, Scene& scene, const Eigen::VectorXd& q) {
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
        const double gap = rng.uniform(-5e-5, 2e-4);
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
void add_closures(Rng& rng, Scene& scene, const DynamicsWorkspace& work) {
  const int n = scene.num_bodies();
  const int b = static_cast<int>(rng.uniform(0.0, 0.999) * n);
  const int a = static_cast<int>(rng.uniform(-0.3, 0.999) * n);
  const Transform X_B{rotation(rng), uniform_vector(rng, 0.2)};
  Transform X_W = body_placement(scene, work, b) * X_B;
  X_W.p += uniform_vector(rng, 1e-5);
  const Transform X_A = a < 0 || a == b ? X_W : inverse(body_placement(scene, work, a)) * X_W;
  const int other = a < 0 || a == b ? -1 : a;
  if (rng.uniform(0.0, 1.0) < 0.5) {
    scene.add_point_closure("closure", other, X_A.p, b, X_B.p);
  } else {
    scene.add_weld(
        "weld", other, {X_A.R * small_rotation(uniform_vector(rng, 1e-5)), X_A.p}, b, X_B);
  }
}

void add_gear(Rng& rng, Scene& scene, const Eigen::VectorXd& q) {
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
  scene.add_gear("gear", dofs.back(), dofs[0], ratio, x.back() - ratio * x[0] + 1e-5);
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
  w.state.v = random_vector(rng, nv) * (rng.uniform(0.0, 1.0) < 0.5 ? 0.01 : 1.0);
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
  const double gap = rng.uniform(-2e-4, 1e-4);
  w.scene.add_half_space("plane", n * (lowest - gap), n, random_material(rng, f));
  const int plane = static_cast<int>(w.scene.geometries().size()) - 1;
  std::vector<std::pair<int, int>> pairs;
  for (int g = 0; g < plane; ++g) pairs.push_back({g, plane});
  w.scene.enable_only(pairs);
  if (f.closures) add_closures(rng, w.scene, work);
  if (f.gears) add_gear(rng, w.scene, w.state.q);
  random_dofs(rng, w.scene, w.state.q);
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

/// The number that a column of a field stands for; null: none that may be moved both ways.
double* number(const std::string& field, int k, Parameters& p, Control& control) {
  const auto positive = [](double& x) { return x > 0.0 && std::isfinite(x) ? &x : nullptr; };
  const auto any = [](double& x) { return std::isfinite(x) ? &x : nullptr; };
  if (field == "gravity") return &p.gravity[k];
  if (field == "mass") return &p.mass[k];
  if (field == "com") return &p.com[k / 3][k % 3];
  if (field == "inertia") return &(&p.inertia[k / 6].xx)[k % 6];
  if (field == "wrench")
    return &(k % 6 < 3 ? control.wrenches[k / 6].force : control.wrenches[k / 6].moment)[k % 3];
  if (field == "position_target") return &control.position_target[k];
  if (field == "velocity_target") return &control.velocity_target[k];
  if (field == "kp") return positive(p.kp[k]);
  if (field == "kd") return positive(p.kd[k]);
  if (field == "damping") return positive(p.damping[k]);
  if (field == "armature") return positive(p.armature[k]);
  if (field == "effort_limit") return any(p.effort_limit[k]);
  if (field == "dry_friction") return positive(p.dry_friction[k]);
  if (field == "lower") return any(p.lower[k]);
  if (field == "upper") return any(p.upper[k]);
  if (field == "gear_ratio") return &p.gear_ratio[k];
  if (field == "gear_offset") return &p.gear_offset[k];
  if (field == "friction") return positive(p.material[k].friction);
  if (field == "restitution") return positive(p.material[k].restitution);
  if (field == "stiffness") return positive(p.material[k].stiffness);
  if (field == "contact_damping") return positive(p.material[k].damping);
  if (field == "pair_friction") return positive(p.pair_material[k].friction);
  if (field == "pair_restitution") return positive(p.pair_material[k].restitution);
  if (field == "pair_stiffness") return positive(p.pair_material[k].stiffness);
  if (field == "pair_contact_damping") return positive(p.pair_material[k].damping);
  BOOST_FAIL("no number for " << field);
  return nullptr;
}

/// A shift along an axis (0 to 2) or a turn about one.
Transform tangent(int k, double size) {
  Vec3d x{0, 0, 0};
  x[k % 3] = size;
  if (k < 3) return {Mat3d::identity(), x};
  const auto column = [&](int i) {
    Vec3d e{0, 0, 0};
    e[i] = 1.0;
    return turned(x, e);
  };
  return {{column(0), column(1), column(2)}, {0, 0, 0}};
}

/// A column of a parameter beside differences, in the rows of q+ and those of v+, with the step of
/// the parameter that sees most of the column.
class ColumnCheck {
 public:
  /// Ends of the step with the parameter h more, as it is, and h less.
  void add(const Eigen::VectorXd& column,
           const Eigen::VectorXd& plus,
           const Eigen::VectorXd& base,
           const Eigen::VectorXd& minus,
           double h) {
    const Eigen::VectorXd central = (plus - minus) / (2.0 * h),
                          bend = (plus + minus - 2.0 * base) / h;
    const Eigen::Index nv = column.size() / 2;
    for (int k = 0; k < 2; ++k) {
      const auto size = [&](const Eigen::VectorXd& x) {
        return x.segment(k * nv, nv).cwiseAbs().maxCoeff();
      };
      const double rounding = kRounding[k] / h;
      if (size(bend) > std::max(1e-2 * size(central), rounding)) continue;
      const double allowed = std::max(3e-5 * size(central), rounding);
      if (allowed > 0.5 * allowed_[k]) continue;
      allowed_[k] = allowed;
      error_[k] = size(column - central) / allowed;
      seen_[k] = size(column) / allowed;
    }
  }
  bool compared() const { return allowed_[0] < kInfinity && allowed_[1] < kInfinity; }
  double error() const { return std::max(error_[0], error_[1]); }  ///< of the allowed one
  /// A wrong sign or a missing term would have been seen.
  bool seen() const { return std::min(seen_[0], seen_[1]) > 10.0; }

 private:
  static constexpr double kRounding[2] = {1e-14,
                                          3e-12};  // of the end of a step [rad or m, and 1/s]
  double allowed_[2] = {kInfinity, kInfinity}, error_[2] = {0.0, 0.0}, seen_[2] = {0.0, 0.0};
};

/// Worlds from here on step on the central path, of some energy.
constexpr int kSmoothWorlds = 400;
double smoothing_of(int world) {
  constexpr double kEnergies[] = {1e-2, 1e-4, 1e-6};
  return world < kSmoothWorlds ? 0.0 : kEnergies[world % 3];
}

std::string kind_of(const ConstraintRow& row, ContactMode mode) {
  return std::string(to_string(row.source)) + " " + to_string(row.kind) + " " + to_string(mode);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(random_steps_test)

BOOST_AUTO_TEST_CASE(every_row_agrees_with_differences) {
  Rng rng(11);
  std::map<std::string, int> seen;
  int compared = 0, columns = 0, kinks[3] = {0, 0, 0};
  for (int k = 0; k < kSmoothWorlds + 60; ++k) {
    const auto chance = [&](double p) { return rng.uniform(0.0, 1.0) < p; };
    const bool springs = chance(0.3);
    const Features features{springs,
                            springs && chance(0.5),
                            !springs && chance(0.3),
                            chance(0.3),
                            chance(0.3),
                            chance(0.3),
                            chance(0.1) && k < kSmoothWorlds};
    World w = random_world(rng, features);
    w.settings.smoothing = smoothing_of(k);
    Simulator simulator(w.scene, w.settings);
    // Springs are stretched by the step before.
    if (features.tangential && !simulator.step(w.state, w.control).whole()) continue;
    State next = w.state;
    simulator.step(next, w.control);
    if (simulator.report().status != StepStatus::kOk || simulator.report().safe_islands > 0)
      continue;
    const StepDerivatives& d = simulator.step_derivatives();
    const GradientReport report = d.report;
    if (!report.exact() || !report.two_sided() || report.smallest_pivot < 1e-7) continue;
    // Differences would step over a switch that is this near.
    if (!report.margin.empty() &&
        *std::min_element(report.margin.begin(), report.margin.end()) < 1e-5)
      continue;
    std::vector<std::string> kinds;
    for (std::size_t i = 0; i < report.modes.size(); ++i)
      kinds.push_back(kind_of(simulator.record().rows.rows[i], report.modes[i]));
    Eigen::MatrixXd J(2 * d.nv(), 3 * d.nv());
    J << d.A(), d.B();
    const ColumnErrors e = column_errors(simulator, w.state, w.control, J);
    const int nv = w.scene.nv();
    for (int block = 0; block < 3; ++block) {
      std::string all;
      for (const std::string& s : kinds) all += s + ", ";
      kinks[block] += e.kinks(block * nv, nv);
      BOOST_TEST(e.worst(block * nv, nv) < 1e-6,
                 "world " << k << " block " << block << ": " << e.worst(block * nv, nv) << " with "
                          << all);
    }
    for (const std::string& s : kinds) ++seen[k < kSmoothWorlds ? s : "on the path"];
    if (report.num_saturated > 0) ++seen["saturated"];
    ++compared;
    columns += nv;
  }
  BOOST_TEST(compared > 150);
  for (const int k : kinks)
    BOOST_TEST(k < 1e-3 * columns, k << " of " << columns << " columns of a block have kinks");
  for (const char* row : {"contact recovery open",
                          "contact recovery slide",
                          "contact recovery stick",
                          "contact speculative open",
                          "contact speculative slide",
                          "contact speculative stick",
                          "contact spring open",
                          "contact spring slide",
                          "contact spring stick",
                          "contact restitution slide",
                          "contact restitution stick",
                          "closure drift stick",
                          "closure recovery stick",
                          "gear recovery stick",
                          "dry_friction none open",
                          "dry_friction none stick",
                          "lower_limit recovery stick",
                          "lower_limit speculative open",
                          "upper_limit recovery stick",
                          "upper_limit speculative stick",
                          "saturated",
                          "on the path"})
    BOOST_TEST(seen[row] >= 3, row << " was compared " << seen[row] << " times");
}

BOOST_AUTO_TEST_CASE(every_parameter_agrees_with_differences) {
  Rng rng(12);
  std::map<std::string, int> moved_something;
  int kinks = 0, columns = 0;
  for (int k = 0; k < kSmoothWorlds + 60; ++k) {
    const auto chance = [&](double p) { return rng.uniform(0.0, 1.0) < p; };
    const bool springs = chance(0.4);
    const Features features{springs,
                            springs && chance(0.5),
                            !springs && chance(0.7),
                            chance(0.2),
                            chance(0.4),
                            chance(0.5),
                            chance(0.1) && k < kSmoothWorlds};
    World w = random_world(rng, features);
    w.settings.smoothing = smoothing_of(k);
    if (chance(0.4)) {
      const int plane = static_cast<int>(w.scene.geometries().size()) - 1;
      w.scene.set_pair_material(0, plane, random_material(rng, features));
    }
    Simulator simulator(w.scene, w.settings);
    if (features.tangential && !simulator.step(w.state, w.control).whole()) continue;
    State end = w.state;
    simulator.step(end, w.control);
    if (simulator.report().status != StepStatus::kOk || simulator.report().safe_islands > 0)
      continue;
    const StepDerivatives d = simulator.step_derivatives(Simulator::derivative_parameters());
    // Rounding grows by as much as a pivot is small.
    if (!d.report.exact() || !d.report.two_sided() || d.report.smallest_pivot < 1e-4) continue;
    if (!d.report.margin.empty() &&
        *std::min_element(d.report.margin.begin(), d.report.margin.end()) < 1e-5)
      continue;
    const int nv = w.scene.nv();
    const Eigen::VectorXd weights = random_vector(rng, 2 * nv);
    const Eigen::VectorXd gradient =
        simulator.vjp(weights, Simulator::derivative_parameters()).parameters;
    BOOST_TEST((gradient - d.P.transpose() * weights).cwiseAbs().maxCoeff() <=
               1e-11 * (1.0 + d.P.cwiseAbs().maxCoeff()) * nv);
    for (const ParameterRange& range : d.parameters) {
      for (int j = 0; j < range.count; ++j) {
        if (range.count > 6 && !chance(0.3)) continue;
        const bool placement = range.name == "geometry_placement";
        double shift = 0.0;
        double* x = placement ? &shift : number(range.name, j, simulator.parameters(), w.control);
        if (x == nullptr) continue;
        const double at = *x, unit = std::max(std::abs(at), range.name == "gravity" ? 1.0 : 1e-2);
        Transform& placed = simulator.parameters().geometry_placement[placement ? j / 6 : 0];
        const Transform X = placed;
        const auto with = [&](double value) {
          *x = value;
          if (placement) placed = X * tangent(j % 6, value);
          Eigen::VectorXd out =
              stepped(simulator, w.state, w.control, end, Eigen::VectorXd::Zero(3 * nv));
          *x = at;
          placed = X;
          return out;
        };
        const Eigen::VectorXd column = d.P.col(range.first + j);
        const Eigen::VectorXd base = with(at);
        ColumnCheck check;
        for (const double h : {1e-7 * unit, 1e-6 * unit, 1e-5 * unit, 1e-4 * unit, 1e-3 * unit})
          check.add(column, with(at + h), base, with(at - h), h);
        ++columns;
        kinks += !check.compared();
        BOOST_TEST(check.error() <= 1.0,
                   "world " << k << " " << range.name << " " << j << ": " << check.error());
        moved_something[range.name] += check.compared() && check.seen();
      }
    }
  }
  BOOST_TEST(kinks < 0.02 * columns, kinks << " of " << columns << " columns have kinks");
  for (const std::string& field : Simulator::derivative_parameters())
    BOOST_TEST(moved_something[field] >= 3,
               field << " moved something " << moved_something[field] << " times");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
