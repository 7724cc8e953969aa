#pragma once

#include "stiction/contact/contact_model.hpp"
#include "stiction/contact/contact_settings.hpp"
#include "stiction/model/control.hpp"

#include "integrator/step_record.hpp"

namespace stiction {

/// The step that is differentiated: where it started and what it left behind.
struct DerivativeInput {
  const Scene& scene;
  const Parameters& parameters;
  const ContactSettings& settings;
  double dt;
  const Control& control;
  const State& before;
  const StepRecord& record;
  ContactModel model = ContactModel::kNcp;  ///< whose solution it is
  int safe_islands = 0;                     ///< StepReport::safe_islands

  const TreeData<double>& data(int tree) const { return record.dynamics.trees[tree]; }
};

}  // namespace stiction
