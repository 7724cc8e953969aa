#include "simulator/impulses_tangent.hpp"

#include "stiction/derivatives/solution_derivatives.hpp"
#include "stiction/math/lanes.hpp"
#include "stiction/solver/solver.hpp"

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace stiction {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Of the largest eigenvalue of G: what is less is zero, to the rounding that six proximal steps of
/// 1e-6 leave.
constexpr double kRank = 1e-9;
/// How far from the free minimum, and from the least of them, a force is that no bound holds.
constexpr double kFree = 1e-6;

/// A set whose normal row has the impulse of its law.
bool follows_law(const ContactProblem& problem, const ConstraintSet& set) {
  return (set.is_cone() || set.kind == SetKind::kNonNegative) &&
         problem.compliance[set.offset + set.dim - 1] > 0.0;
}

/// How impulses on the edge of their cone turn with the motion, and those of laws grow: x held.
class Edges {
 public:
  Edges(const ContactProblem& problem,
        const std::vector<double>& velocity,
        const std::vector<ContactMode>& modes,
        const MatrixXd& dc)
      : problem_(problem), velocity_(velocity), modes_(modes), dc_(dc) {}

  /// d known + dT x [rows x directions].
  MatrixXd tangent(const double* impulse) const {
    MatrixXd out = MatrixXd::Zero(dc_.rows(), dc_.cols());
    each([&](const ConstraintSet& set, bool law, bool slides) {
      const int normal = set.offset + set.dim - 1;
      const bool pressed = law && velocity_[normal] < 0.0;
      if (pressed) out.row(normal) = -dc_.row(normal) / problem_.compliance[normal];
      if (!slides) return;
      const MatrixXd turn = direction_change(set);
      const Eigen::Vector2d along = direction(set);
      for (int r = 0; r < 2; ++r)
        out.row(set.offset + r) =
            -set.friction.mu[r] * (impulse[normal] * turn.row(r) + along[r] * out.row(normal));
    });
    return out;
  }

  /// Laws that just begin to push, to `zero` [N s].
  int num_kinks(double zero) const {
    int count = 0;
    each([&](const ConstraintSet& set, bool law, bool) {
      const int normal = set.offset + set.dim - 1;
      count += law && std::abs(velocity_[normal]) <= zero * problem_.compliance[normal];
    });
    return count;
  }

  /// dT^T m [columns x directions], by the row that each column of x is alone in.
  MatrixXd cotangent(const std::vector<int>& row, const VectorXd& m) const {
    MatrixXd out = MatrixXd::Zero(static_cast<Eigen::Index>(row.size()), dc_.cols());
    each([&](const ConstraintSet& set, bool law, bool slides) {
      if (law || !slides) return;
      const auto column = std::find(row.begin(), row.end(), set.offset + 2) - row.begin();
      const MatrixXd turn = direction_change(set);
      for (int r = 0; r < 2; ++r)
        out.row(column) -= set.friction.mu[r] * m[set.offset + r] * turn.row(r);
    });
    return out;
  }

 private:
  template <class Visit>
  void each(Visit&& visit) const {
    for (int i = 0; i < problem_.num_sets(); ++i) {
      const ConstraintSet& set = problem_.sets[i];
      const bool law = follows_law(problem_, set);
      const bool slides = set.is_cone() && modes_[i] == ContactMode::kSlide;
      if (modes_[i] != ContactMode::kOpen && (law || slides)) visit(set, law, slides);
    }
  }
  Eigen::Vector2d direction(const ConstraintSet& set) const {
    const double* c = velocity_.data() + set.offset;
    return Eigen::Vector2d(c[0], c[1]) / length(c[0], c[1]);
  }
  /// [2 x directions]
  MatrixXd direction_change(const ConstraintSet& set) const {
    const double* c = velocity_.data() + set.offset;
    const Eigen::Vector2d e = direction(set);
    return (Eigen::Matrix2d::Identity() - e * e.transpose()) * dc_.middleRows<2>(set.offset) /
           length(c[0], c[1]);
  }

  const ContactProblem& problem_;
  const std::vector<double>& velocity_;
  const std::vector<ContactMode>& modes_;
  const MatrixXd& dc_;
};

/// G^+ and what it leaves out.
class Inverse {
 public:
  Inverse(const MatrixXd& G, double least_action) : eigen_(G) {
    const VectorXd& values = eigen_.eigenvalues();
    const double least = std::max(kRank * values[values.size() - 1], least_action);
    inverse_ = (values.array() > least).select(values.array().inverse(), 0.0);
    for (const double value : values) {
      if (value > least) smallest_ = std::min(smallest_, value / values.mean());
    }
  }
  MatrixXd times(const MatrixXd& x) const {
    return V() * (inverse_.asDiagonal() * (V().transpose() * x));
  }
  MatrixXd rest(const MatrixXd& x) const {
    const VectorXd left = (inverse_.array() == 0.0).cast<double>();
    return V() * (left.asDiagonal() * (V().transpose() * x));
  }
  /// Of the unit vectors of some columns in the range of G.
  double share(int first, int count) const {
    const auto rows = V().middleRows(first, count);
    return (rows * (inverse_.array() > 0.0).cast<double>().matrix().asDiagonal())
        .rowwise()
        .squaredNorm()
        .maxCoeff();
  }
  double smallest() const { return smallest_; }

 private:
  const MatrixXd& V() const { return eigen_.eigenvectors(); }
  Eigen::SelfAdjointEigenSolver<MatrixXd> eigen_;
  VectorXd inverse_;
  double smallest_ = 1.0;
};

/// Sets whose part of x is at the border of what it may be, to rounding.
int at_bounds(const std::vector<ConstraintSet>& sets,
              const VectorXd& x,
              double zero,
              const Inverse& G) {
  int count = 0, at = 0;
  for (const ConstraintSet& set : sets) {
    const double* l = x.data() + at;
    const bool acts = G.share(at, set.dim) > kRank;  // else it stays where it is
    at += set.dim;
    if (!acts) continue;
    if (set.kind == SetKind::kNonNegative) {
      count += l[0] <= zero;
    } else if (set.kind == SetKind::kBox) {
      count += std::min(l[0] - set.lower, set.upper - l[0]) <= zero;
    } else if (set.is_cone()) {
      double sum = 0.0;
      for (int r = 0; r < set.dim - 1; ++r) {
        const double mu = set.friction.mu[r], share = mu > 0.0 ? l[r] / mu : 0.0;
        sum += share * share;
      }
      count += l[set.dim - 1] - std::sqrt(sum) <= zero;
    }
  }
  return count;
}

[[noreturn]] void refuse_bounds() {
  throw std::invalid_argument(
      "derivatives of inverse dynamics: a force that sticks is held back by the bound of what it "
      "may "
      "be (of a cone, a limit or dry friction), and with it the motion or the least of forces: "
      "there "
      "are none");
}

}  // namespace

