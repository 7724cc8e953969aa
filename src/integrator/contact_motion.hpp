#pragma once

#include "stiction/contact/compliant_law.hpp"

#include "math/spring_damper.hpp"

#include <vector>

namespace stiction {

/// The contact points of one island over a step, in contact space and in closed form:
///   x'' = b0 + (b1 - b0) t / h + Y f(x, x', e),   the continuous law of compliant_law.hpp,
/// with Y constant. Between switches (stick, slide, open, close) the law is linear once the
/// direction of sliding is held, so the step is a chain of segments of SpringDamper, and a switch
/// is a root of its closed form. See src/integrator/README.md.
/// Vectors have three entries per point, contact frame [t1 t2 n], B relative to A; x_T counts from
/// the start, x_N is the gap. Owns its scratch: no allocation for sizes it has met.
class ContactMotion {
 public:
  struct Result {
    std::vector<double> F1, F2;     ///< integral of f [N s] and of that again [N s^2], on B
    std::vector<double> force;      ///< at the end [N]
    std::vector<double> x, v;       ///< at the end [m], [m/s]
    std::vector<Vec3d> e;           ///< tangential extension at the end [m]
    std::vector<ContactMode> mode;  ///< at the end
    int switches = 0;
    int segments = 0;
  };

  /// Y [3n x 3n], either order: it is symmetric. `compliance` [n].
  void set(int n, const double* Y, const PointCompliance* compliance);
  /// gap [m], velocity, extension of each point.
  void start(const PointMotion* points);
  /// From the start, with the acceleration of no contact force going from b0 to b1 over h. A
  /// prediction takes the directions of friction from the start of each segment, in one pass.
  const Result& run(const double* b0, const double* b1, double h, bool prediction = false);

  const double* delassus() const { return Y_.data(); }
  /// y of (Y + diag(1 / (k h^2 + d h)) / 10) y = e in the rows `closed` if these are the springs
  /// that the last run ended with and their modes are known; else false.
  bool match(const std::vector<int>& closed, double h, double* e) {
    return built_ == result_.mode && row_ == closed && springs_.solve_inertia(h, 0.1, e);
  }

 private:
  static constexpr int kNodes = 8;  ///< of a segment, at which guards are looked at
  /// Where the points are, at some time of a segment.
  struct Node {
    double t = 0.0;  ///< since the segment began
    std::vector<double> x, v, f, F1, F2;
    std::vector<Vec3d> e;
    void resize(int n);
  };

  void begin(double h);
  void choose_mode(int i);
  double linearised_damping(int i, double depth) const;
  bool build(const std::vector<ContactMode>& mode, bool averaged);
  void start_springs();
  void sample(double length);
  void expand(const SpringDamper::Motion& motion, double t, Node& node);
  void spread(int i, const double* u, std::vector<double>& out) const;
  void integrate_free_rows(double t, Node& node) const;
  double normal_force(int i, const Node& node) const;
  Vec3d trial(int i, const Node& node) const;
  bool sticks(const double* forces, int stride) const;
  double guard(int i, const Node& node) const;
  bool pulls(const Node& end);
  double tolerance(int i) const;
  double least_guard(double t);
  void find_violated(const Node& node);
  double lowest_between(int i, const Node& a, const Node& b, double apart) const;
  bool first_switch(double length);
  void locate(double left, double right);
  bool sharp_ = true;  ///< roots to rounding; else, for a first pass, to a thousandth of a segment
  void average_directions(const Node& end);
  void advance(const Node& node);
  void switch_points();
  void switch_point(int i);
  double quiet_length() const;

  int n_ = 0;
  bool holds_ = false;       ///< no guard is violated at the nodes
  bool modes_kept_ = false;  ///< springs_ holds the rows of mode_, none sliding
  double h_ = 0.0, time_ = 0.0;
  std::vector<double> Y_, b0_, slope_;  ///< b = b0 + slope t
  std::vector<PointCompliance> compliance_;
  std::vector<double> slide_damping_, damping_;  ///< tangential while sliding; normal, linearised
  std::vector<PointMotion> start_;
  std::vector<ContactMode> built_;
  std::vector<Vec3d> direction_, end_direction_;  ///< of the friction force
  std::vector<char> ignored_, fresh_;  ///< guards that rest; points that have just switched
  std::vector<int> violated_, pulled_;
  Node here_, probe_;
  std::vector<Node> nodes_;
  Result result_;

  SpringDamper springs_;
  SpringDamper::Motion motion_;
  std::vector<SpringDamper::Motion> motions_;
  std::vector<int> row_;       ///< contact row of each sprung row
  std::vector<int> sprung_;    ///< sprung row of each contact row, -1: none
  std::vector<int> follower_;  ///< of each point, -1: none
  std::vector<SpringDamper::Follower> followers_;
  std::vector<double> W_, K_, B_, x_, v_, bs_, slopes_, g_;
};

}  // namespace stiction
