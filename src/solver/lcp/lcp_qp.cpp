#include "stiction/math/constants.hpp"

#include "math/solve_linear.hpp"
#include "solver/common/judge.hpp"
#include "solver/lcp/stewart_trinkle.hpp"
#include "solver/solvers.hpp"
#include "solver/workspace.hpp"

#include <cmath>

// The LCP of Stewart and Trinkle as a quadratic program, min z' (M z + q) over M z + q >= 0, z >= 0
// (Le Lidec et al. 2024, section III-A and its code), whose minimum is zero at the solutions, by
// the primal-dual proximal method of multipliers of ProxQP (Bambade et al. 2022). M + M' is
// indefinite: the proximal term on z exceeds its negative eigenvalues, -reach mu at most, by
// `proximal`. Per outer iteration, with w = M z + q,
//   z <- argmin over x of x' (M x + q) + rho/2 |x - z|^2
//                         + 1/(2 m) (|max(0, m y - w(x))|^2 + |max(0, m v - x)|^2)
//   y <- max(0, y - w/m),  v <- max(0, v - z/m),
// the first line by a semismooth Newton method with exact line search. Bilateral variables have an
// equality for w and no v. `iterations` counts Newton steps, each a linear system. A solution has
// the multipliers y = z and v = w, from which the method starts.
// The program is not convex: it can end at a stationary point that does not solve the LCP,
// kStalled.

namespace stiction {
namespace {

class ProximalQp {
 public:
  static std::size_t doubles(int n) {
    return (static_cast<std::size_t>(n) + 1) * padded(n) + 10 * n;
  }

  ProximalQp(const StewartTrinkle& lcp, double proximal, Scratch& scratch, int* ends)
      : lcp_(lcp),
        n_(lcp.size()),
        proximal_(proximal),
        K_(scratch.take(static_cast<std::size_t>(n_) * padded(n_))),
        step_(scratch.take(padded(n_))),
        z_(scratch.take(n_)),
        y_(scratch.take(n_)),
        v_(scratch.take(n_)),
        x_(scratch.take(n_)),
        w_(scratch.take(n_)),
        w_step_(scratch.take(n_)),
        weights_(scratch.take(n_)),
        gradient_(scratch.take(n_)),
        ends_(ends) {}

  /// To be filled before start().
  double* z() { return z_; }
  void start();
  /// One outer iteration of at most max_steps Newton steps; returns their number, -1 if a linear
  /// system is singular.
  int iterate(double tolerance, int max_steps, int& factorisations);
  /// Of z in the last outer iteration, and how far constraints are violated.
  double moved() const { return moved_; }
  double violation() const { return violation_; }

 private:
  double rho(int i) const { return lcp_.indefiniteness(i) + proximal_; }
  double of_w(int i, double w) const {
    const double t = y_[i] - w / m_;
    return lcp_.is_free(i) ? t : std::max(0.0, t);
  }
  double of_z(int i, double x) const {
    return lcp_.is_free(i) ? 0.0 : std::max(0.0, v_[i] - x / m_);
  }
  void product(const double* x, double* Mx) const;
  void product_transposed(const double* x, double* Mtx) const;
  double set_gradient();
  bool newton_step(int& factorisations);
  double slope(double a) const;
  bool line_search();
  void update_multipliers();

