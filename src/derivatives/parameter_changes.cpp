#include "derivatives/parameter_changes.hpp"

#include <stdexcept>

namespace stiction {
namespace {

const std::vector<ParameterField>& all_fields() {
  static const std::vector<ParameterField> all = [] {
    std::vector<ParameterField> out;
    for (const auto* group :
         {&dof_fields(), &body_fields(), &contact_fields(), &geometry_fields(), &closure_fields()})
      out.insert(out.end(), group->begin(), group->end());
    return out;
  }();
  return all;
}

const ParameterField& find(const std::string& name) {
  for (const ParameterField& field : all_fields()) {
    if (name == field.name) return field;
  }
  std::string names;
  for (const ParameterField& field : all_fields())
    names += (names.empty() ? "" : ", ") + std::string(field.name);
  throw std::invalid_argument(
      "wrt: \"" + name + "\" is no field with derivatives; there are q, v, " + "torque, " + names);
}

}  // namespace

void ChangeSink::row(const DerivativeInput& in,
                     const Linearisation& linear,
                     int column,
                     int set,
                     const RowColumn& by) const {
  const ConstraintSet& rows = in.record.problem.sets[set];
  const MovingRow& sides = linear.moving.rows[set];
  for (int r = 0; r < rows.dim; ++r) velocity(column, rows.offset + r, by.velocity[r]);
  for (int s = 0; s < sides.num_sides; ++s) {
    for (int k = sides.start[s]; k < sides.start[s + 1]; ++k) {
      const RowColumn& on = linear.moving.columns[k];
      force(column, on.dof, sides.sign[s] * (dot(on.u, by.force) + dot(on.w, by.moment[s])));
    }
  }
}

const std::vector<std::string>& parameter_fields() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (const ParameterField& field : all_fields()) out.push_back(field.name);
    return out;
  }();
  return names;
}

int find_parameter_ranges(const DerivativeInput& in,
                          const std::vector<std::string>& fields,
                          std::vector<ParameterRange>& ranges) {
  ranges.resize(fields.size());
  int count = 0;
  for (std::size_t k = 0; k < fields.size(); ++k) {
    const ParameterField& field = find(fields[k]);
    ranges[k].name = field.name;
    ranges[k].first = count;
    ranges[k].count = field.count(in);
    count += ranges[k].count;
  }
  return count;
}

void find_parameter_changes(const DerivativeInput& in,
                            const Linearisation& linear,
                            const MovingSprings& springs,
                            ParameterChanges& out) {
  if (out.pairs.size() != in.parameters.pair_material.size()) out.pairs = in.scene.material_pairs();
  out.count = find_parameter_ranges(in, out.fields, out.ranges);
  out.changes.clear();
  out.num_kinks = 0;
  for (const ParameterRange& range : out.ranges)
    find(range.name).add(in, linear, {out, range.first, springs});
}

}  // namespace stiction
