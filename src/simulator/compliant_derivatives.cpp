#include "simulator/compliant_derivatives.hpp"

#include "stiction/math/constants.hpp"
#include "stiction/model/tangents.hpp"

#include "model/contact_order.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

namespace stiction {
namespace {

constexpr double kFirst = 1e-6, kChange = 1e-6;
constexpr double kKink = 1e-2;

SimulatorSettings precise(SimulatorSettings settings) {
  settings.solver.tolerance = std::min(settings.solver.tolerance, 1e-13);
  return settings;
}

/// How the two differences of a column agree: largest entries.
bool kink(double split, double change, double size) {
  return std::max(split, change) > kKink * size;
}

Vec3d extension_of(const State& state, const SpringName& name) {
  const ContactMemory* kept = find_contact(state.contacts, name);
  if (kept == nullptr) return {0, 0, 0};
  return name.turns ? kept->turn : kept->extension;
}

}  // namespace

CompliantDerivatives::CompliantDerivatives(const Scene& scene, const SimulatorSettings& settings)
    : twin_(scene, precise(settings)) {}

void CompliantDerivatives::begin(const Parameters& parameters,
                                 const State& before,
                                 const Control& control,
                                 StepStatus status) {
  twin_.parameters() = parameters;
  before_ = before;
  control_ = control;
  if (control_.torque.size() == 0) control_.torque.setZero(twin_.scene().nv());
  GradientReport& report = out_.report;
  report.num_kinks = report.num_at_switch = report.num_gap_kinks = 0;
  report.smallest_gap = kInfinity;
  report.error_estimate = 0.0;
  filled_ = twin_.scene().nv() <= kMaxMatrixDofs && fill_exact();
  report.method = filled_ ? "exact" : "differences";
  report.num_not_converged = status == StepStatus::kNotConverged;
  if (filled_) return;
  step(before_, control_, end_);
  report.num_not_converged |= twin_.report().status == StepStatus::kNotConverged;
  list_springs();
}

void CompliantDerivatives::step(const State& from, const Control& control, State& end) {
  end = from;
  if (twin_.step(end, control).whole()) return;
  if (twin_.report().status == StepStatus::kInterrupted) throw Interrupted();
  throw std::invalid_argument(std::string("derivatives: a step beside the last one ended with ") +
                              "status " + to_string(twin_.report().status));
}

/// After the step itself.
void CompliantDerivatives::list_springs() {
  std::vector<SpringName>& springs = out_.report.springs;
  springs.clear();
  for (const State* state : {&before_, &end_}) {
    for (const ContactMemory& m : state->contacts) {
      if (squared_norm(m.extension) > 0.0) springs.push_back({m.pair, m.feature});
      if (squared_norm(m.turn) > 0.0) springs.push_back({m.pair, m.feature, true});
    }
  }
  for (const ContactReport& c : twin_.contacts()) {
    const auto a = static_cast<std::uint64_t>(c.geometry_a) << 32;
    const Parameters& p = std::as_const(twin_).parameters();
    const Material pair = twin_.scene().pair_material(p, c.geometry_a, c.geometry_b);
    if (!std::isfinite(pair.stiffness) || !(squared_norm(c.impulse) > 0.0)) continue;
    const SpringName name{a | static_cast<std::uint32_t>(c.geometry_b), c.feature};
    const bool couples = pair.torsional_friction > 0.0 || pair.rolling_friction > 0.0;
    if (pair.friction > 0.0 || !couples) springs.push_back(name);
    if (couples) springs.push_back({name.pair, name.feature, true});
  }
  std::sort(springs.begin(), springs.end());
  springs.erase(std::unique(springs.begin(), springs.end()), springs.end());
}

/// from_, pushed_ <- the start moved by t x.
void CompliantDerivatives::displace(const Eigen::VectorXd& x, double t) {
  const Scene& scene = twin_.scene();
  const int nv = scene.nv();
  from_ = before_;
  pushed_ = control_;
  from_.q = integrate(scene, before_.q, t * x.head(nv));
  from_.v += t * x.segment(nv, nv);
  pushed_.torque += t * x.segment(2 * nv, nv);
  for (int k = 0; k < num_springs(); ++k) {
    const double* e = x.data() + 3 * (nv + k);
    if (e[0] == 0.0 && e[1] == 0.0 && e[2] == 0.0) continue;
    const SpringName& name = out_.report.springs[k];
    auto it = std::lower_bound(
        from_.contacts.begin(), from_.contacts.end(), name, [](const auto& a, const auto& b) {
          return contact_before(a, b);
        });
    if (it == from_.contacts.end() || contact_before(name, *it))
      it = from_.contacts.insert(it, {name.pair, name.feature, {0, 0, 0}, {0, 0, 0}});
    (name.turns ? it->turn : it->extension) += Vec3d{e[0], e[1], e[2]} * t;
  }
}

/// y [2 nv + 3 ns] <- the end of the step moved by t x, seen from the end of the step itself.
void CompliantDerivatives::end_of(const Eigen::VectorXd& x, double t, Eigen::VectorXd& y) {
  const int nv = twin_.scene().nv();
  displace(x, t);
  step(from_, pushed_, moved_end_);
  y.resize(2 * nv + 3 * num_springs());
  y.head(nv) = difference(twin_.scene(), end_.q, moved_end_.q);
  y.segment(nv, nv) = moved_end_.v - end_.v;
  for (int k = 0; k < num_springs(); ++k) {
    const SpringName& name = out_.report.springs[k];
    const Vec3d e = extension_of(moved_end_, name) - extension_of(end_, name);
    y.segment<3>(2 * nv + 3 * k) << e.x, e.y, e.z;
  }
}

/// coarse_, fine_ <- the differences along x.
CompliantDerivatives::Quality CompliantDerivatives::differentiate(const Eigen::VectorXd& x) {
  const double unit = x.size() == 0 ? 0.0 : x.cwiseAbs().maxCoeff();
  if (unit == 0.0) {
    fine_.setZero(2 * twin_.scene().nv() + 3 * num_springs());
    coarse_ = fine_;
    return {0.0, 0.0};
  }
  end_of(x, kFirst / unit, y_);
  const double changed = y_.cwiseAbs().maxCoeff();
  const double scale = changed > 0.0 ? std::clamp(kChange / changed, 1e-6, 1e6) : 1.0;
  const double h = scale * kFirst / unit;
  for (int k = 0; k < 4; ++k)
    end_of(x, (k % 2 == 0 ? 1.0 : -1.0) * (k < 2 ? h : 0.5 * h), ends_[k]);
  coarse_ = (ends_[0] - ends_[1]) / (2.0 * h);
  fine_ = (ends_[2] - ends_[3]) / h;
  return {(ends_[2] + ends_[3]).cwiseAbs().maxCoeff() / (0.5 * h),
          (fine_ - coarse_).cwiseAbs().maxCoeff()};
}

bool CompliantDerivatives::fill_exact() {
  const SimulatorSettings& s = twin_.settings();
  if (s.integrator != "implicit-euler" || s.compliant.substeps > 1 || s.project_closures)
    return false;
  const CompliantInput input{twin_.scene(),
                             std::as_const(twin_).parameters(),
                             control_,
                             s.compliant,
                             s.contact,
                             s.collision,
                             s.solver,
                             s.dt};
  return implicit_.differentiate(input, before_, out_.report, J_);
}

void CompliantDerivatives::fill() {
  if (twin_.scene().nv() > kMaxMatrixDofs)
    throw std::invalid_argument(
        "derivatives of compliant steps: the scene has " + std::to_string(twin_.scene().nv()) +
        " dofs, matrices are for up to " + std::to_string(kMaxMatrixDofs) + ": take jvp()");
  if (!filled_) fill_differences();
  filled_ = true;
}

void CompliantDerivatives::fill_differences() {
  const int nv = twin_.scene().nv(), n = 3 * nv + 3 * num_springs(), rows = n - nv;
  J_.resize(rows, n);
  coarser_.resize(rows, n);
  std::vector<Quality> quality(n);
  Eigen::VectorXd x = Eigen::VectorXd::Zero(n);
  for (int k = 0; k < n; ++k) {
    x[k] = 1.0;
    quality[k] = differentiate(x);
    x[k] = 0.0;
    J_.col(k) = fine_;
    coarser_.col(k) = coarse_;
  }
  GradientReport& report = out_.report;
  for (int block = 0; block < n; block += nv) {
    const int width = block < 3 * nv ? nv : n - block;
    const double size = J_.middleCols(block, width).cwiseAbs().maxCoeff();
    for (int k = block; k < block + width; ++k) {
      if (kink(quality[k].split, quality[k].change, size)) {
        ++report.num_kinks;
        continue;
      }
      J_.col(k) = (4.0 * J_.col(k) - coarser_.col(k)) / 3.0;
      if (size > 0.0)
        report.error_estimate = std::max(report.error_estimate, quality[k].change / (3.0 * size));
    }
    if (block == 3 * nv) break;
  }
}

const StepDerivatives& CompliantDerivatives::derivatives() {
  fill();
  const int nv = twin_.scene().nv(), ns = 3 * num_springs();
  out_.islands.resize(1);
  out_.islands[0].dofs.resize(nv);
  std::iota(out_.islands[0].dofs.begin(), out_.islands[0].dofs.end(), 0);
  out_.islands[0].values = J_.topLeftCorner(2 * nv, 3 * nv);
  out_.springs_by = J_.bottomLeftCorner(ns, 3 * nv);
  out_.by_springs = J_.rightCols(ns);
  out_.P.resize(2 * nv + ns, 0);
  return out_;
}

const StepGradient& CompliantDerivatives::gradient(const Eigen::VectorXd& w) {
  fill();
  const int nv = twin_.scene().nv();
  const Eigen::VectorXd g = J_.topRows(w.size()).transpose() * w;
  gradient_.q = g.head(nv);
  gradient_.v = g.segment(nv, nv);
  gradient_.torque = g.segment(2 * nv, nv);
  gradient_.springs = g.tail(3 * num_springs());
  return gradient_;
}

const Eigen::VectorXd& CompliantDerivatives::tangent(const Eigen::VectorXd& x) {
  const int nv = twin_.scene().nv(), n = 3 * nv + 3 * num_springs();
  Eigen::VectorXd direction = Eigen::VectorXd::Zero(n);
  direction.head(x.size()) = x;
  if (filled_) {
    tangent_.noalias() = J_ * direction;
  } else {
    const Quality q = differentiate(direction);
    const double size = fine_.size() == 0 ? 0.0 : fine_.cwiseAbs().maxCoeff();
    tangent_ = fine_;
    if (!kink(q.split, q.change, size)) tangent_ += (fine_ - coarse_) / 3.0;
  }
  tangent_.conservativeResize(x.size() - nv);
  return tangent_;
}

const GradientReport& CompliantDerivatives::report() {
  fill();
  return out_.report;
}

}  // namespace stiction
