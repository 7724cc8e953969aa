#include "stiction/model/scene.hpp"
#include "stiction/model/state.hpp"

#include "math/number_text.hpp"

#include <cmath>
#include <stdexcept>

// Named configurations and their velocities.

namespace stiction {
namespace {

[[noreturn]] void fail(const std::string& what) { throw std::invalid_argument(what); }

void check_size(const std::string& field, std::size_t given, const char* of, int wanted) {
  if (given == static_cast<std::size_t>(wanted)) return;
  fail(field + " has " + std::to_string(given) + " entries, the scene has " + of + " = " +
       std::to_string(wanted));
}

}  // namespace

void Scene::set_configuration(const std::string& configuration_name,
                              const std::vector<double>& q,
                              const std::vector<double>& v) {
  const std::string field = "set_configuration(\"" + configuration_name + "\").";
  check_size(field + "q", q.size(), "nq", nq_);
  validate_configuration(*this, Eigen::Map<const Eigen::VectorXd>(q.data(), nq_), field + "q");
  if (!v.empty()) check_size(field + "v", v.size(), "nv", nv_);
  for (const double x : v) {
    if (!(std::abs(x) <= kLargest))
      fail(field + "v = " + number_text(x) + ": must be finite, at most 1e100");
  }
  configurations_[configuration_name] = q;
  if (configuration_name == "default") default_q_ = q;
  velocities_.erase(configuration_name);
  if (!v.empty()) velocities_[configuration_name] = v;
}

std::vector<double> Scene::configuration_velocity(const std::string& configuration_name) const {
  if (configurations_.count(configuration_name) == 0) {
    std::string names;
    for (const auto& [name, q] : configurations_) names += (names.empty() ? "" : ", ") + name;
    fail("no configuration \"" + configuration_name +
         "\"; there are: " + (names.empty() ? "none" : names));
  }
  const auto found = velocities_.find(configuration_name);
  std::vector<double> v = found == velocities_.end() ? std::vector<double>{} : found->second;
  v.resize(static_cast<std::size_t>(nv_), 0.0);
  return v;
}

}  // namespace stiction
