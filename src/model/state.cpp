#include "stiction/model/state.hpp"

#include "math/number_text.hpp"
#include "model/contact_order.hpp"
#include "model/unit_groups.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>

namespace stiction {
namespace {

[[noreturn]] void fail(const std::string& field, double value, const std::string& must) {
  throw std::invalid_argument(field + " = " + number_text(value) + ": must be " + must);
}

bool same(const Vec3d& a, const Vec3d& b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

bool same(const PolytopeCache& a, const PolytopeCache& b) {
  return a.vertices == b.vertices && a.faces == b.faces &&
         std::equal(a.index_a, a.index_a + a.vertices, b.index_a) &&
         std::equal(a.index_b, a.index_b + a.vertices, b.index_b) &&
         std::equal(a.face[0], a.face[0] + 3 * a.faces, b.face[0]);
}

bool same(const DistanceCache& a, const DistanceCache& b) {
  return a.count == b.count && a.reference == b.reference && same(a.direction, b.direction) &&
         std::equal(a.index_a, a.index_a + a.count, b.index_a) &&
         std::equal(a.index_b, a.index_b + a.count, b.index_b) && same(a.polytope, b.polytope);
}

}  // namespace

bool State::operator==(const State& o) const {
  if (scene != o.scene || q != o.q || v != o.v || time != o.time ||
      contacts.size() != o.contacts.size() || queries.size() != o.queries.size() ||
      constraint_impulse != o.constraint_impulse || rest != o.rest || penalty != o.penalty) {
    return false;
  }
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const ContactMemory &a = contacts[i], &b = o.contacts[i];
    if (!same_contact(a, b) || !same(a.impulse_A, b.impulse_A) || !same(a.extension, b.extension) ||
        !same(a.moment_A, b.moment_A) || !same(a.turn, b.turn))
      return false;
  }
  for (std::size_t i = 0; i < queries.size(); ++i) {
    if (queries[i].pair != o.queries[i].pair || !same(queries[i].cache, o.queries[i].cache))
      return false;
  }
  return true;
}

State make_state(const Scene& scene, const std::vector<double>& q) {
  if (static_cast<int>(q.size()) != scene.nq()) {
    throw std::invalid_argument("q has " + std::to_string(q.size()) +
                                " entries: the scene has nq = " + std::to_string(scene.nq()));
  }
  State state;
  state.scene = scene.fingerprint();
  state.q = Eigen::Map<const Eigen::VectorXd>(q.data(), scene.nq());
  state.v = Eigen::VectorXd::Zero(scene.nv());
  state.constraint_impulse.assign(constraint_impulse_size(scene), 0.0);
  each_unit_group(scene, [&](int first, int count, const std::string&) {
    auto group = state.q.segment(first, count);
    if (std::abs(group.norm() - 1.0) < 1e-6) group.normalize();
  });
  validate_state(scene, state);
  return state;
}

State cold(State state) {
  const auto springless = [](const ContactMemory& m) {
    return norm(m.extension) == 0.0 && norm(m.turn) == 0.0;
  };
  std::erase_if(state.contacts, springless);
  for (ContactMemory& m : state.contacts) m.impulse_A = m.moment_A = {0, 0, 0};
  std::fill(state.constraint_impulse.begin(), state.constraint_impulse.end(), 0.0);
  state.penalty = 0.0;
  return state;
}

int constraint_impulse_size(const Scene& scene) {
  return 3 * scene.nv() + 6 * static_cast<int>(scene.closures().size()) +
         static_cast<int>(scene.gears().size());
}

static constexpr const char* kTransfer =
    ": the state belongs to another scene; make_state(scene, q, v) makes one of its numbers for "
    "this scene, with cold warm starts";

void validate_scene_of(const State& state, std::uint64_t fingerprint) {
  if (state.scene == 0 || state.scene == fingerprint) return;
  throw std::invalid_argument(std::string("state") + kTransfer);
}

static void check_finite(const std::string& field, const Eigen::Ref<const Eigen::VectorXd>& x) {
  for (int i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i])) fail(field + "[" + std::to_string(i) + "]", x[i], "finite");
  }
}

void validate_configuration(const Scene& scene,
                            const Eigen::Ref<const Eigen::VectorXd>& q,
                            const std::string& field) {
  check_finite(field, q);
  each_unit_group(scene, [&](int first, int count, const std::string& name) {
    const double n = q.segment(first, count).norm();
    if (std::abs(n - 1.0) > 1e-6) {
      fail("norm of " + field + "[" + std::to_string(first) + ":" + std::to_string(first + count) +
               "] (joint \"" + name + "\")",
           n,
           "1 within 1e-6: normalise it");
    }
  });
}

void validate_state(const Scene& scene, const State& state) {
  const auto check_size = [](const char* name, Eigen::Index has, int size) {
    if (has == size) return;
    throw std::invalid_argument(std::string("state.") + name + " has " + std::to_string(has) +
                                " entries: the scene has " + std::to_string(size) +
                                ": the state belongs to another scene");
  };
  check_size("q", state.q.size(), scene.nq());
  check_size("v", state.v.size(), scene.nv());
  validate_configuration(scene, state.q, "state.q");
  check_finite("state.v", state.v);
  if (!std::isfinite(state.time)) fail("state.time", state.time, "finite [s]");
  const int rows = constraint_impulse_size(scene);
  if (static_cast<int>(state.constraint_impulse.size()) != rows) {
    throw std::invalid_argument("state.constraint_impulse has " +
                                std::to_string(state.constraint_impulse.size()) +
                                " entries, the scene has " + std::to_string(rows) + kTransfer);
  }
  const std::size_t trees = scene.trees().size();
  if (!state.rest.empty() && state.rest.size() != trees) {
    throw std::invalid_argument("state.rest has " + std::to_string(state.rest.size()) +
                                " entries, the scene has " + std::to_string(trees) +
                                " trees: the state belongs to another scene");
  }
  for (const TreeRest& rest : state.rest) {
    if (!(rest.time >= 0.0 && std::isfinite(rest.time)))
      fail("state.rest.time", rest.time, "finite and >= 0");
    if (rest.island < -1 || rest.island >= static_cast<int>(trees))
      fail("state.rest.island", rest.island, "a tree or -1");
  }
  for (std::size_t i = 0; i < state.contacts.size(); ++i) {
    const auto check = [&](const Vec3d& e, const char* name, const char* range) {
      const double sum = e.x + e.y + e.z;
      if (!std::isfinite(sum)) fail("state.contacts[" + std::to_string(i) + name, sum, range);
    };
    check(state.contacts[i].extension, "].extension", "finite [m]");
    check(state.contacts[i].turn, "].turn", "finite [rad]");
  }
  if (!(state.penalty >= 0.0 && std::isfinite(state.penalty)))
    fail("state.penalty", state.penalty, "finite and >= 0");
}

}  // namespace stiction
