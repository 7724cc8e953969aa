#pragma once

#include "stiction/contact/compliant_law.hpp"

#include "math/spring_damper.hpp"
#include "solver/common/work_account.hpp"

#include <cmath>
#include <vector>

namespace stiction {

/// A turn about one axis of the contact frame that friction resists, as a row of its own in the
/// unit u of the cone: u phi [m] and, on B, the couple over u [N].
struct TurnRow {
  int point = 0, axis = 0;
  double unit = 0.0;  ///< u [m]
};

/// The contact points of one island over a step, in contact space:
///   x'' = b0 + slope t + Y f(x, x', e),   the continuous law of compliant_law.hpp.
/// Vectors have three entries per point, contact frame [t1 t2 n], B relative to A; x_T counts from
/// the start of the step, x_N is the gap. After those of all points follow the turns: in their
/// units c = (k_t e - d_t x_T', g) has one stiffness, one damping and a Euclidean norm, so that the
/// ellipsoid |(c, g)| <= mu f_N is the law of a tangent plane of more dimensions.
struct ContactIsland {
  int size = 0;           ///< points
  std::vector<double> Y;  ///< [rows() x rows()], symmetric
  std::vector<PointCompliance> compliance;
  std::vector<PointMotion> start;
  std::vector<double> b0, slope;
  double h = 0.0;
  std::vector<TurnRow> turns;   ///< by point
  std::vector<int> first_turn;  ///< [size + 1], where there are any

  void list_turns();  ///< from `compliance`
  int rows() const { return 3 * size + static_cast<int>(turns.size()); }
  /// visit(row, axis, unit) for the turns of point i.
  template <class Visit>
  void each_turn(int i, Visit&& visit) const {
    if (turns.empty()) return;
    for (int k = first_turn[i]; k < first_turn[i + 1]; ++k)
      visit(3 * size + k, turns[k].axis, turns[k].unit);
  }
};

/// Of one point what friction may hold: along t1 and t2, and the turns about the axes of the
/// contact frame in their units; zero where there is none.
struct Tangential {
  Vec3d along{0, 0, 0}, about{0, 0, 0};
};
inline Tangential operator*(const Tangential& a, double s) { return {a.along * s, a.about * s}; }
inline Tangential operator+(const Tangential& a, const Tangential& b) {
  return {a.along + b.along, a.about + b.about};
}
inline double dot(const Tangential& a, const Tangential& b) {
  return (a.along.x * b.along.x + a.along.y * b.along.y) + dot(a.about, b.about);
}
inline double norm(const Tangential& a) { return std::sqrt(dot(a, a)); }
/// Turns from the units of a point's cone to radians.
Vec3d angles(const PointCompliance& c, const Vec3d& about);

/// Where the points are at one time.
struct ContactStates {
  double t = 0.0;               ///< since the segment began [s]
  std::vector<double> x, v, f;  ///< [m], [m/s]; on B [N]
  std::vector<double> F1, F2;  ///< integral of f since the segment began [N s], and of that [N s^2]
  std::vector<Tangential> e;   ///< extensions [m]
  void resize(const ContactIsland& island);
  /// x_T and what is integrated are zero; v, f, e and the gap are not set.
  void begin(const ContactIsland& island);
};

/// A stretch of the step in which no point changes its mode. Once the directions of sliding and the
/// dampings are held the law is linear: a sticking point has three springs and one for each of its
/// turns, a sliding one its normal spring, whose force drags mu d with it, and a lag for all its
/// extensions.
class ContactSegment {
 public:
  static constexpr int kNodes = 8;  ///< at which guards are looked at

  const ContactIsland* island = nullptr;  ///< by resize()
  double begun = 0.0;                     ///< after the start of the step
  ContactStates start;                    ///< F1 = F2 = 0
  std::vector<ContactMode> mode;
  std::vector<char> resting;       ///< guards that are not looked at, next_switch.hpp
  WorkAccount* account = nullptr;  ///< null: none
  bool unpaid = false;             ///< the account did not last: the points stay where they start

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
  /// The same; x and x' of `points` alone, which is all that their guards read. complete() has the
  /// rest of what the last call began.
  void at(double t, const std::vector<int>& points, ContactStates& out);
  void complete(ContactStates& out) const;

  /// As the spring gives it, also where the point is open.
  double normal_force(int i, const ContactStates& s) const;
  /// (c, g): k_t e - d_t x_T', and the same of the turns.
  Tangential trial(int i, const ContactStates& s) const;
  /// Of the forces f.
  Tangential friction(int i, const std::vector<double>& f) const;
  const Tangential& direction(int i) const { return direction_[i]; }

 private:
  bool pays(double t);
  void list_springs();
  void start_springs();
  bool is_normal(int row) const { return row < 3 * island->size && row % 3 == 2; }
  double extension(int row) const;
  template <bool kTurns>
  bool sticks(const double* forces) const;
  void spread(int i, const double* u, std::vector<double>& out) const;
  void expand(const SpringMotion& motion, ContactStates& out) const;
  void expand_forces(const SpringMotion& motion, ContactStates& out) const;
  void expand_point(const SpringMotion& motion, int i, ContactStates& out) const;
  void integrate_free_row(int r, ContactStates& out) const;

  bool springs_kept_ = false;  ///< those of `built_` serve again
  std::vector<ContactMode> built_;
  std::vector<Tangential> direction_;            ///< of the friction, a unit vector
  std::vector<double> damping_, slide_damping_;  ///< normal; tangential while sliding [N s/m]
  std::vector<int> row_;                         ///< contact row of each spring
  std::vector<int> spring_;                      ///< of each contact row, -1: none
  std::vector<int> lag_;                         ///< of each point, -1: none
  SpringDamper springs_;
  SpringMotion motion_;
};

}  // namespace stiction
