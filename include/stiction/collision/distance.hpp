#pragma once

#include "stiction/geometry/distance_cache.hpp"
#include "stiction/geometry/shape.hpp"
#include "stiction/math/constants.hpp"

#include <string>
#include <vector>

namespace stiction {

enum class DistanceStatus : std::uint8_t {
  kSeparated,      ///< distance > 0, bounds closed to the tolerance
  kPenetrating,    ///< distance < 0, depth certified by EPA to the tolerance
  kTouching,       ///< |distance| below rounding of the pair's size; normal from the features
  kMaxIterations,  ///< at the limit, or no progress in double precision: best bounds so far;
                   ///< distance is the upper bound, its sign is right
  kBeyond,         ///< farther than settings.max_distance: distance is a lower bound along normal
                   ///< (of closed forms the distance); the witness points lie on that plane
};
const char* to_string(DistanceStatus status);

/// How support directions are chosen and what is kept of the points seen. GJK++ is Montaut et al.,
/// "GJK++: Leveraging Acceleration Methods for Faster Collision Detection"; see
/// docs/narrow_phase.md. Frank-Wolfe and NESMINO are for study: they need 1e3 to 2e5 iterations for
/// what kGjk does in ten. Where they end at max_iterations, GJK decides whether the shapes overlap,
/// and EPA how deep.
enum class DistanceMethod : std::uint8_t {
  /// Closed forms where there are any, else the fastest measured: kGjk; between polytopes that are
  /// near each other and without a warm start with the momentum of kNesterovNormalizedReference.
  kAuto,
  kFrankWolfe,          ///< GJK++ Alg. 1: line search, no simplex
  kFrankWolfePolyak,    ///< Alg. 5
  kFrankWolfeNesterov,  ///< Alg. 5
  kGjk,                 ///< Alg. 4: fully corrective Frank-Wolfe on simplices
  kPolyak,              ///< Alg. 6, delta_k = (k + 1) / (k + 3)
  kPolyakNormalized,    ///< Alg. 6 with Alg. 7
  kNesterov,            ///< Alg. 6
  kNesterovNormalized,  ///< Alg. 6 with Alg. 7
  kPolyakReference,     ///< momentum of the authors' code: delta_k = 1 / (k + 1), no factor 2
  kNesterovReference,   ///< the same: delta_k = (k + 1) / (k + 3), no factor 2
  kNesterovNormalizedReference,  ///< the same: delta_k = (k + 2) / (k + 3)
  kNesmino,                      ///< Nesterov smoothing of the dual, projections onto the shapes
};
const char* to_string(DistanceMethod method);
/// "auto", "frank-wolfe", ... as in distance_methods(). Throws std::invalid_argument.
DistanceMethod distance_method(const std::string& name);
std::vector<std::string> distance_methods();

enum class StoppingRule : std::uint8_t {
  kBounds,    ///< upper - lower bound of the distance <= tolerance [m]
  kPaperGap,  ///< GJK++ eq. 18, 32: 2 <x, x - s> <= tolerance [m^2]
};
/// "bounds" or "paper-gap". Throws std::invalid_argument.
StoppingRule stopping_rule(const std::string& name);

struct DistanceSettings {
  /// > 0, see StoppingRule; in metres capped to 1e-14 ... 1e-10 of the pair's size.
  double tolerance = 1e-10;
  int max_iterations = 128;  ///< >= 1, of GJK and of EPA each
  DistanceMethod method = DistanceMethod::kAuto;
  StoppingRule stopping = StoppingRule::kBounds;
  /// [m] >= 0: pairs proven to be farther apart end at once with kBeyond.
  double max_distance = kInfinity;

  /// Throws std::invalid_argument with the name and value of the first field out of range.
  void validate() const;
};

struct DistanceResult {
  double distance;             ///< signed [m], negative = penetration depth
  Vec3d witness_a, witness_b;  ///< world [m]; witness_b - witness_a = distance * normal
  Vec3d normal;                ///< unit, world, from A to B
  int iterations = 0;  ///< support points of A - B that GJK evaluated; 0: closed form, or the
                       ///< polytope of the last query
  DistanceStatus status = DistanceStatus::kMaxIterations;
  int epa_iterations = 0;  ///< faces that EPA looked at; 0: not needed
};

/// Signed distance of two shapes. With a height field or triangle mesh, which may not be convex, a
/// negative distance is the depth of the deepest contact of contact_manifolds() along its normal: a
/// motion that frees the pair if the overlap is convex. Half-space against half-space is refused
/// (std::invalid_argument), and so are placements with a number that is not finite.
DistanceResult distance(const Shape& a,
                        const Transform& X_WA,
                        const Shape& b,
                        const Transform& X_WB,
                        const DistanceSettings& settings = {},
                        DistanceCache* cache = nullptr);

/// True if the shapes overlap or touch. Stops at the first separating plane and never needs a
/// depth; settings.max_distance is not used.
bool collide(const Shape& a,
             const Transform& X_WA,
             const Shape& b,
             const Transform& X_WB,
             const DistanceSettings& settings = {},
             DistanceCache* cache = nullptr,
             int* iterations = nullptr);

}  // namespace stiction
