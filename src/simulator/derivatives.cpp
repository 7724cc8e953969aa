#include "stiction/simulator/simulator.hpp"

#include "derivatives/differentiator.hpp"
#include "simulator/compliant_derivatives.hpp"
#include "simulator/rigid_step.hpp"

#include <stdexcept>
#include <string>

namespace stiction {

static void refuse(const std::string& why) { throw std::invalid_argument("derivatives: " + why); }

/// What stands in the way of the exact derivatives of any step.
void Simulator::refuse_underived(const std::string& caller) const {
  const auto refuse = [&](const std::string& why) {
    throw std::invalid_argument(caller + ": " + why);
  };
  if (dynamic_cast<const RigidStep*>(step_.get()) == nullptr)
    refuse("integrator \"" + settings_.integrator +
           "\" has no derivatives of whole rollouts yet: take semi-implicit-euler");
  if (settings_.project_closures)
    refuse("project_closures moves the state after the step: take project_closures=false");
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

const StepDerivatives& Simulator::step_derivatives(const std::vector<std::string>& parameters) {
  if (CompliantDerivatives* d = compliant_derivatives(parameters)) return d->derivatives();
  return differentiator().derivatives(derivative_input(), parameters);
}

const StepGradient& Simulator::vjp(const Eigen::VectorXd& w,
                                   const std::vector<std::string>& parameters) {
  const int nv = scene_.nv();
  CompliantDerivatives* d = compliant_derivatives(parameters);
  if (d == nullptr) {
    const DerivativeInput input = derivative_input();
    check_length("w", w, 2 * nv, "2 nv: dl/dq+ and dl/dv+");
    return differentiator().gradient(input, w, parameters);
  }
  const int with_springs = 2 * nv + 3 * d->num_springs();
  check_length("w",
               w,
               w.size() == with_springs ? with_springs : 2 * nv,
               "2 nv: dl/dq+ and dl/dv+; or 3 more for each spring");
  return d->gradient(w);
}

const Eigen::VectorXd& Simulator::jvp(const Eigen::VectorXd& x) {
  const int nv = scene_.nv();
  CompliantDerivatives* d = compliant_derivatives({});
  if (d == nullptr) {
    const DerivativeInput input = derivative_input();
    check_length("x", x, 3 * nv, "3 nv: tangents of q, v and torque");
    return differentiator().tangent(input, x);
  }
  const int with_springs = 3 * nv + 3 * d->num_springs();
  check_length("x",
               x,
               x.size() == with_springs ? with_springs : 3 * nv,
               "3 nv: tangents of q, v and torque; or 3 more for each spring");
  return d->tangent(x);
}

const GradientReport& Simulator::gradient_report() {
  if (CompliantDerivatives* d = compliant_derivatives({})) return d->report();
  return differentiator().report(derivative_input());
}

/// Those of the last step, if it is one of a compliant integrator.
CompliantDerivatives* Simulator::compliant_derivatives(const std::vector<std::string>& parameters) {
  if (dynamic_cast<const RigidStep*>(step_.get()) != nullptr) return nullptr;
  check_last_step();
  if (!parameters.empty())
    refuse("integrator \"" + settings_.integrator + "\" has them by q, v and torque, not by \"" +
           parameters.front() + "\"");
  if (!compliant_) compliant_ = std::make_unique<CompliantDerivatives>(scene_, settings_);
  if (differentiated_step_ != step_count_)
    compliant_->begin(edits_.seen(), before_, control_before_);
  differentiated_step_ = step_count_;
  return compliant_.get();
}

void Simulator::check_length(const char* name,
                             const Eigen::VectorXd& x,
                             int length,
                             const char* meaning) const {
  if (x.size() == length && x.allFinite()) return;
  throw std::invalid_argument(std::string(name) +
                              (x.size() == length
                                   ? " has an entry that is not finite"
                                   : " has " + std::to_string(x.size()) + " entries: must have " +
                                         std::to_string(length) + " (" + meaning + ")"));
}

Differentiator& Simulator::differentiator() {
  if (!differentiator_) differentiator_ = std::make_unique<Differentiator>();
  if (differentiated_step_ != step_count_) differentiator_->forget();
  differentiated_step_ = step_count_;
  return *differentiator_;
}

}  // namespace stiction
