#pragma once

#include "stiction/collision/distance.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace stiction {

/// How distance_derivatives() looks at a pair. The smoothed ones are those of Montaut et al.,
/// "Differentiable Collision Detection: a Randomized Smoothing Approach" (ICRA 2023), for the unit
/// normal: it has a derivative where the shapes touch, the separation vector of the paper has none.
enum class DerivativeMethod : std::uint8_t {
  kExact,              ///< of the features that hold the witness points, by the implicit function
  kFiniteDifferences,  ///< central, 12 queries
  kGaussian0,          ///< eq. 6: queries of perturbed placements, less the unperturbed answer
  kGaussian1,          ///< eq. 26: Hessians of the support functions from perturbed normals
  kGumbel,             ///< eq. 28: Hessians of hulls by the softmax over vertices near by
};
const char* to_string(DerivativeMethod method);
/// "exact", "finite-differences", "gaussian-0", "gaussian-1", "gumbel". Throws
/// std::invalid_argument.
DerivativeMethod derivative_method(const std::string& name);
std::vector<std::string> derivative_methods();

struct DerivativeSettings {
  DerivativeMethod method = DerivativeMethod::kExact;
  double step = 1e-6;             ///< > 0, finite-differences [m], and as an angle [rad]
  double spread_linear = 1e-3;    ///< > 0 [m], gaussian-0: standard deviation of the placements
  double spread_angular = 1e-2;   ///< > 0 [rad], the same
  double spread_direction = 0.1;  ///< > 0 [rad], gaussian-1: standard deviation of the normals
  int samples = 50;               ///< >= 1, M of gaussian-0 and gaussian-1
  std::uint64_t seed = 0;         ///< of their samples: the same seed, the same bits
  int level = 1;                  ///< >= 1, gumbel: edges between the vertices and the farthest one
  /// >= 0 [m], gumbel: differences of height along the normal that count. With l^2 the mean of the
  /// squared edges at the farthest vertex: of overlapping shapes never more than l^2 / (4 depth),
  /// as the Hessians must exceed the depth. 0: l^2 / (4 distance of the vertex from the centroid),
  /// for which the Hessian of a ball's hull is about its radius.
  double temperature = 0.0;

  /// Throws std::invalid_argument with the name and value of the first field out of range.
  void validate() const;
};

enum class DerivativeStatus : std::uint8_t {
  kSmooth,    ///< exact derivatives of a point that is smooth
  kKink,      ///< one choice of several: the features leave the point free or hold it twice (a face
              ///< on a face, parallel edges), points or normal leave their features within motions
              ///< by 1e-6 of the size or rad (lines side by side, a ball over a box's edge), the
              ///< overlap is no strict local minimum of the depth, or another normal is as deep to
              ///< 1e-7 of the size (a ball amid a cube)
  kSampled,   ///< by differences or samples of the query
  kSmoothed,  ///< with smoothed Hessians
  kFace,      ///< the smoothed Hessians + distance are not positive definite: those of the features
};
const char* to_string(DerivativeStatus status);

/// By the twist of B relative to A: columns 0..2 the velocity of the origin of B's frame, 3..5 the
/// angular velocity, world axes, A at rest. By a twist of A about the same point: the rigid motion
/// of all minus this.
struct DistanceDerivatives {
  double distance[6];
  double normal[3][6];
  double witness_a[3][6], witness_b[3][6];
  DerivativeStatus status = DerivativeStatus::kSmooth;
  bool smooth() const { return status == DerivativeStatus::kSmooth; }
};

/// `at`: the answer of distance() for these shapes and placements, and `cache` what it left: the
/// warm start of further queries. Half-spaces, height fields and triangle meshes that are not
/// convex count with their active feature in every method that needs no queries. Exact ones ask one
/// more query where convex shapes overlap, whether another normal is as deep, and four where a
/// shape is not convex: whether the answer goes as they say. Allocates only in queries of surfaces.
/// Throws std::invalid_argument for settings, a placement that is not finite, an answer kBeyond,
/// which has no witness points, and one whose points are off the shapes by 1e-4 of their size.
DistanceDerivatives distance_derivatives(const Shape& a,
                                         const Transform& X_WA,
                                         const Shape& b,
                                         const Transform& X_WB,
                                         const DistanceResult& at,
                                         const DerivativeSettings& settings = {},
                                         const DistanceCache* cache = nullptr);

struct PlacedPair {
  const Shape* a;
  Transform X_WA;
  const Shape* b;
  Transform X_WB;
};

/// Queries of `count` pairs, without a warm start, into at[i], and their derivatives into out[i].
/// Allocates and throws as the single calls do; at a throw what came before is filled in.
void distance_derivatives_of_pairs(const PlacedPair* pairs,
                                   int count,
                                   const DerivativeSettings& settings,
                                   DistanceResult* at,
                                   DistanceDerivatives* out);

}  // namespace stiction
