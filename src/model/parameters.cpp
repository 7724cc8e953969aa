#include "stiction/model/parameters.hpp"

#include "math/number_text.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace stiction {
namespace {

[[noreturn]] void fail(const std::string& field, double value, const std::string& must) {
  throw std::invalid_argument(field + " = " + number_text(value) + ": must be " + must);
}

std::string entry(const std::string& field, std::size_t i) {
  return "parameters." + field + "[" + std::to_string(i) + "]";
}

template <class Predicate>
void check(const std::vector<double>& values, const char* field, const char* must, Predicate ok) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!ok(values[i])) fail(entry(field, i), values[i], must);
  }
}

bool bounded(double x) { return std::abs(x) <= kLargest; }

/// Where Python has a method in the place of an array.
std::string called(const char* field, std::size_t i) {
  return std::string("parameters.") + field + "(" + std::to_string(i) + ")";
}

void check_materials(const std::vector<Material>& values, const std::string& prefix) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    validate_material(values[i], [&](const std::string& coefficient) {
      const bool joints_have_it = coefficient == "damping";
      return entry(prefix + (joints_have_it ? "contact_" : "") + coefficient, i);
    });
  }
}

void check_bounded(const Vec3d& x, const std::string& field) {
  for (int k = 0; k < 3; ++k) {
    if (!bounded(x[k])) fail(field + "[" + std::to_string(k) + "]", x[k], "finite, at most 1e100");
  }
}

void check_placements(const std::vector<Transform>& values, const char* field) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Transform& X = values[i];
    const double det = dot(cross(X.R.c0, X.R.c1), X.R.c2);
    check_bounded(X.p, called(field, i) + " position");
    if (!(std::abs(det - 1.0) < 1e-5)) {
      fail(called(field, i) + " determinant of the rotation", det, "1");
    }
  }
}

}  // namespace

void validate_material(const Material& m, const std::string& field) {
  validate_material(m, [&](const std::string& coefficient) { return field + "." + coefficient; });
}

void validate_material(const Material& m, const CoefficientName& name_of) {
  if (!(m.friction >= 0.0 && m.friction <= kMaxFriction)) {
    fail(name_of("friction"), m.friction, ">= 0 and at most 1e4, beyond which nothing slides less");
  }
  for (const auto& [name, x] : {std::pair{"torsional_friction", m.torsional_friction},
                                std::pair{"rolling_friction", m.rolling_friction}}) {
    if (!(x >= 0.0 && x <= kMaxFriction))
      fail(name_of(name), x, ">= 0 and at most 1e4 [m]: the couple per normal force; 0 for none");
  }
  if (!(m.restitution >= 0.0 && m.restitution <= 1.0)) {
    fail(name_of("restitution"), m.restitution, "in [0, 1]");
  }
  const bool soft = std::isfinite(m.stiffness);
  if (!(m.stiffness > 0.0)) fail(name_of("stiffness"), m.stiffness, "> 0 [N/m]");
  if (soft && m.stiffness > kMaxStiffness) {
    fail(name_of("stiffness"), m.stiffness, "at most 1e150 N/m, or infinite: rigid");
  }
  if (!(m.damping >= 0.0 && m.damping <= kMaxStiffness)) {
    fail(name_of("damping"), m.damping, ">= 0 [N s/m] and at most 1e150");
  }
  const auto check = [&](const char* name, double x, double times, const char* must) {
    if (!(x >= 0.0 && x * times <= kMaxStiffness)) fail(name_of(name), x, must);
  };
  check("tangential_stiffness_ratio",
        m.tangential_stiffness_ratio,
        soft ? m.stiffness : 1.0,
        ">= 0, and stiffness times it at most 1e150 N/m");
  check("tangential_damping_ratio",
        m.tangential_damping_ratio,
        std::max(1.0, m.damping),
        ">= 0, and damping times it at most 1e150 N s/m");
  check("dissipation",
        m.dissipation,
        soft ? std::max(1.0, m.stiffness) : 1.0,
        ">= 0 [s/m], and stiffness times it at most 1e150 N s/m^2");
  if (!(m.rest_offset >= 0.0 && m.rest_offset <= kLargest))
    fail(name_of("rest_offset"), m.rest_offset, ">= 0 [m] and at most 1e100");
}

void Parameters::validate_axes() const {
  static constexpr Vec3d kAxes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  static constexpr const char* kNames[3] = {"[1, 0, 0]", "[0, 1, 0]", "[0, 0, 1]"};
  for (std::size_t i = 0; i < axis.size(); ++i) {
    const Vec3d& a = axis[i];
    const std::string shown =
        "[" + number_text(a.x) + ", " + number_text(a.y) + ", " + number_text(a.z) + "]";
    const int code = axis_code[i];
    const bool as_loaded = code == 3 || norm(a - kAxes[code]) == 0.0;
    if (!as_loaded) {
      throw std::invalid_argument(entry("axis", i) + " = " + shown + ": must stay " + kNames[code] +
                                  ", as loaded; an axis along x, y or z is fixed");
    }
    if (!(std::abs(norm(a) - 1.0) <= 1e-9))
      throw std::invalid_argument(entry("axis", i) + " = " + shown + ": must be a unit vector");
  }
}

