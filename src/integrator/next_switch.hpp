#pragma once

#include "integrator/contact_segment.hpp"

#include <vector>

namespace stiction {

/// [N], not negative while point i keeps its mode. Open: phi >= 0 or f_N <= 0. Closed: f_N >= 0;
/// sticking inside the cone, sliding outside of it and within 20 degrees of the direction that the
/// segment takes for the friction: a velocity that passes near zero may cross the cone within
/// microseconds. A point that rests from switching between stick and slide may still open.
double guard(const ContactSegment& segment, int i, const ContactStates& s);
/// Below this a guard is zero: rounding of the forces it compares at the start of the segment.
double guard_rounding(const ContactSegment& segment, int i);

/// What ends a segment.
class NextSwitch {
 public:
  std::vector<int> violated;  ///< points whose guards are
  ContactStates end;          ///< at the switch

  /// The first of the nodes where a guard is violated, and the switch before it by a root search
  /// over the points that are violated there: to rounding, or, if not `sharp`, to a thousandth of
  /// the time between two nodes. False if there is none.
  bool find(ContactSegment& segment, const std::vector<ContactStates>& nodes, bool sharp);

 private:
  double least_guard(ContactSegment& segment, double t);
  void list_violated(const ContactSegment& segment, const ContactStates& s);
  void locate(ContactSegment& segment, double left, double right, bool sharp);
};

}  // namespace stiction
