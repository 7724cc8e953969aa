#pragma once

#include "math/matrix_exponential.hpp"

#include <vector>

// Motion of rows that share inertia, each held by a spring and a damper, in closed form:
//   x'' = b0 + b1 t + W u,  u = -K x - B x'     (K, B diagonal, >= 0; zeros allowed).
// Three maps (rows, start, t) -> motion; equations and measurements in src/math/README.md. They own
// no result: buffers grow on demand and keep their capacity, nothing allocates for sizes met
// before.

namespace stiction {

struct SpringRows {
  /// A first-order lag that is driven by one row: g' = -rate g + gain u_row.
  struct Lag {
    int row = 0;
    double rate = 0.0;  ///< [1/s], >= 0
    double gain = 0.0;  ///< [m/(N s)] for a spring's extension
  };

  int size = 0;
  bool symmetric = true;  ///< W, positive semidefinite then, of any rank
  std::vector<double> W;  ///< [size x size] row-major [1/kg]
  std::vector<double> K, B;
  std::vector<Lag> lags;
};

/// Where the rows start, and their acceleration b0 + b1 t without springs.
struct SpringStart {
  std::vector<double> x, v, b0, b1;  ///< [m], [m/s], [m/s^2], [m/s^3]
  std::vector<double> g;             ///< lags
};

/// Everything at one time t after the start.
struct SpringMotion {
  double t = 0.0;
  std::vector<double> x, v;    ///< [m], [m/s]
  std::vector<double> u;       ///< [N]
  std::vector<double> U1, U2;  ///< integral of u [N s], integral of U1 [N s^2]
  std::vector<double> g;       ///< lags
  void resize(const SpringRows& rows);
  void take(const SpringRows& rows, const SpringStart& start);  ///< t = 0
};

/// Modal map: W symmetric, B = beta K, all K > 0 and of one size, no lags. Each mode is an
/// oscillator of phi_functions.hpp. The modes are of the rows, start() of one motion.
class SpringModes {
 public:
  bool find(const SpringRows& rows);  ///< false if these have none
  void start(const SpringStart& start);
  /// At t / count, 2 t / count, ... t.
  void sample(double t, int count, SpringMotion* motions);
  /// u alone at the same times, for a part of that cost: [count x stride()] until the next call,
  /// and all of the last.
  const double* sample_forces(double t, int count, SpringMotion& end);
  int stride() const { return stride_; }

 private:
  void rewind(double step);
  void read(double t, SpringMotion& motion);

  int size_ = 0, stride_ = 0;  ///< rows; the same rounded up to lanes
  double beta_ = 0.0;          ///< [s]
  double functions_step_ = -1.0;
  std::vector<double> root_;  ///< K^1/2
  std::vector<double> x0_;    ///< K^1/2 x of the start
  std::vector<double> V_, V_transposed_, table_, rows_, mode_forces_, forces_, scratch_;
};

/// Power series: any rows. The cost of the first time grows as rate t, later ones cost little.
class SpringSeries {
 public:
  /// Of rate t, beyond which a matrix exponential is cheaper: 12 spans of 4.
  static constexpr double kLongest = 48.0;

  void prepare(const SpringRows& rows);
  /// An upper bound on the rates of the rows [1/s]: the largest root of s^2 = |W B| s + |W K|, and
  /// the lags'.
  double rate() const { return rate_; }
  void begin() { reach_ = -1.0; }  ///< `start` has changed
  void at(const SpringRows& rows, const SpringStart& start, double t, SpringMotion& motion);
  /// That times up to t will be asked for.
  void expand_up_to(const SpringRows& rows, const SpringStart& start, double t);

 private:
  void begin_span(double* terms) const;

  int size_ = 0, stride_ = 0, width_ = 0;  ///< rows; padded; entries of a term
  double rate_ = 0.0;
  double span_ = 0.0, reach_ = -1.0;  ///< length of a span, of all [s]
  std::vector<double> columns_, given_, motion_;
  std::vector<double> terms_;        ///< span after span
  std::vector<std::size_t> starts_;  ///< of the spans, and the end
};

struct ExponentialWorkspace {
  std::vector<double> A, columns, next, transition;
  MatrixExponential exponential;
};
/// Matrix exponential: any rows, any t; one of them for the times t / count, 2 t / count, ... t.
void sample_by_exponential(const SpringRows& rows,
                           const SpringStart& start,
                           double t,
                           int count,
                           ExponentialWorkspace& work,
                           SpringMotion* motions);

/// Chooses the map: the modal one for rows that have modes, the series for what is short, the
/// exponential for the rest.
class SpringDamper {
 public:
  SpringRows rows;    ///< prepare() after a change
  SpringStart start;  ///< begin() after a change, and after prepare()

  void prepare();
  void begin();
  bool modal() const { return modal_; }
  /// Multiplications, about: of prepare(), and of one time t.
  double work_to_prepare() const;
  double work(double t) const;
  /// At t / count, 2 t / count, ... t; until the next begin().
  const SpringMotion* sample(double t, int count);
  void at(double t, SpringMotion& motion);
  SpringModes& modes() { return modes_; }
  const SpringModes& modes() const { return modes_; }

 private:
  bool is_short(double t) const;

  bool modal_ = false;
  std::vector<SpringMotion> nodes_;
  SpringModes modes_;
  SpringSeries series_;
  ExponentialWorkspace exponential_;
};

}  // namespace stiction
