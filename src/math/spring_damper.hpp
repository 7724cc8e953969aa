#pragma once

#include "math/matrix_exponential.hpp"
#include "math/phi_functions.hpp"

#include <vector>

namespace stiction {

/// Motion of rows that share inertia, each held by a spring and a damper, in closed form:
///   x'' = b0 + b1 t + W u,  u = -K x - B x'     (K, B diagonal, >= 0; zeros allowed).
/// W is symmetric and positive semidefinite (any rank), or general if `symmetric` is false.
/// Followers are first-order lags driven by one row: g' = -rate g + gain u_row.
/// Three forms, chosen by what they need (src/math/README.md, equations):
///   - modal: symmetric, B_i / K_i the same in all rows, no followers; phi-functions.
///   - dissipative: symmetric, no followers; with W = G G^T, Pade on
///     [[0, K^1/2 G], [-G^T K^1/2, -G^T B G]].
///   - companion: everything else; Pade on [[0, 1], [-W K, -W B]] and the lags.
/// Short motions of the latter two go by the power series of x instead.
/// Owns its scratch: no allocation for sizes it has met.
class SpringDamper {
 public:
  enum class Form { kModal, kDissipative, kCompanion };

  struct Follower {
    int row = 0;
    double rate = 0.0;  ///< [1/s], >= 0
    double gain = 0.0;  ///< [m/(N s)] for a spring's extension
  };

  /// All at one time t after the start.
  struct Motion {
    std::vector<double> x, v;    ///< [m], [m/s]
    std::vector<double> u;       ///< [N]
    std::vector<double> U1, U2;  ///< integral of u [N s], integral of U1 [N s^2]
    std::vector<double> g;       ///< followers
    void resize(int rows, int followers);
  };

  /// The rows; W [n x n] row-major.
  void set(const double* W,
           const double* K,
           const double* B,
           int n,
           bool symmetric = true,
           const Follower* followers = nullptr,
           int num_followers = 0);
  /// Where they start, and the acceleration without springs; arrays [n], g0 [followers].
  void start(const double* x0,
             const double* v0,
             const double* b0,
             const double* b1,
             const double* g0 = nullptr);

  void at(double t, Motion& motion);
  /// At t / count, 2 t / count, ... t: one exponential for all of them.
  void sample(double t, int count, std::vector<Motion>& motions);
  /// Of the modal form, for a part of that cost: u alone at the same times, [count x
  /// force_stride()] until the next call, and all of the last.
  const double* sample_forces(double t, int count, Motion& end);
  int force_stride() const { return stride_; }
  /// x <- (W + share diag(1 / (K h^2 + B h)))^-1 x by the modes: W where the springs are stiff for
  /// h. False for other forms and if a row has no spring.
  bool solve_inertia(double h, double share, double* x);

  Form form() const { return form_; }

 private:
  static constexpr int kTail = 5, kMoments = 3;  ///< states of the forcing; z, int z, intint z

  void set_modal();
  void set_dissipative();
  void set_companion();
  void factor_inertia();
  void split(const double* a, double* s, double* rest) const;
  void start_modal();
  void start_pade();
  void rewind_modes(double step);
  void at_modal(double t, Motion& motion);
  void sample_modal(double t, int count, std::vector<Motion>& motions);
  void read_modal(double t, Motion& motion);
  void bound_rates();
  bool is_short(double t) const;
  void start_series();
  void at_series(double t, Motion& motion);
  void sample_series(double t, int count, std::vector<Motion>& motions);
  void move_by_series(double t0, double t, Motion& motion);
  void prepare_pade();
  void augment(double t);
  void at_pade(double t, Motion& motion);
  void sample_pade(double t, int count, std::vector<Motion>& motions);
  void read_pade(double t, const double* columns, Motion& motion);
  void integrate_free_rows(double t, Motion& motion) const;

  Form form_ = Form::kModal;
  int n_ = 0;
  std::vector<double> W_, K_, B_, root_;  ///< root_ = K^1/2
  std::vector<Follower> followers_;
  std::vector<double> x0_, v0_, b0_, b1_, g0_, scratch_;

  // modal: see spring_damper_modal.cpp
  double beta_ = 0.0;  ///< B = beta K [s]
  int stride_ = 0;     ///< rows and modes, rounded up
  std::vector<double> V_, V_transposed_, modes_, rows_, mode_forces_, forces_;
  double functions_step_ = -1.0;

  // series: see spring_damper_series.cpp; marks_[k] is the motion after k marks_apart_
  double rate_ = 0.0, marks_apart_ = 0.0;
  int marks_used_ = 0;
  std::vector<Motion> marks_;
  std::vector<double> by_columns_, series_, term_g_;

  // Pade: see spring_damper_pade.cpp
  bool pade_set_ = false, pade_started_ = false;
  int rank_ = 0, size_ = 0;
  double x_scale_ = 1.0;
  std::vector<double> G_, rest_v_, rest_b0_, rest_b1_, A_, f_, z0_, augmented_, columns_, next_,
      transition_;
  std::vector<int> pivots_;
  MatrixExponential exponential_;
};

}  // namespace stiction
