#pragma once

#include "stiction/geometry/distance_cache.hpp"
#include "stiction/model/scene.hpp"

#include <Eigen/Core>

#include <cstdint>
#include <vector>

namespace stiction {

/// What a contact point keeps from step to step. It travels by (pair, feature).
struct ContactMemory {
  std::uint64_t pair;     ///< geometry_a << 32 | geometry_b
  std::uint32_t feature;  ///< id within the pair's manifold
  Vec3d impulse_A;        ///< on B, axes of A's body [N s]: warm start of the solver
  /// Where B's point would be without force minus where it is, relative to A [m]: the springs pull
  /// B with k extension. Axes of the body that carries the anchor: B's if B has a half-space,
  /// height field or triangle mesh and A has none, else A's. Compliant integrators have one, see
  /// contact/compliant_law.hpp, and the rigid step with ContactSettings::tangential_compliance.
  Vec3d extension{0, 0, 0};
  Vec3d moment_A{0, 0, 0};  ///< on B about the point, axes of A's body [N m s]: warm start too
  /// Angular extension of the springs of torsional and rolling friction [rad], axes and sign of
  /// `extension`; compliant integrators alone.
  Vec3d turn{0, 0, 0};
};

/// Warm start of one narrow-phase query.
struct CachedQuery {
  std::uint64_t pair;
  DistanceCache cache;
};

/// How long a tree has been at rest, and whether it sleeps (simulator/sleeping.hpp).
struct TreeRest {
  double time = 0.0;       ///< [s]
  int island = -1;         ///< asleep: a tree of its island, the same for all of them; awake: -1
  std::uint64_t mark = 0;  ///< fingerprint of q, v and control when it fell asleep
  bool operator==(const TreeRest&) const = default;
};

/// All that the next step depends on, besides scene, parameters, settings and control.
struct State {
  std::uint64_t scene = 0;              ///< Scene::fingerprint() of its scene; 0: any
  Eigen::VectorXd q;                    ///< [nq] Pinocchio's layout, see docs/notation.md
  Eigen::VectorXd v;                    ///< [nv]
  double time = 0.0;                    ///< [s]
  std::vector<ContactMemory> contacts;  ///< sorted by (pair, feature)
  std::vector<CachedQuery> queries;     ///< sorted by pair
  std::vector<double>
      constraint_impulse;  ///< per dof lower limit, upper limit, dry friction; then closures, gears
  std::vector<TreeRest> rest;  ///< by tree; empty without sleeping
  double penalty = 0.0;        ///< of ADMM, see ContactSolution::penalty; 0: none yet

  bool operator==(const State& other) const;
};

/// State at `q` (nq numbers, quaternions normalised if within 1e-6 of unit), at rest, cold caches.
/// Throws std::invalid_argument naming the entry and value.
/// Throws std::invalid_argument naming `field` and the entry unless q [nq] is finite with unit
/// quaternions.
void validate_configuration(const Scene& scene,
                            const Eigen::Ref<const Eigen::VectorXd>& q,
                            const std::string& field);
State make_state(const Scene& scene, const std::vector<double>& q);

/// The same without impulses and penalty to start a solver from. Springs of contacts and the warm
/// starts of the narrow phase, which change no result, stay.
State cold(State state);

/// Length of State::constraint_impulse: 3 per dof, then 6 per closure, then 1 per gear.
int constraint_impulse_size(const Scene& scene);

/// Throws std::invalid_argument if the state was made for a scene of another fingerprint.
void validate_scene_of(const State& state, std::uint64_t fingerprint);

/// Throws std::invalid_argument unless sizes match, all numbers are finite, quaternions are unit.
void validate_state(const Scene& scene, const State& state);

}  // namespace stiction