ImpulsesTangent impulses_tangent(const ImpulsesTangentInput& in) {
  const Edges edges(in.problem, in.velocity, in.modes, in.dc);
  const ImpulseUnknowns unknowns = unknowns_of(in.problem, in.velocity, in.modes);
  ImpulsesTangent out{edges.tangent(in.impulse.data())};
  if (unknowns.columns == 0) return out;
  VectorXd x(unknowns.columns);
  for (int k = 0; k < unknowns.columns; ++k) x[k] = in.impulse[unknowns.row[k]];
  const MatrixXd T = unknowns.T.leftCols(unknowns.columns);
  const MatrixXd A = in.to_loose * T, weighed = A.transpose() * in.metric;
  const VectorXd r = in.needed - in.to_loose * unknowns.known - A * x;
  const Inverse G(weighed * A, least_action(in.problem));
  const double most = kFree * std::max(x.cwiseAbs().maxCoeff(), in.scale);
  if (G.times(weighed * r).cwiseAbs().maxCoeff() > most || G.rest(x).cwiseAbs().maxCoeff() > most)
    refuse_bounds();
  out.num_at_bounds = at_bounds(unknowns.sets, x, most, G) + edges.num_kinks(most);
  out.smallest = G.smallest();
  const auto turned = [&](const VectorXd& y) {  // dA^T y
    return MatrixXd(edges.cotangent(unknowns.row, in.to_loose.transpose() * y) +
                    T.transpose() * in.turned(y));
  };
  const MatrixXd side = weighed * (in.change - in.to_loose * out.by) + turned(in.metric * r) +
                        A.transpose() * in.metric_change(r);
  out.by += T * (G.times(side) + G.rest(turned(in.metric * (A * G.times(x)))));
  return out;
}

ImpulsesTangent compliant_impulses_tangent(const ContactProblem& problem,
                                           const std::vector<double>& velocity,
                                           const MatrixXd& dc) {
  ContactProblem law;
  const ContactSolution solution = solution_of_compliance(problem, velocity, law);
  const SolutionDerivatives d = solution_derivatives(law, solution);
  return {d.by_g * dc, d.num_at_switch};
}

}  // namespace stiction
