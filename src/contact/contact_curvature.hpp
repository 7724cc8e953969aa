#pragma once

#include "stiction/collision/contact.hpp"

#include "collision/derivatives/contact_derivatives.hpp"
#include "contact/constraint_row.hpp"
#include "contact/curvature.hpp"

namespace stiction {

/// What of a contact moves its point and its normal.
struct ContactFeature {
  bool on_face = true;  ///< a vertex or a ball at a flat face
  bool face_of_a = false;
  /// From the vertex, or the centre of the ball, to the point [m], and its slope by the gap.
  double radius = 0.0, by_gap = 0.0;
  FeatureMaps<double> maps{};  ///< not on a face: world axes
};

/// A contact that carries, and the motion of its two materials at the start of the step.
struct CurvingContact {
  MaterialMotion<double> a, b;
  ContactFeature feature;
};

/// What it is found from: a step at its start.
struct StartOfStep {
  const Scene& scene;
  const Parameters& parameters;
  const State& state;
  const DynamicsWorkspace& dynamics;
  double dt;
};

/// Whether the velocity of a contact changes within the step: its bodies move. If they do not,
/// `out` is without maps, unless all is asked for.
bool find_curving(const StartOfStep& start,
                  const Contact& contact,
                  CurvingContact& out,
                  bool all = false);

/// The distance from the vertex, or from the centre of a ball, to the point per gap; `plane`: the
/// face is that of a half-space or a surface.
inline double radius_by_gap(bool plane) { return plane ? 1.0 : 0.5; }

/// Where the features do not tell how the point moves, it moves as the mean of both materials.
FeatureMaps<double> feature_maps(const Contact& contact,
                                 const Shape& a,
                                 const Transform& X_WA,
                                 const Shape& b,
                                 const Transform& X_WB);

/// Adds dt/2 kappa to g of contacts, so that c is the velocity in the middle of the step: of all
/// those of two bodies one of which carried in the last step, if none meets at more than the
/// threshold of restitution: then kappa is no forecast. Not of those that bounce, whose law is for
/// velocities of the instant, nor along a tangential spring. Sets ConstraintRow::carried.
void add_contact_curvature(const RowContext& context,
                           const ContactSet& contacts,
                           ContactProblem& problem);

}  // namespace stiction
