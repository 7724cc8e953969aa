#include "stiction/contact/uniqueness.hpp"

#include "stiction/math/constants.hpp"

#include "contact/circular_form.hpp"
#include "contact/problem_scale.hpp"
#include "math/number_text.hpp"
#include "math/singular_values.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

// Implicit function theorem, mode by mode: with the modes fixed, the solutions near lambda are
// lambda + null space of the reduced Jacobian.

namespace stiction {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

ContactModes scalar_modes(double to_lower,
                          double to_upper,
                          double speed,
                          const ProblemScale& zero) {
  const bool at_bound = std::min(to_lower, to_upper) <= zero.impulse;
  if (!at_bound) return {ContactMode::kStick, ContactMode::kStick};
  const bool moves = std::abs(speed) > zero.velocity;
  return {moves ? ContactMode::kOpen : ContactMode::kStick, ContactMode::kOpen};
}

ContactModes modes_of(const ConstraintSet& set,
                      const double* l,
                      const double* c,
                      const ProblemScale& zero) {
  switch (set.kind) {
    case SetKind::kCone:
      return modes(set.friction, l, c, zero.impulse, zero.velocity);
    case SetKind::kNonNegative:
      return scalar_modes(l[0] / set.arm, kInfinity, c[0] * set.arm, zero);
    case SetKind::kBox:
      return scalar_modes(
          (l[0] - set.lower) / set.arm, (set.upper - l[0]) / set.arm, c[0] * set.arm, zero);
    case SetKind::kFree:
      break;
  }
  return {ContactMode::kStick, ContactMode::kStick};
}

/// The sets [first, last) of the problem, dense and scaled: H = S G S, lambda = S x, S dc = H dx.
struct Island {
  const ContactProblem& problem;
  int first, last, offset, rows;
  MatrixXd H;
  VectorXd scale;
  const ContactModes* modes;
};

Island make_island(const ContactProblem& problem,
                   const MatrixXd& G,
                   const std::vector<ContactModes>& modes,
                   int first,
                   int last) {
  Island island{problem, first, last, 0, 0, {}, {}, modes.data() + first};
  if (first == last) return island;
  island.offset = problem.sets[first].offset;
  island.rows = problem.sets[last - 1].offset + problem.sets[last - 1].dim - island.offset;
  island.H = G.block(island.offset, island.offset, island.rows, island.rows);
  island.scale.resize(island.rows);
  for (int i = first; i < last; ++i) {
    const int at = problem.sets[i].offset - island.offset, dim = problem.sets[i].dim;
    const double mean = island.H.diagonal().segment(at, dim).mean();
    island.scale.segment(at, dim).setConstant(mean > 0.0 ? 1.0 / std::sqrt(mean) : 1.0);
  }
  island.H = island.scale.asDiagonal() * island.H * island.scale.asDiagonal();
  return island;
}

/// Rows of a sliding contact, the tangential ones along e and across it, f_k. (mu lambda_N / |c_T|)
/// becomes a after scaling; the rows across are divided by 1 + a, so that slowness makes them no
/// larger:
///   e.dx_T + mu dx_N = 0,  (f_k.dx_T + a f_k.(H dx)_T) / (1 + a) = 0,  (H dx)_N = 0
template <int D>
void slide_rows(const Island& island, int at, double mu, double a, const double* e, MatrixXd& J) {
  const double share = a / (1.0 + a), rest = 1.0 / (1.0 + a);
  double across[(D - 1) * (D - 1)];
  circular::normals<D>(e, across);
  for (int r = 0; r < D - 1; ++r) J(at, at + r) = e[r];
  J(at, at + D - 1) = mu;
  for (int k = 1; k < D - 1; ++k) {
    const double* f = across + (k - 1) * (D - 1);
    for (int r = 0; r < D - 1; ++r) J.row(at + k) += share * f[r] * island.H.row(at + r);
    for (int r = 0; r < D - 1; ++r) J(at + k, at + r) += rest * f[r];
  }
  J.row(at + D - 1) = island.H.row(at + D - 1);
}

/// The same from the motion, or, of a contact at rest on its cone, from the impulse: c_T is noise,
/// it would begin to slide against l_T.
template <int D>
void slide(const Island& island,
           const ConstraintSet& set,
           bool rests,
           const double* l,
           const double* c,
           MatrixXd& J) {
  const int at = set.offset - island.offset;
  const double mu = set.friction.slope();
  double e[D - 1] = {1.0};
  if (mu == 0.0) return slide_rows<D>(island, at, 0.0, 0.0, e, J);
  const double* t = rests ? l : c;
  const double length = (rests ? -1.0 : 1.0) * circular::tangent<D>(t), s = island.scale[at];
  for (int r = 0; r < D - 1; ++r) e[r] = t[r] / length;
  const double a = rests ? 1e300 : mu * std::max(l[D - 1], 0.0) / (s * s * length);
  slide_rows<D>(island, at, mu, a, e, J);
}

/// The reduced Jacobian in x, of the modes chosen.
MatrixXd jacobian(const Island& island, bool giving, const double* lambda, const double* velocity) {
  MatrixXd J = MatrixXd::Zero(island.rows, island.rows);
  for (int i = island.first; i < island.last; ++i) {
    const ConstraintSet& set = island.problem.sets[i];
    const ContactModes& modes = island.modes[i - island.first];
    const ContactMode mode = giving ? modes.giving : modes.holding;
    const int at = set.offset - island.offset;
    const double* l = lambda + set.offset;
    const double* c = velocity + set.offset;
    if (mode == ContactMode::kOpen) {
      J.block(at, at, set.dim, set.dim).setIdentity();
    } else if (mode == ContactMode::kStick) {
      J.middleRows(at, set.dim) = island.H.middleRows(at, set.dim);
    } else {
      const bool rests = modes.holding == ContactMode::kStick;
      with_dim(set.dim, [&](auto D) { slide<D>(island, set, rests, l, c, J); });
    }
  }
  return J;
}

/// Singular values, largest first, and right singular vectors.
VectorXd decompose(MatrixXd A, MatrixXd* V) {
  VectorXd values(A.cols());
  const int rows = static_cast<int>(A.rows()), columns = static_cast<int>(A.cols());
  if (!singular_values(A.data(), rows, columns, values.data(), V ? V->data() : nullptr))
    values.setConstant(std::numeric_limits<double>::quiet_NaN());  // larger than nothing: rank 0
  return values;
}

void count(
    const Island& island, const MatrixXd& J, double threshold, int dimensions[2], Uniqueness& u) {
  const int n = island.rows;
  MatrixXd V(n, n);
  const VectorXd s = decompose(J, &V);
  int rank = 0;
  while (rank < n && s[rank] > threshold * s[0]) ++rank;
  if (rank > 0) u.smallest_kept = std::min(u.smallest_kept, s[rank - 1] / s[0]);
  if (rank == n) return;
  if (s[0] > 0.0) u.largest_dropped = std::max(u.largest_dropped, s[rank] / s[0]);
  const VectorXd speeds = decompose(island.H * V.rightCols(n - rank), nullptr);
  dimensions[0] += n - rank;
  // |H| is about 1 per contact after scaling.
  dimensions[1] += static_cast<int>((speeds.array() > std::sqrt(threshold)).count());
}

void check(const ContactProblem& p,
           const std::vector<double>& impulse,
           double threshold,
           double tolerance) {
  if (static_cast<int>(impulse.size()) != p.num_rows()) {
    throw std::invalid_argument("impulse has " + std::to_string(impulse.size()) +
                                " entries: the problem has " + std::to_string(p.num_rows()) +
                                " rows");
  }
  for (std::size_t i = 0; i < impulse.size(); ++i) {
    if (std::isfinite(impulse[i]) && std::isfinite(p.g[i])) continue;
    throw std::invalid_argument("impulse[" + std::to_string(i) +
                                "] or g of this row is not finite");
  }
  const auto in_unit = [](const char* name, double x) {
    if (x > 0.0 && x < 1.0) return;
    throw std::invalid_argument(std::string(name) + " = " + number_text(x) + ": must be in (0, 1)");
  };
  in_unit("threshold", threshold);
  in_unit("tolerance", tolerance);
}

}  // namespace