  const StewartTrinkle& lcp_;
  int n_;
  double proximal_, m_ = 1e-2, moved_ = 0.0, violation_ = 0.0;
  double *K_, *step_, *z_, *y_, *v_, *x_, *w_, *w_step_, *weights_, *gradient_;
  int* ends_;
};

void ProximalQp::product(const double* x, double* Mx) const {
  for (int i = 0; i < n_; ++i) {
    const double* row = lcp_.M(i);
    Mx[i] = 0.0;
    for (int j = 0; j < n_; ++j) Mx[i] += row[j] * x[j];
  }
}

void ProximalQp::product_transposed(const double* x, double* Mtx) const {
  std::fill(Mtx, Mtx + n_, 0.0);
  for (int i = 0; i < n_; ++i) {
    const double* row = lcp_.M(i);
    if (x[i] == 0.0) continue;
    for (int j = 0; j < n_; ++j) Mtx[j] += row[j] * x[i];
  }
}

void ProximalQp::start() {
  product(z_, w_);
  violation_ = 0.0;
  for (int i = 0; i < n_; ++i) {
    w_[i] += lcp_.q()[i];
    y_[i] = z_[i];
    v_[i] = lcp_.is_free(i) ? 0.0 : std::max(0.0, w_[i]);
    violation_ = std::max(violation_, lcp_.is_free(i) ? std::abs(w_[i]) : -w_[i]);
  }
}

/// Of the function of x, from w = M x + q; returns its largest entry.
double ProximalQp::set_gradient() {
  for (int i = 0; i < n_; ++i) weights_[i] = x_[i] - of_w(i, w_[i]);
  product_transposed(weights_, gradient_);
  double largest = 0.0;
  for (int i = 0; i < n_; ++i) {
    gradient_[i] += w_[i] + rho(i) * (x_[i] - z_[i]) - of_z(i, x_[i]);
    largest = std::max(largest, std::abs(gradient_[i]));
  }
  return largest;
}

/// (M + M' + rho + (M_J' M_J + I_J) / m) step = -gradient, J the active constraints.
bool ProximalQp::newton_step(int& factorisations) {
  const int stride = padded(n_);
  for (int i = 0; i < n_; ++i) {
    double* row = K_ + static_cast<std::size_t>(i) * stride;
    for (int j = 0; j < n_; ++j) row[j] = lcp_.M(i)[j] + lcp_.M(j)[i];
    std::fill(row + n_, row + stride, 0.0);
    row[i] += rho(i) + (of_z(i, x_[i]) > 0.0 ? 1.0 / m_ : 0.0);
    step_[i] = -gradient_[i];
    ends_[i] = n_;
  }
  for (int k = 0; k < n_; ++k) {
    if (!lcp_.is_free(k) && !(of_w(k, w_[k]) > 0.0)) continue;
    const double* a = lcp_.M(k);
    for (int i = 0; i < n_; ++i) {
      if (a[i] == 0.0) continue;
      double* row = K_ + static_cast<std::size_t>(i) * stride;
      const double factor = a[i] / m_;
      for (int j = i; j < n_; ++j) row[j] += factor * a[j];
    }
  }
  ++factorisations;
  return solve_symmetric(K_, n_, stride, ends_, step_);
}

/// Derivative of the function at x + a step.
double ProximalQp::slope(double a) const {
  double sum = 0.0;
  for (int i = 0; i < n_; ++i) {
    const double x = x_[i] + a * step_[i], w = w_[i] + a * w_step_[i];
    sum += step_[i] * (w + rho(i) * (x - z_[i]) - of_z(i, x)) + w_step_[i] * (x - of_w(i, w));
  }
  return sum;
}

/// The derivative is increasing and piecewise linear: its zero by bisection with secants. False if
/// the step does not descend: then the gradient is rounding.
bool ProximalQp::line_search() {
  constexpr int kTries = 40;
  product(step_, w_step_);
  double low = 0.0, high = 1.0, at_low = slope(0.0), at_high = slope(1.0), a = 1.0;
  if (!(at_low < 0.0)) return false;
  const double enough = -1e-3 * at_low;
  for (int k = 0; k < kTries && at_high > enough; ++k) {
    const double secant = low - at_low * (high - low) / (at_high - at_low);
    a = k % 2 == 0 ? secant : 0.5 * (low + high);
    const double at = slope(a);
    if (std::abs(at) <= enough) break;
    if (at > 0.0)
      high = a, at_high = at;
    else
      low = a, at_low = at;
  }
  for (int i = 0; i < n_; ++i) {
    x_[i] += a * step_[i];
    w_[i] += a * w_step_[i];
  }
  return true;
}

/// The penalty 1 / m grows tenfold where the constraints are not obeyed ten times better.
void ProximalQp::update_multipliers() {
  constexpr double kSmallest = 1e-8;
  const double before = violation_;
  moved_ = violation_ = 0.0;
  for (int i = 0; i < n_; ++i) {
    const bool is_free = lcp_.is_free(i);
    violation_ = std::max({violation_, is_free ? std::abs(w_[i]) : -w_[i], is_free ? 0.0 : -x_[i]});
    moved_ = std::max(moved_, std::abs(x_[i] - z_[i]));
    y_[i] = of_w(i, w_[i]);
    v_[i] = of_z(i, x_[i]);
    z_[i] = x_[i];
  }
  if (violation_ > 0.1 * before) m_ = std::max(kSmallest, 0.1 * m_);
}

int ProximalQp::iterate(double tolerance, int max_steps, int& factorisations) {
  std::copy(z_, z_ + n_, x_);
  int steps = 0;
  do {
    product(x_, w_);
    for (int i = 0; i < n_; ++i) w_[i] += lcp_.q()[i];
    if (set_gradient() <= tolerance) break;
    if (!newton_step(factorisations)) return -1;
    ++steps;
  } while (line_search() && steps < max_steps);
  update_multipliers();
  return steps;
}

IslandOutcome solve_program(ProximalQp& program,
                            const StewartTrinkle& lcp,
                            const SolverSettings& settings,
                            int& factorisations,
                            Judge& judge,
                            double* lambda) {
  constexpr int kNewtonSteps = 30;  // per outer iteration
  int iterations = 0;
  for (;;) {
    const double tolerance =
        std::clamp(0.01 * std::min(judge.relative(), settings.tolerance), 1e-13, 1e-3);
    const int allowed = std::min(kNewtonSteps, settings.max_iterations - iterations);
    const int steps = program.iterate(tolerance, allowed, factorisations);
    iterations += std::max(1, steps);
    lcp.impulses(program.z(), lambda);
    if (steps >= 0 && judge.solved()) return {iterations, SolveStatus::kConverged};
    const bool stationary = program.moved() <= 1e-14 && program.violation() <= 1e-12;
    const bool stalled = steps < 0 || stationary || !judge.finite();
    if (!stalled && iterations < settings.max_iterations) continue;
    judge.return_to_best();
    return {iterations, stalled ? SolveStatus::kStalled : SolveStatus::kMaxIterations};
  }
}

}  // namespace

void solve_lcp_qp(const ContactProblem& problem,
                  const SolverSettings& settings,
                  SolverWorkspace& work,
                  ContactSolution& solution) {
  const Polygon polygon(settings.facets);
  LcpWork& own = work.parts().lcp;
  solve_by_islands(problem, solution, [&](const Island& island, double* lambda, double* velocity) {
    Judge judge(island, ContactModel::kLcp, settings, own.best, lambda, velocity);
    if (judge.solved()) return IslandOutcome{0, SolveStatus::kConverged};
    const int n = StewartTrinkle::count_variables(island, settings.facets);
    own.integers.grow(StewartTrinkle::ints(n) + n);
    Scratch scratch(own.matrices,
                    StewartTrinkle::doubles(island.rows(), n) + ProximalQp::doubles(n));
    StewartTrinkle lcp(island, polygon, scratch, own.integers);
    lcp.build(0.0, lambda);
    ProximalQp program(lcp, settings.proximal, scratch, own.integers + StewartTrinkle::ints(n));
    lcp.variables(lambda, velocity, program.z());
    program.start();
    return solve_program(program, lcp, settings, solution.factorisations, judge, lambda);
  });
}

}  // namespace stiction
