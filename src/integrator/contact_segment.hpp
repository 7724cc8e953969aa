#pragma once

#include "stiction/contact/compliant_law.hpp"

#include "math/spring_damper.hpp"

#include <vector>

namespace stiction {

/// The contact points of one island over a step, in contact space:
///   x'' = b0 + slope t + Y f(x, x', e),   the continuous law of compliant_law.hpp.
/// Vectors have three entries per point, contact frame [t1 t2 n], B relative to A; x_T counts from
/// the start of the step, x_N is the gap.
struct ContactIsland {
  int size = 0;           ///< points
  std::vector<double> Y;  ///< [3 size x 3 size], symmetric
  std::vector<PointCompliance> compliance;
  std::vector<PointMotion> start;
  std::vector<double> b0, slope;
  double h = 0.0;
};

/// Where the points are at one time.
struct ContactStates {
  double t = 0.0;               ///< since the segment began [s]
  std::vector<double> x, v, f;  ///< [m], [m/s]; on B [N]
  std::vector<double> F1, F2;  ///< integral of f since the segment began [N s], and of that [N s^2]
  std::vector<Vec3d> e;        ///< tangential extension [m]
  void resize(int points);
  void begin(int points);  ///< x_T and what is integrated are zero; v, f, e and the gap are not set
};

/// A stretch of the step in which no point changes its mode. Once the directions of sliding and the
/// dampings are held the law is linear: a sticking point has three springs, a sliding one its
/// normal spring, whose force drags mu d with it, and a lag for its extension.
class ContactSegment {
 public:
  static constexpr int kNodes = 8;  ///< at which guards are looked at

  const ContactIsland* island = nullptr;  ///< by resize()
  double begun = 0.0;                     ///< after the start of the step
  ContactStates start;                    ///< F1 = F2 = 0
  std::vector<ContactMode> mode;
  std::vector<char> resting;  ///< guards that are not looked at, next_switch.hpp

  void resize(const ContactIsland& island);
  void forget_springs() { springs_kept_ = false; }  ///< Y or a compliance has changed
  /// Mode, force and extension of a point by the law, at the start.
  void choose_mode(int i);
  /// The springs of the closed points. Directions and dampings are those of the start, or, if
  /// `averaged`, those of average(). False if nothing slides and no damping depends on depth: then
  /// they are the same all through.
  bool linearise(bool averaged);
  /// For a second pass: the friction direction at the centre of the normal impulse, between the
  /// directions at the start and at `end`, and the normal damping at the mean depth. A normal force
  /// that swings while the direction turns would otherwise cost the second order.
  void average(const ContactStates& end);

  /// At kNodes times up to `length`. True if all guards are known to hold there: then only the last
  /// node is set.
  bool sample(double length, std::vector<ContactStates>& nodes);
  void at(double t, ContactStates& out);

  /// As the spring gives it, also where the point is open.
  double normal_force(int i, const ContactStates& s) const;
  /// c = k_t e - d_t x_T'.
  Vec3d trial(int i, const ContactStates& s) const;
  const Vec3d& direction(int i) const { return direction_[i]; }

 private:
  void list_springs();
  void start_springs();
  bool sticks(const double* forces) const;
  void spread(int i, const double* u, std::vector<double>& out) const;
  void expand(const SpringMotion& motion, ContactStates& out) const;
  void integrate_free_rows(ContactStates& out) const;

  bool springs_kept_ = false;  ///< those of `built_` serve again
  std::vector<ContactMode> built_;
  std::vector<Vec3d> direction_;                 ///< of the friction force
  std::vector<double> damping_, slide_damping_;  ///< normal; tangential while sliding [N s/m]
  std::vector<int> row_;                         ///< contact row of each spring
  std::vector<int> spring_;                      ///< of each contact row, -1: none
  std::vector<int> lag_;                         ///< of each point, -1: none
  SpringDamper springs_;
  SpringMotion motion_;
};

/// Of the tangential part.
double tangential_norm(const Vec3d& c);

}  // namespace stiction