std::vector<ContactModes> modes(const ContactProblem& p,
                                const std::vector<double>& impulse,
                                const std::vector<double>& velocity,
                                double tolerance) {
  std::vector<ContactModes> out;
  for (int k = 0; k < p.num_islands(); ++k) {
    const ProblemScale zero = scale_of_island(p, k, impulse) * tolerance;
    for (int i = p.island_start[k]; i < p.island_start[k + 1]; ++i) {
      const int at = p.sets[i].offset;
      out.push_back(modes_of(p.sets[i], &impulse[at], &velocity[at], zero));
    }
  }
  return out;
}

Uniqueness uniqueness(const ContactProblem& given,
                      const std::vector<double>& lambda,
                      double threshold,
                      double tolerance) {
  check(given, lambda, threshold, tolerance);
  CircularForm form;
  const ContactProblem& problem = form.take(given);
  std::vector<double> impulse = lambda;
  form.to_circular(impulse.data());
  std::vector<double> velocity(impulse.size());
  for (int i = 0; i < problem.num_sets(); ++i)
    problem.velocity(i, impulse.data(), velocity.data() + problem.sets[i].offset);
  const MatrixXd G = problem.dense();
  const std::vector<ContactModes> all = modes(problem, impulse, velocity, tolerance);
  Uniqueness u;
  for (int k = 0; k < problem.num_islands(); ++k) {
    const int first = problem.island_start[k], last = problem.island_start[k + 1];
    const Island island = make_island(problem, G, all, first, last);
    if (island.rows == 0) continue;
    int switches = 0, dimensions[2][2] = {{0, 0}, {0, 0}};
    for (int i = first; i < last; ++i) {
      u.modes.push_back(all[i].holding);
      switches += all[i].at_switch();
    }
    for (int giving = 0; giving < (switches ? 2 : 1); ++giving) {
      const MatrixXd J = jacobian(island, giving == 1, impulse.data(), velocity.data());
      count(island, J, threshold, dimensions[giving], u);
    }
    u.num_at_switch += switches;
    u.null_dimension += std::max(dimensions[0][0], dimensions[1][0]);
    u.velocity_dimension += std::max(dimensions[0][1], dimensions[1][1]);
  }
  u.locally_unique = u.null_dimension == 0;
  return u;
}

}  // namespace stiction