void Parameters::validate() const {
  const auto non_negative = [](double x) { return x >= 0.0 && x <= kLargest; };
  const char* const range = ">= 0 and at most 1e100";
  check(mass, "mass", "0 or in [1e-100, 1e100] kg", [](double x) {
    return x == 0.0 || (x >= 1.0 / kLargest && x <= kLargest);
  });
  check(armature, "armature", range, non_negative);
  check(damping, "damping", range, non_negative);
  check(dry_friction, "dry_friction", range, non_negative);
  check(kp, "kp", range, non_negative);
  check(kd, "kd", range, non_negative);
  check(effort_limit, "effort_limit", ">= 0", [](double x) { return x >= 0.0; });
  check(spring_stiffness, "spring_stiffness", range, non_negative);
  check(spring_rest, "spring_rest", "finite, at most 1e100", bounded);
  check(lower, "lower", "a number below inf", [](double x) { return x < kInfinity; });
  check(upper, "upper", "a number above -inf", [](double x) { return x > -kInfinity; });
  for (std::size_t i = 0; i < lower.size(); ++i) {
    if (!(lower[i] <= upper[i]))
      fail(entry("lower", i), lower[i], "at most upper, " + number_text(upper[i]));
  }
  check_bounded(gravity, "parameters.gravity");
  for (std::size_t i = 0; i < com.size(); ++i) check_bounded(com[i], entry("com", i));
  for (std::size_t i = 0; i < geometry_size.size(); ++i)
    check_bounded(geometry_size[i], entry("geometry_size", i));
  const auto check_twists = [](const std::vector<Twist>& twists, const char* name) {
    for (std::size_t i = 0; i < twists.size(); ++i) {
      check_bounded(twists[i].linear, entry(name, i));
      check_bounded(twists[i].angular, entry(name, i) + "[3:]");
    }
  };
  check_twists(geometry_velocity, "geometry_velocity");
  check_twists(surface_velocity, "surface_velocity");
  validate_axes();
  for (std::size_t i = 0; i < inertia.size(); ++i) {
    const Sym3d& I = inertia[i];
    for (const double x : {I.xx, I.xy, I.yy, I.xz, I.yz, I.zz}) {
      if (!bounded(x)) fail(called("inertia", i), x, "finite, at most 1e100 kg m^2");
    }
    // The rounding of sums of moments, or a gyration radius of a micrometre, is no error.
    const double least = std::min({I.xx, I.yy, I.zz}), largest = std::max({I.xx, I.yy, I.zz});
    if (!(least >= -1e-12 * (std::max(largest, 0.0) + mass[i])))
      fail(called("inertia", i) + " diagonal", least, ">= 0 [kg m^2]");
  }
  check_placements(placement, "placement");
  check_placements(base, "base");
  check_placements(geometry_placement, "geometry_placement");
  check_placements(closure_X_A, "closure_X_A");
  check_placements(closure_X_B, "closure_X_B");
  check(gear_ratio, "gear_ratio", "finite, at most 1e100", bounded);
  check(gear_offset, "gear_offset", "finite, at most 1e100", bounded);
  check_materials(material, "");
  check_materials(pair_material, "pair_");
}

namespace {

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  static_assert(std::is_trivially_copyable_v<T> && (sizeof(T) == 1 || sizeof(T) % 8 == 0));
  const std::size_t bytes = a.size() * sizeof(T);
  return a.size() == b.size() && (bytes == 0 || std::memcmp(a.data(), b.data(), bytes) == 0);
}
bool same_bits(const Vec3d& a, const Vec3d& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

std::string name_difference(const char* field, const Vec3d&, const Vec3d&) { return field; }

template <class T>
std::string name_difference(const char* field, const std::vector<T>& a, const std::vector<T>& b) {
  std::size_t i = 0;
  while (i < a.size() && i < b.size() && std::memcmp(&a[i], &b[i], sizeof(T)) == 0) ++i;
  std::string name = field;
  if constexpr (std::is_same_v<T, Material>) {
    constexpr const char* kNames[] = {"friction",
                                      "restitution",
                                      "stiffness",
                                      "contact_damping",
                                      "tangential_stiffness_ratio",
                                      "tangential_damping_ratio",
                                      "dissipation",
                                      "rest_offset",
                                      "torsional_friction",
                                      "rolling_friction"};
    static_assert(sizeof(Material) == std::size(kNames) * sizeof(double));
    name = name == "material" ? "" : "pair_";
    std::size_t k = 0;
    if (i < a.size() && i < b.size()) {
      const auto *x = &a[i].friction, *y = &b[i].friction;
      while (std::memcmp(x + k, y + k, sizeof(double)) == 0) ++k;
    }
    name += kNames[k];
  }
  return name + "[" + std::to_string(i) + "]";
}

}  // namespace

std::string first_difference(const Parameters& a, const Parameters& b) {
  std::string name;
  Parameters::each_array(
      [&](const char* field, const auto& x, const auto& y) {
        if (name.empty() && !same_bits(x, y)) name = name_difference(field, x, y);
      },
      a,
      b);
  return name;
}

bool EditWatch::edited(const Parameters& p) const {
  bool same = true;
  Parameters::each_array(
      [&](const char*, const auto& now, const auto& then) { same = same && same_bits(now, then); },
      p,
      seen_);
  return !same;
}

void EditWatch::look(Parameters& p) {
  const std::uint64_t version = seen_.version + (edited(p) ? 1 : 0);
  if (version != seen_.version) seen_ = p;
  p.version = seen_.version = version;
}

}  // namespace stiction
