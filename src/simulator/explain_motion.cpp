#include "simulator/explain_motion.hpp"

#include "stiction/math/lanes.hpp"
#include "stiction/solver/solver.hpp"

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace stiction {

namespace {

constexpr int kProximalSteps = 6;
constexpr double kDamping = 1e-6;  ///< of the mean of diag G

/// -mu |impulse| along the motion.
void put_on_edge(const ConstraintSet& set, const double* c, double normal, double* out) {
  const double speed = length(c[0], c[1]);
  for (int r = 0; r < 2; ++r) out[r] = -set.friction.mu[r] * normal * c[r] / speed;
}

/// The law of the normal row gives its impulse.
void add_compliant(const ConstraintSet& set,
                   ContactMode mode,
                   const double* c,
                   double compliance,
                   ImpulseUnknowns& out) {
  const int normal = set.offset + set.dim - 1;
  const double force = std::max(0.0, -c[set.dim - 1] / compliance);
  out.known[normal] = force;
  if (set.dim > 3)
    throw std::invalid_argument("a compliant contact of " + std::to_string(set.dim) +
                                " rows: torsional friction is known of rigid ones here");
  if (set.dim != 3) return;
  if (mode == ContactMode::kSlide)
    put_on_edge(set, c, force, out.known.data() + set.offset);
  else if (set.friction.mu[0] * force > 0.0)
    out.add_square(set.offset, set.friction.mu[0] * force);
}

void add_set(const ContactProblem& problem,
             const ConstraintSet& set,
             ContactMode mode,
             const double* c,
             ImpulseUnknowns& out) {
  const int normal = set.offset + set.dim - 1;
  const bool pushes = set.is_cone() || set.kind == SetKind::kNonNegative;
  if (pushes && problem.compliance[normal] > 0.0)
    return add_compliant(set, mode, c, problem.compliance[normal], out);
  if (mode == ContactMode::kStick) {
    out.add_rows(set.offset, set.dim);
    out.sets.push_back(set);
  } else if (set.kind == SetKind::kBox) {
    out.known[set.offset] = c[0] > 0.0 ? set.lower : set.upper;
  } else {
    double edge[3] = {0.0, 0.0, 1.0};
    put_on_edge(set, c, 1.0, edge);
    for (int r = 0; r < 3; ++r) out.T(set.offset + r, out.columns) = edge[r];
    ++out.columns;
    out.row.push_back(normal);
    out.sets.push_back(ConstraintSet::non_negative());
  }
}

bool inside(const std::vector<ConstraintSet>& sets, const Eigen::VectorXd& x) {
  int at = 0;
  for (const ConstraintSet& set : sets) {
    const double* l = x.data() + at;
    at += set.dim;
    if (set.kind == SetKind::kNonNegative && l[0] < 0.0) return false;
    if (set.kind == SetKind::kBox && !(l[0] >= set.lower && l[0] <= set.upper)) return false;
    if (!set.is_cone()) continue;
    double sum = 0.0;
    for (int r = 0; r < set.dim - 1; ++r) {
      const double mu = set.friction.mu[r];
      if (mu > 0.0)
        sum += l[r] * l[r] / (mu * mu);
      else if (l[r] != 0.0)
        return false;
    }
    if (l[set.dim - 1] < 0.0 || std::sqrt(sum) > l[set.dim - 1]) return false;
  }
  return true;
}

/// argmin over the sets of x^T G x / 2 - x^T b, of those nearly the least: proximal steps.
Eigen::VectorXd least(const Eigen::MatrixXd& G,
                      const Eigen::VectorXd& b,
                      const std::vector<ConstraintSet>& sets,
                      double least_action) {
  const auto n = G.rows();
  const double damping = std::max(kDamping * G.trace() / static_cast<double>(n), least_action);
  const Eigen::MatrixXd H = G + damping * Eigen::MatrixXd::Identity(n, n);
  const Eigen::LLT<Eigen::MatrixXd> factor(H);
  Eigen::VectorXd x = Eigen::VectorXd::Zero(n);
  bool free = factor.info() == Eigen::Success;
  for (int k = 0; k < kProximalSteps && free; ++k) {
    x = factor.solve(b + damping * x);
    free = inside(sets, x);
  }
  if (free) return x;
  SolverSettings settings;
  settings.name = "ccp-admm";
  settings.tolerance = 1e-10;
  SolverWorkspace work;
  ContactSolution solution;
  solution.impulse.assign(n, 0.0);
  x.setZero();
  for (int k = 0; k < kProximalSteps; ++k) {
    solve(ContactProblem::from_dense(H, -b - damping * x, sets), settings, work, solution);
    x = Eigen::Map<const Eigen::VectorXd>(solution.impulse.data(), n);
  }
  return x;
}

ContactMode mode_of(const ConstraintSet& set, const double* c, double tolerance) {
  if (set.kind == SetKind::kFree) return ContactMode::kStick;
  if (set.kind == SetKind::kBox)
    return std::abs(c[0]) > tolerance ? ContactMode::kSlide : ContactMode::kStick;
  if (c[set.dim - 1] > tolerance) return ContactMode::kOpen;
  if (set.dim == 1) return ContactMode::kStick;
  double fastest = 0.0;
  for (int r = 0; r < set.dim - 1; ++r) fastest = std::max(fastest, std::abs(c[r]));
  if (length(c[0], c[1]) <= tolerance && fastest <= tolerance) return ContactMode::kStick;
  if (set.dim != 3)
    throw std::invalid_argument("a contact of " + std::to_string(set.dim) +
                                " rows slides: torsional friction is not known here");
  return ContactMode::kSlide;
}

}  // namespace

void ImpulseUnknowns::add_rows(int first, int count) {
  for (int r = 0; r < count; ++r) {
    T(first + r, columns++) = 1.0;
    row.push_back(first + r);
  }
}
void ImpulseUnknowns::add_square(int first, double bound) {
  add_rows(first, 2);
  for (int k = 0; k < 2; ++k)
    sets.push_back(ConstraintSet::box(-bound / std::sqrt(2.0), bound / std::sqrt(2.0)));
}

ImpulseUnknowns unknowns_of(const ContactProblem& problem,
                            const std::vector<double>& velocity,
                            const std::vector<ContactMode>& modes) {
  const int rows = problem.num_rows();
  ImpulseUnknowns out{Eigen::VectorXd::Zero(rows), Eigen::MatrixXd::Zero(rows, rows), {}, {}};
  for (int i = 0; i < problem.num_sets(); ++i) {
    const ConstraintSet& set = problem.sets[i];
    if (modes[i] != ContactMode::kOpen)
      add_set(problem, set, modes[i], velocity.data() + set.offset, out);
  }
  return out;
}

std::vector<ContactMode> modes_of_motion(const std::vector<ConstraintSet>& sets,
                                         const std::vector<double>& velocity,
                                         double tolerance) {
  std::vector<ContactMode> out;
  for (const ConstraintSet& set : sets)
    out.push_back(mode_of(set, velocity.data() + set.offset, tolerance));
  return out;
}

std::vector<double> explain_motion(const ContactProblem& problem,
                                   const std::vector<double>& velocity,
                                   const std::vector<ContactMode>& modes,
                                   const Eigen::VectorXd& needed,
                                   const Eigen::MatrixXd& to_loose,
                                   const Eigen::MatrixXd& metric) {
  const ImpulseUnknowns unknowns = unknowns_of(problem, velocity, modes);
  Eigen::VectorXd impulse = unknowns.known;
  if (unknowns.columns > 0) {
    const auto T = unknowns.T.leftCols(unknowns.columns);
    const Eigen::MatrixXd A = to_loose * T, weighed = A.transpose() * metric;
    impulse += T * least(weighed * A,
                         weighed * (needed - to_loose * unknowns.known),
                         unknowns.sets,
                         least_action(problem));
  }
  return {impulse.data(), impulse.data() + impulse.size()};
}

double least_action(const ContactProblem& problem) {
  constexpr double kActs = 1e-10;
  double sum = 0.0;
  for (int i = 0; i < problem.num_sets(); ++i) {
    const ConstraintSet& set = problem.sets[i];
    for (int r = 0; r < set.dim; ++r)
      sum += problem.diagonal_entry(i, r) - problem.compliance[set.offset + r];
  }
  return kActs * std::max(sum / std::max(problem.num_rows(), 1), 1e-290);
}

bool all_compliant(const ContactProblem& problem) {
  const std::vector<double>& R = problem.compliance;
  return std::all_of(R.begin(), R.end(), [](double r) { return r > 0.0; });
}

ContactSolution solution_of_compliance(const ContactProblem& problem,
                                       const std::vector<double>& velocity,
                                       ContactProblem& law) {
  const int rows = problem.num_rows();
  const Eigen::VectorXd R = Eigen::Map<const Eigen::VectorXd>(problem.compliance.data(), rows);
  const Eigen::VectorXd g = Eigen::Map<const Eigen::VectorXd>(velocity.data(), rows);
  SolverSettings settings;
  settings.tolerance = 1e-12;
  SolverWorkspace work;
  ContactSolution solution;
  law = ContactProblem::from_dense(R.asDiagonal(), g, problem.sets);
  solve(law, settings, work, solution);
  return solution;
}

double approach(const ContactProblem& problem,
                const std::vector<double>& velocity,
                const std::vector<double>& impulse) {
  double fastest = 0.0;
  for (const ConstraintSet& set : problem.sets) {
    const int normal = set.offset + set.dim - 1;
    if (set.is_normal(set.dim - 1))
      fastest = std::max(fastest, -velocity[normal] - problem.compliance[normal] * impulse[normal]);
  }
  return fastest;
}

}  // namespace stiction
