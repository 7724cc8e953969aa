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
  const std::size_t bodies = p.mass.size(), dofs = p.kp.size(), geometries = p.material.size();
  const auto equal = [](std::size_t n, std::initializer_list<std::size_t> others) {
    for (const std::size_t m : others) {
      if (m != n)
        throw std::invalid_argument("Parameters.from_dict: arrays that go side by side have " +
                                    std::to_string(n) + " and " + std::to_string(m) + " entries");
    }
  };
  equal(bodies,
        {p.placement.size(), p.axis.size(), p.axis_code.size(), p.com.size(), p.inertia.size()});
  equal(dofs,
        {p.armature.size(),
         p.damping.size(),
         p.dry_friction.size(),
         p.lower.size(),
         p.upper.size(),
         p.kd.size(),
         p.effort_limit.size()});
  equal(geometries, {p.geometry_placement.size(), p.geometry_size.size()});
  equal(p.closure_X_A.size(), {p.closure_X_B.size()});
  equal(p.gear_ratio.size(), {p.gear_offset.size()});
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
  long found = 0;
  Parameters::each_array(
      [&](const char* name, auto& x) {
        if (!arrays.has_key(name))
          throw std::invalid_argument("Parameters.from_dict: lacks \"" + std::string(name) + "\"");
        fill(arrays[name], "Parameters.from_dict: " + std::string(name), x);
        ++found;
      },
      p);
  if (bp::len(arrays) != found)
    throw std::invalid_argument("Parameters.from_dict: has " + std::to_string(bp::len(arrays)) +
                                " arrays, of which Parameters know " + std::to_string(found));
  check_lengths(p);
  p.validate();
  return p;
}

}  // namespace stiction::python
