#pragma once

#include "collision/convex/support_difference.hpp"

// The part of a core's surface that an answer may rest on, as a smooth patch: what its support
// function is for directions near one, and how far it reaches along the flat directions it has.

namespace stiction::detail {

struct CoreFeature {
  enum class Kind {
    kPoint,      ///< vertex, apex, point
    kSegment,    ///< edge of a polytope, segment of a capsule
    kRectangle,  ///< face of a box
    kPolygon,    ///< face of a mesh
    kEllipsoid,
    kRim,   ///< circle of a cylinder or cone
    kSide,  ///< of a cylinder or cone: a segment that turns with the direction
    kDisc,  ///< cap of a cylinder, base of a cone
  };
  Kind kind;
  std::uint32_t id = 0;  ///< the same for the same part of the core, whatever led to it
  Vec3d p{0, 0, 0};      ///< middle of a flat feature; rim, side, disc: (0, 0, z of the middle)
  int flat = 0;          ///< directions along which the feature is flat
  Vec3d e[2] = {};       ///< those, unit; a side has its own for each normal
  double reach[2] = {};  ///< half lengths along e [m]; disc: radius
  double radius = 0.0;   ///< of rim or disc; side: of its middle [m]
  double slope = 0.0;    ///< side: radius lost per metre along e
  const ConvexMesh* mesh = nullptr;  ///< kPolygon: its mesh
  int corners = 0;                   ///< kPolygon
  const int* loop = nullptr;         ///< its vertices in order; null: those of `triangle`
  int triangle[3] = {};
};

/// All in the frame of the core; d is the unit outward normal.
struct FeatureAt {
  Vec3d p;     ///< point of the feature, its middle along the flat directions
  Vec3d e[2];  ///< unit flat directions
};
FeatureAt feature_at(const Core& core, const CoreFeature& f, const Vec3d& d);

/// Second derivative of the support function at d along s and t, orthogonal to d: ss, st, tt.
/// `along`: position on a side from its middle [m].
struct Bend {
  double ss, st, tt;
};
Bend bend_of(const Core& core,
             const CoreFeature& f,
             const Vec3d& d,
             const Vec3d& s,
             const Vec3d& t,
             double along);

/// Moves the positions along e[0], e[1] into the feature.
void clamp_to(const CoreFeature& f, double along[2]);
/// By how much a point sticks out of a kPolygon, or the polygon out of its plane [m]; others 0.
double outside_polygon(const CoreFeature& f, const Vec3d& p);

/// Candidates for the outward direction d near the point `witness`, most plausible first. `used`:
/// points of the core whose hull holds the witness, `numbers`: their numbers. Returns how many.
inline constexpr int kMaxFeatures = 4;
int features_near(const Core& core,
                  const Vec3d& d,
                  const Vec3d& witness,
                  const Vec3d* used,
                  const int* numbers,
                  int count,
                  CoreFeature features[kMaxFeatures]);

}  // namespace stiction::detail
