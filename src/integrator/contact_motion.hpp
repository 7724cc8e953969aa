#pragma once

#include "integrator/next_switch.hpp"

#include <vector>

namespace stiction {

/// Walks the contact points of one island through a step, from switch to switch (stick, slide,
/// open, close). See src/integrator/README.md. No allocation for sizes it has met.
class ContactMotion {
 public:
  std::vector<double> F1;  ///< of the step: integral of f [N s], on B
  std::vector<double> F2;  ///< integral of F1 [N s^2]
  int switches = 0, segments = 0;
  int taken = 0;           ///< segments, those that were taken again among them
  bool unpaid = false;     ///< likewise: the work of the step did not last
  bool overflown = false;  ///< the last run() ended early: its motion was not finite any more

  /// `account`: of its work, or none. To be filled before the first run() of a step; b0, slope and
  /// h are run()'s.
  ContactIsland& renew(WorkAccount* account = nullptr);
  /// From the start over h, with the acceleration without contact forces going from b0 to b1. A
  /// prediction takes the directions of friction from the start of each segment, in one pass.
  void run(const double* b0, const double* b1, double h, bool prediction = false);

  const ContactIsland& island() const { return island_; }
  const ContactStates& end() const { return segment_.start; }
  const std::vector<ContactMode>& mode() const { return segment_.mode; }

 private:
  void begin();
  bool take_segment(double length, bool follow, bool prediction);
  bool pulls(const ContactStates& end);
  void advance(const ContactStates& end);
  void switch_points();
  void switch_point(int i);
  double quiet_length() const;

  ContactIsland island_;
  ContactSegment segment_;
  NextSwitch next_;
  std::vector<ContactStates> nodes_;
  std::vector<char> fresh_;  ///< points that have just switched
  std::vector<int> pulled_;
};

}  // namespace stiction
