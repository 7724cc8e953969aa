#include "stiction/model/parameters.hpp"

#include "common.hpp"

#include <cstring>

// Parameters as a dict of arrays and back, by the bits.

namespace stiction::python {
namespace {

template <class T>
constexpr long kNumbers = static_cast<long>(sizeof(T) / sizeof(double));

bp::object array_of(const Vec3d& x) { return to_array(x); }
bp::object array_of(const std::vector<double>& x) { return to_array(x); }
bp::object array_of(const std::vector<std::int8_t>& x) {
  return to_array(std::vector<double>(x.begin(), x.end()));
}
template <class T>
bp::object array_of(const std::vector<T>& x) {
  static_assert(sizeof(T) == kNumbers<T> * sizeof(double));  // no padding
  std::vector<double> numbers(x.size() * kNumbers<T>);
  if (!x.empty()) std::memcpy(numbers.data(), x.data(), numbers.size() * sizeof(double));
  return array_copy(numbers.data(), {static_cast<long>(x.size()), kNumbers<T>});
}

void fill(const bp::object& array, const std::string& field, Vec3d& out) {
  out = vec3_from(array, field);
}
template <class T>
void fill(const bp::object& array, const std::string& field, std::vector<T>& out) {
  if constexpr (sizeof(T) <= sizeof(double)) {
    const Eigen::VectorXd x = vector_from(array, field);
    out.assign(x.data(), x.data() + x.size());
  } else {
    const RowMatrix x = matrix_from(array, field, -1, kNumbers<T>);
    out.resize(x.rows());
    if (!out.empty()) std::memcpy(static_cast<void*>(out.data()), x.data(), out.size() * sizeof(T));
  }
}

/// Arrays that go side by side are equally long, and codes are codes.
void check_lengths(const Parameters& p) {
  using Length = std::pair<const char*, std::size_t>;
  const auto equal = [](const Length& first, std::initializer_list<Length> others) {
    for (const auto& [name, n] : others) {
      if (n != first.second)
        throw std::invalid_argument(std::string("Parameters.from_dict: \"") + name + "\" has " +
                                    std::to_string(n) + " entries: must have " +
                                    std::to_string(first.second) + ", as \"" + first.first + "\"");
    }
  };
  equal({"mass", p.mass.size()},
        {{"placement", p.placement.size()},
         {"axis", p.axis.size()},
         {"axis_code", p.axis_code.size()},
         {"com", p.com.size()},
         {"inertia", p.inertia.size()}});
  equal({"kp", p.kp.size()},
        {{"armature", p.armature.size()},
         {"damping", p.damping.size()},
         {"dry_friction", p.dry_friction.size()},
         {"lower", p.lower.size()},
         {"upper", p.upper.size()},
         {"kd", p.kd.size()},
         {"effort_limit", p.effort_limit.size()},
         {"spring_stiffness", p.spring_stiffness.size()},
         {"spring_rest", p.spring_rest.size()}});
  equal({"material", p.material.size()},
        {{"geometry_placement", p.geometry_placement.size()},
         {"geometry_size", p.geometry_size.size()},
         {"geometry_velocity", p.geometry_velocity.size()},
         {"surface_velocity", p.surface_velocity.size()}});
  equal({"closure_X_A", p.closure_X_A.size()}, {{"closure_X_B", p.closure_X_B.size()}});
  equal({"gear_ratio", p.gear_ratio.size()}, {{"gear_offset", p.gear_offset.size()}});
  for (const int code : p.axis_code) {
    if (code < 0 || code > 3)
      throw std::invalid_argument("Parameters.from_dict: axis_code has " + std::to_string(code) +
                                  ": must be in [0, 3]");
  }
}

}  // namespace

bp::dict parameters_to_dict(const Parameters& p) {
  bp::dict out;
  Parameters::each_array([&](const char* name, const auto& x) { out[name] = array_of(x); }, p);
  return out;
}

Parameters parameters_from_dict(const bp::dict& arrays) {
  Parameters p;
  bp::dict others(arrays);
  Parameters::each_array(
      [&](const char* name, auto& x) {
        if (!arrays.has_key(name))
          throw std::invalid_argument("Parameters.from_dict: lacks \"" + std::string(name) + "\"");
        fill(arrays[name], "Parameters.from_dict: " + std::string(name), x);
        others[name].del();
      },
      p);
  if (bp::len(others) > 0)
    throw std::invalid_argument("Parameters.from_dict: has " +
                                std::string(bp::extract<std::string>(bp::str(others.keys()))) +
                                ", which Parameters do not know");
  check_lengths(p);
  p.validate();
  return p;
}

}  // namespace stiction::python
