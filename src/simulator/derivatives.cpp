#include "stiction/simulator/simulator.hpp"

#include "derivatives/differentiator.hpp"
#include "math/number_text.hpp"
#include "simulator/compliant_derivatives.hpp"
#include "simulator/step_kind.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace stiction {

static void refuse(const std::string& why) { throw std::invalid_argument("derivatives: " + why); }

/// What stands in the way of the derivatives of any step.
void Simulator::refuse_underived(const std::string& caller) const {
  if (step_->rigid() != nullptr && settings_.project_closures)
    throw std::invalid_argument(
        caller + ": project_closures moves the state after the step: take project_closures=false");
}

void Simulator::check_last_step() const {
  if (prepared_) refuse("the step was prepared only; call advance() before");
  if (step_count_ == 0) refuse("there is no step yet; call step() before");
  if (!report().whole())
    refuse(std::string("the last step ended with status ") + to_string(report().status));
}

/// The last step as it was, or what stands in the way of its derivatives.
DerivativeInput Simulator::derivative_input() const {
  refuse_underived("derivatives");
  check_last_step();
  const ContactSolution& s = solution();
  if (!s.regularisation.empty())
    refuse("solver \"" + settings_.solver.name + "\" regularises its problem: take ncp-newton");
  if (s.model != ContactModel::kNcp && s.model != ContactModel::kCcp)
    refuse("solver \"" + settings_.solver.name + "\" solves the model " + to_string(s.model) +
           ", which has none: take a solver of ncp or ccp");
  return {scene_,
          edits_.seen(),
          settings_.contact,
          settings_.dt,
          control_before_,
          before_,
          record(),
          s.model,
          report().safe_islands};
}

const std::vector<std::string>& Simulator::derivative_parameters() { return parameter_fields(); }

static const std::string* first_of(const std::vector<std::string>& names) {
  return names.empty() ? nullptr : &names.front();
}

const StepDerivatives& Simulator::step_derivatives(const std::vector<std::string>& parameters) {
  if (CompliantDerivatives* d = compliant_derivatives(first_of(parameters)))
    return d->derivatives();
  return differentiator().derivatives(derivative_input(), parameters);
}

/// Of what w or x is made: `base` numbers of tangents, or three more for each spring of the step.
void Simulator::check_tangents(const char* name,
                               const Eigen::VectorXd& x,
                               int base,
                               const char* meaning) {
  const int springs = x.size() > base ? static_cast<int>(gradient_report().springs.size()) : 0;
  if (x.size() != base && (x.size() != base + 3 * springs || springs == 0)) {
    std::string what = std::string(name) + " has " + std::to_string(x.size()) +
                       " entries: must have " + std::to_string(base) + " (" + meaning + ")";
    if (x.size() > base)
      what += springs > 0 ? ", or " + std::to_string(base + 3 * springs) +
                                ", 3 more for each of gradient_report().springs"
                          : "; this step has no springs of contacts";
    throw std::invalid_argument(what);
  }
  if (!x.allFinite())
    throw std::invalid_argument(std::string(name) + " has an entry that is not finite");
}

const StepGradient& Simulator::vjp(const Eigen::VectorXd& w,
                                   const std::vector<std::string>& parameters) {
  CompliantDerivatives* d = compliant_derivatives(first_of(parameters));
  if (d == nullptr) derivative_input();  // what stands in the way comes first
  check_tangents("w", w, 2 * scene_.nv(), "2 nv: dl/dq+ and dl/dv+");
  const StepGradient& g =
      d != nullptr ? d->gradient(w) : differentiator().gradient(derivative_input(), w, parameters);
  for (const Eigen::VectorXd* x : {&g.q, &g.v, &g.torque, &g.springs, &g.parameters})
    check_finite("w", w, *x);
  return g;
}

/// The vector with the largest entry, of those that were given: its name and itself.
static std::pair<std::string, const Eigen::VectorXd*> largest_of(
    const Eigen::VectorXd& x, const std::vector<ParameterDirection>& parameters) {
  std::pair<std::string, const Eigen::VectorXd*> out{"x", &x};
  double most = x.size() > 0 ? x.cwiseAbs().maxCoeff() : 0.0;
  for (const ParameterDirection& p : parameters) {
    const double size = p.change.size() > 0 ? p.change.cwiseAbs().maxCoeff() : 0.0;
    if (size <= most) continue;
    most = size;
    out = {"parameters[\"" + p.name + "\"]", &p.change};
  }
  return out;
}

const Eigen::VectorXd& Simulator::jvp(const Eigen::VectorXd& x,
                                      const std::vector<ParameterDirection>& parameters) {
  CompliantDerivatives* d =
      compliant_derivatives(parameters.empty() ? nullptr : &parameters.front().name);
  if (d == nullptr) derivative_input();
  check_tangents("x", x, 3 * scene_.nv(), "3 nv: tangents of q, v and torque");
  for (const ParameterDirection& p : parameters) {
    if (!p.change.allFinite())
      throw std::invalid_argument("parameters[\"" + p.name + "\"] has an entry that is not finite");
  }
  const Eigen::VectorXd& y =
      d != nullptr ? d->tangent(x) : differentiator().tangent(derivative_input(), x, parameters);
  if (y.allFinite()) return y;
  const auto [name, largest] = largest_of(x, parameters);
  check_finite(name.c_str(), *largest, y);
  return y;
}

std::vector<ParameterRange> Simulator::parameter_ranges(
    const std::vector<std::string>& parameters) {
  std::vector<ParameterRange> out;
  if (compliant_derivatives(first_of(parameters)) == nullptr)
    find_parameter_ranges(derivative_input(), parameters, out);
  return out;
}

const GradientReport& Simulator::gradient_report() {
  if (CompliantDerivatives* d = compliant_derivatives()) return d->report();
  return differentiator().report(derivative_input());
}

/// Those of the last step, if it is one of a compliant integrator, which has none by a `parameter`.
CompliantDerivatives* Simulator::compliant_derivatives(const std::string* parameter) {
  if (step_->rigid() != nullptr) return nullptr;
  check_last_step();
  if (parameter != nullptr)
    refuse("integrator \"" + settings_.integrator + "\" has them by q, v and torque, not by \"" +
           *parameter + "\"");
  if (!compliant_) compliant_ = std::make_unique<CompliantDerivatives>(scene_, settings_);
  compliant_->set_interrupt(settings_.solver.interrupt);
  if (differentiated_step_ != step_count_)
    compliant_->begin(edits_.seen(), before_, control_before_, report().status);
  differentiated_step_ = step_count_;
  return compliant_.get();
}

/// Of what was made of x.
void Simulator::check_finite(const char* name,
                             const Eigen::VectorXd& x,
                             const Eigen::VectorXd& y) const {
  if (y.allFinite()) return;
  Eigen::Index largest = 0;
  const double size = x.cwiseAbs().maxCoeff(&largest);
  throw std::invalid_argument(std::string(name) + "[" + std::to_string(largest) +
                              "] = " + number_text(x[largest]) +
                              (size > 1e100 ? ": the product with the derivatives of the step "
                                              "overflows; scale it down"
                                            : ": the derivatives of the step are not finite"));
}

Differentiator& Simulator::differentiator() {
  if (!differentiator_) differentiator_ = std::make_unique<Differentiator>();
  if (differentiated_step_ != step_count_) differentiator_->forget();
  differentiated_step_ = step_count_;
  return *differentiator_;
}

}  // namespace stiction
