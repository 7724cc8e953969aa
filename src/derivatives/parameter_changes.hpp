#pragma once

#include "stiction/derivatives/step_derivatives.hpp"

#include "derivatives/linearisation.hpp"
#include "derivatives/moving_springs.hpp"

#include <string>
#include <utility>
#include <vector>

// What parameters change at once, with the state held: entries of the right-hand side of M^ dv+, of
// the rows' velocities and of impulses. Columns and gradients are made of the same entries.

namespace stiction {

/// One entry per unit of the parameter of a column.
struct ParameterChange {
  enum Kind : std::uint8_t {
    kForce,
    kVelocity,
    kImpulse,
    kPosition,
    kEndVelocity,
    kExtension
  } kind;
  int column;
  int index;  ///< kVelocity, kImpulse: row of the problem; kExtension: 3 spring + axis; else scene
              ///< dof
  double value;
};

struct ParameterChanges {
  std::vector<std::string> fields;     ///< as asked for
  std::vector<ParameterRange> ranges;  ///< of each
  int count = 0;                       ///< columns
  std::vector<ParameterChange> changes;
  int num_kinks = 0;                       ///< see GradientReport::num_parameter_kinks
  std::vector<std::pair<int, int>> pairs;  ///< Scene::material_pairs(), from the first time
  std::vector<double> numbers, scratch;
  std::vector<Motion<double>> motions;  ///< scratch
  MovingRows rows;                      ///< scratch
};

/// Names that find_parameter_changes() knows, in their order in the documentation.
const std::vector<std::string>& parameter_fields();

/// The columns of `fields`, and how many they are together; asks nothing of the step. Throws
/// std::invalid_argument listing the names for an unknown one.
int find_parameter_ranges(const DerivativeInput& in,
                          const std::vector<std::string>& fields,
                          std::vector<ParameterRange>& ranges);

/// Fills ranges and changes for out.fields; throws likewise.
void find_parameter_changes(const DerivativeInput& in,
                            const Linearisation& linear,
                            const MovingSprings& springs,
                            ParameterChanges& out);

/// Where the entries of one field go.
struct ChangeSink {
  ParameterChanges& all;
  int first;  ///< column of the field
  const MovingSprings& springs;

  void count_kink() const { ++all.num_kinks; }
  void force(int column, int dof, double x) const { add(ParameterChange::kForce, column, dof, x); }
  void velocity(int column, int row, double x) const {
    add(ParameterChange::kVelocity, column, row, x);
  }
  void impulse(int column, int row, double x) const {
    add(ParameterChange::kImpulse, column, row, x);
  }
  /// Of q+ and v+ themselves, axes of the end.
  void position(int column, int dof, double x) const {
    add(ParameterChange::kPosition, column, dof, x);
  }
  void end_velocity(int column, int dof, double x) const {
    add(ParameterChange::kEndVelocity, column, dof, x);
  }
  /// Of e+ itself at fixed impulses; `spring`: one of `springs`.
  void extension(int column, const MovingSpring& spring, const Vec3d& x) const {
    const int first_axis = 3 * static_cast<int>(&spring - springs.springs.data());
    for (int r = 0; r < 3; ++r) add(ParameterChange::kExtension, column, first_axis + r, x[r]);
  }
  /// What `by` changes of the rows of a set and, through its force and moments, of its sides.
  void row(const DerivativeInput& in,
           const Linearisation& linear,
           int column,
           int set,
           const RowColumn& by) const;

 private:
  void add(ParameterChange::Kind kind, int column, int index, double x) const {
    if (x != 0.0) all.changes.push_back({kind, first + column, index, x});
  }
};

/// A field that may be asked for.
struct ParameterField {
  const char* name;
  int (*count)(const DerivativeInput& in);
  void (*add)(const DerivativeInput& in, const Linearisation& linear, const ChangeSink& out);
};

// The fields by what they belong to; files of the same names.
const std::vector<ParameterField>& dof_fields();
const std::vector<ParameterField>& body_fields();
const std::vector<ParameterField>& contact_fields();
const std::vector<ParameterField>& geometry_fields();
const std::vector<ParameterField>& closure_fields();

}  // namespace stiction
