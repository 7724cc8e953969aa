#include "stiction/simulator/impact_energy.hpp"

#include <algorithm>
#include <cmath>

// Newton's law asks every contact of an impact for e times its own approach; with friction, or
// several contacts at once, that may be more than there is: kinetic energy grows. Then, and only
// then, e of all contacts of the island is scaled by one factor s <= 1.
//
// The rows do the work W = lambda^T J v_free + lambda^T G lambda / 2 on the free motion; position
// errors may add what they are allowed, sum max(0, lambda . c*). Between the solutions lambda_0 of
// s = 0, which dissipates, and lambda_1 of s = 1, W is nearly the quadratic
//   W(s) = W_0 + (W_1 - W_0 - A) s + A s^2,  A = d^T G d / 2,  d = lambda_1 - lambda_0,
// whose root is where s is looked for first; where modes change in between s falls by a fifth until
// nothing is gained. What is returned is the solution of the same complementarity problem at s e,
// not an interpolation: the certificate judges that.

namespace stiction {
namespace {

constexpr double kRounding = 1e-10;  ///< of lambda^T G lambda, in W
constexpr double kLess = 0.8;        ///< of s, where energy is still gained

bool is_impact(const ConstraintRow& row) { return row.kind == ReferenceKind::kRestitution; }

/// Calls visit(set) for the sets of an island.
template <class Visit>
void each_set(const ContactProblem& p, int island, Visit&& visit) {
  for (int i = p.island_start[island]; i < p.island_start[island + 1]; ++i) visit(i);
}

/// W less what it may be; above zero: energy is gained.
double gain_of(const ConstraintRows& rows,
               const ContactProblem& p,
               const ContactSolution& x,
               int island) {
  double work = 0.0, square = 0.0, allowed = 0.0;
  each_set(p, island, [&](int i) {
    const ConstraintRow& row = rows.rows[i];
    double reference = 0.0;
    for (int r = 0; r < p.sets[i].dim; ++r) {
      const int k = p.sets[i].offset + r;
      const double l = x.impulse[k], pushed = x.velocity[k] - p.g[k] - p.compliance[k] * l;
      work += l * (p.g[k] + row.reference[r] + 0.5 * pushed);
      square += l * pushed;
      reference += l * row.reference[r];
    }
    if (!is_impact(row)) allowed += std::max(0.0, reference);
  });
  return work - allowed - kRounding * square;
}

void find_gaining_islands(const ConstraintRows& rows,
                          const ContactProblem& p,
                          const ContactSolution& solution,
                          ImpactWorkspace& work) {
  work.gaining.clear();
  for (int island = 0; island < p.num_islands(); ++island) {
    bool impact = false;
    each_set(p, island, [&](int i) { impact = impact || is_impact(rows.rows[i]); });
    if (!impact) continue;
    const double gain = gain_of(rows, p, solution, island);
    if (gain > 0.0) work.gaining.push_back({island, gain, 0.0});
  }
}

/// c* of the impacts <- share of what Newton's law asks.
void ask(const ImpactWorkspace& work, ConstraintRows& rows, ContactProblem& p) {
  for (const ImpactWorkspace::Gaining& g : work.gaining) {
    each_set(p, g.island, [&](int i) {
      ConstraintRow& row = rows.rows[i];
      if (!is_impact(row)) return;
      const double asked = g.share * work.asked[i];
      p.g[p.sets[i].offset + 2] += row.reference[2] - asked;
      row.reference[2] = asked;
    });
  }
}

/// A, where `none` is the solution of s = 0.
double curvature(const ConstraintRows& rows,
                 const ContactProblem& p,
                 const ContactSolution& none,
                 const ImpactWorkspace& work,
                 int island) {
  double A = 0.0;
  each_set(p, island, [&](int i) {
    for (int r = 0; r < p.sets[i].dim; ++r) {
      const int k = p.sets[i].offset + r;
      const double d = work.newton.impulse[k] - none.impulse[k];
      const double asked = r == 2 && is_impact(rows.rows[i]) ? work.asked[i] : 0.0;
      const double c = work.newton.velocity[k] + asked - none.velocity[k];
      A += 0.5 * d * (c - p.compliance[k] * d);
    }
  });
  return A;
}

/// The root of W in (0, 1), from W(0) = `none` < 0 and W(1) = `all` > 0; 0 if there is none.
double root(double none, double all, double A) {
  if (!(none < 0.0)) return 0.0;
  const double b = all - none - A;
  const double s = -2.0 * none / (b + std::sqrt(b * b - 4.0 * A * none));
  return std::isfinite(s) ? std::clamp(s, 0.0, 1.0) : 0.0;
}

}  // namespace

void keep_impact_energy(const SolverSettings& settings,
                        ConstraintRows& rows,
                        ContactProblem& problem,
                        SolverWorkspace& solver,
                        ImpactWorkspace& work,
                        ContactSolution& solution) {
  if (std::none_of(rows.rows.begin(), rows.rows.end(), is_impact)) return;
  find_gaining_islands(rows, problem, solution, work);
  if (work.gaining.empty()) return;
  work.asked.resize(rows.rows.size());
  for (std::size_t i = 0; i < rows.rows.size(); ++i) work.asked[i] = rows.rows[i].reference[2];
  work.newton = solution;
  int factorisations = solution.factorisations;
  const auto solve_again = [&] {
    ask(work, rows, problem);
    solve(problem, settings, solver, solution);
    factorisations += solution.factorisations;
  };
  solve_again();
  for (ImpactWorkspace::Gaining& g : work.gaining) {
    g.share = root(gain_of(rows, problem, solution, g.island),
                   g.gain,
                   curvature(rows, problem, solution, work, g.island));
  }
  bool kept = false;
  for (int round = 2; round <= kImpactSolves && !kept; ++round) {
    solve_again();
    kept = true;
    for (ImpactWorkspace::Gaining& g : work.gaining) {
      if (g.share == 0.0 || gain_of(rows, problem, solution, g.island) <= 0.0) continue;
      g.share = round + 1 < kImpactSolves ? kLess * g.share : 0.0;
      kept = false;
    }
  }
  solution.factorisations = factorisations;
}

}  // namespace stiction
