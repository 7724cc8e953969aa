#include "integrator/keep_recovery_speeds.hpp"

#include "stiction/contact/residuals.hpp"
#include "stiction/math/lanes.hpp"

#include "contact/recovery.hpp"
#include "solver/common/island.hpp"
#include "solver/workspace.hpp"

#include <algorithm>
#include <cmath>

// c* of a row does no harm if the row acts alone (recovery.cpp). Rows that oppose each other
// through a short lever, or closures that disagree, can be obeyed together at a hundred times the
// caps, or not at all. So what they do together is looked at, from rest:
//
//   u = M^-1 J^T lambda,   K 3 lambda perp J u - c* + Gamma in K*,
//
// with the c* of position errors and of gaps alone. But for gaps and dry friction, which only
// hinder, this is homogeneous: s c* gives s u. So s = min(1, cap / the fastest of u) is kept of the
// island's c*; and none, all rows only hold, where there is no u. From rest, since what is
// corrected now moves on in the next step, which would start from there.
//
// It is asked where it may matter: in islands with a c* above kMatters of its cap that are not
// solved, or whose impulses make something go faster than a cap.
//
// To find out that rows cannot be obeyed takes every stage of the solver. Where a bound of the
// energy shows it, since all that can obey them moves kLocked^1/2 times as fast as the caps, they
// are held from the start, with the impulses that show it: what is pressed into a slot stays there.
//
// What is unsolved after all this is solved once more without corrections, however small.

namespace stiction {
namespace {

constexpr double kLocked = 1e4;      ///< of the energy at the caps
constexpr double kForTheStep = 0.5;  ///< of the work that is left, kept for the solution after it
constexpr int kMostRowsAgain = 400;  ///< of an island that is solved without corrections

/// The rows of a set that c* is for.
int first_asked(const ConstraintRow& row) {
  return row.source == RowSource::kContact ? row.set.dim - 1 : 0;
}

/// c* as a share of its cap.
double share_of_cap(const RowContext& context, const ConstraintRow& row) {
  const ContactSettings& s = context.settings;
  const double* c = row.reference;
  if (row.source == RowSource::kContact) return c[row.set.dim - 1] / s.recovery_speed;
  if (row.source == RowSource::kClosure) {
    const double linear = length(c[0], c[1], c[2]) / s.recovery_speed;
    if (row.set.dim < 6) return linear;
    return std::max(linear, length(c[3], c[4], c[5]) / s.recovery_angular_speed);
  }
  const RowSide& side = row.sides[0];
  return std::abs(c[0]) / limit_cap(s, context.scene.trees()[side.tree].joint[side.body]);
}

/// What a contact's own motion sinks it by within some steps is no error to look at.
bool is_drift_of_contact(const ConstraintRow& row) {
  return row.source == RowSource::kContact &&
         row.reference[row.set.dim - 1] <= kDriftOfContact * std::abs(row.curvature.z);
}

bool matters(const RowContext& context, const ConstraintRow& row) {
  if (row.kind == ReferenceKind::kCapped) return true;
  if (is_drift_of_contact(row)) return false;
  return row.kind == ReferenceKind::kRecovery && share_of_cap(context, row) > kMatters;
}

/// Islands of more than one set with an error that matters; none at all if there are none.
void find_islands(const RowContext& context, const ContactProblem& p, RecoveryWorkspace& work) {
  work.islands.assign(p.num_islands(), 0);
  bool any = false;
  for (int k = 0; k < p.num_islands(); ++k) {
    const int first = p.island_start[k], last = p.island_start[k + 1];
    if (last - first < 2) continue;
    for (int i = first; i < last && !work.islands[k]; ++i)
      work.islands[k] = matters(context, context.out.rows[i]);
    any = any || work.islands[k];
  }
  if (!any) work.islands.clear();
}

void find_trees(const RowContext& context, const ContactProblem& p, RecoveryWorkspace& work) {
  work.island_of_tree.assign(context.scene.trees().size(), -1);
  for (int k = 0; k < p.num_islands(); ++k) {
    for (int i = p.island_start[k]; i < p.island_start[k + 1] && work.islands[k]; ++i) {
      const ConstraintRow& row = context.out.rows[i];
      for (int s = 0; s < row.num_sides; ++s) work.island_of_tree[row.sides[s].tree] = k;
    }
  }
}

/// Calls visit(tree, island) for the trees that are looked at.
template <class Visit>
void each_tree(const RecoveryWorkspace& work, Visit&& visit) {
  for (std::size_t t = 0; t < work.island_of_tree.size(); ++t) {
    const int island = work.island_of_tree[t];
    if (island >= 0 && work.islands[island]) visit(static_cast<int>(t), island);
  }
}

/// Kinetic energy [J] of a tree: now, or that of any motion within the caps if it is larger.
double energy_at_caps(const RowContext& context, int t) {
  const Tree& tree = context.scene.trees()[t];
  const Parameters& given = context.parameters;
  const double v = context.settings.recovery_speed, w = context.settings.recovery_angular_speed;
  double twice = 0.0;
  const auto add = [&](double inertia, double square) {
    if (inertia > 0.0) twice += inertia * square;  // caps may be infinite
  };
  for (int b = tree.body_offset; b < tree.body_offset + tree.num_bodies; ++b) {
    const Sym3d& J = given.inertia[b];
    add(given.mass[b], v * v);
    add(J.xx + J.yy + J.zz, w * w);
  }
  for (int k = tree.v_offset; k < tree.v_offset + tree.nv; ++k)
    add(given.armature[k], std::max(v * v, 4.0 * w * w));
  return std::max(0.5 * twice, context.dynamics.trees[t].kinetic_energy);
}

/// u <- M^-1 J^T lambda.
void motion_of(const RowContext& context,
               const std::vector<double>& lambda,
               std::vector<double>& u) {
  u.resize(context.scene.nv());
  velocity_change(
      context.scene, context.dynamics, context.out, nullptr, lambda, context.scratch, u.data());
}

bool is_pushed_fast(const RowContext& context, RecoveryWorkspace& work, int t) {
  const Tree& tree = context.scene.trees()[t];
  work.after.resize(tree.nv);
  work.linear.resize(tree.num_bodies);
  work.angular.resize(tree.num_bodies);
  return is_pushed_fast<double>(placed_tree(context, t),
                                speed_caps(context.settings),
                                {context.state.v.data() + tree.v_offset,
                                 context.dynamics.free_motion.data() + tree.v_offset,
                                 work.pushed.data() + tree.v_offset,
                                 work.after.data(),
                                 work.linear.data(),
                                 work.angular.data()});
}

bool is_solved(const ContactProblem& p,
               int island,
               const SolverSettings& settings,
               const ContactSolution& x) {
  if (x.certified && x.residuals.relative <= settings.tolerance) return true;
  const int first = p.island_start[island], last = p.island_start[island + 1];
  const Residuals r = residuals_at(p, x.impulse.data(), x.velocity.data(), first, last);
  return r.relative <= tolerance_of({p, first, last}, settings) || r.rounding_limited();
}

/// Leaves the islands whose corrections may do harm.
bool keep_suspects(const RowContext& context,
                   const SolverSettings& settings,
                   const ContactProblem& p,
                   RecoveryWorkspace& work,
                   ContactSolution& solution) {
  motion_of(context, solution.impulse, work.pushed);
  work.fast.assign(p.num_islands(), 0);
  each_tree(work, [&](int t, int island) {
    if (!work.fast[island]) work.fast[island] = is_pushed_fast(context, work, t);
  });
  bool any = false;
  for (int k = 0; k < p.num_islands(); ++k) {
    if (!work.islands[k]) continue;
    work.islands[k] = work.fast[k] || !is_solved(p, k, settings, solution);
    any = any || work.islands[k];
  }
  return any;
}

/// g of the problem from rest; islands that are not looked at ask for nothing.
void start_at_rest(const RowContext& context, const RecoveryWorkspace& work, ContactProblem& p) {
  std::fill(p.g.begin(), p.g.end(), 0.0);
  for (int k = 0; k < p.num_islands(); ++k) {
    for (int i = p.island_start[k]; i < p.island_start[k + 1] && work.islands[k]; ++i) {
      const ConstraintRow& row = context.out.rows[i];
      const bool gap = row.kind == ReferenceKind::kSpeculative || row.kind == ReferenceKind::kNone;
      if (!gap && !corrects(row)) continue;
      for (int r = first_asked(row); r < row.set.dim; ++r)
        p.g[p.sets[i].offset + r] = -row.reference[r];
    }
  }
}

/// The share of c* that is kept by island; whether one is cut.
bool find_shares(const RowContext& context,
                 const SolverSettings& given,
                 ContactProblem& p,
                 SolverWorkspace& solver,
                 RecoveryWorkspace& work) {
  SolverSettings settings;
  settings.max_factorisations = given.max_factorisations;
  settings.max_work = given.max_work;
  settings.time_budget = given.time_budget;
  settings.tolerance = 1e-6;
  settings.tolerance_large = given.tolerance_large;
  settings.interrupt = given.interrupt;
  work.g = p.g;
  work.share.assign(p.num_islands(), 1.0);
  start_at_rest(context, work, p);
  work.rest.impulse.assign(p.g.size(), 0.0);
  {
    WorkAccount& account = solver.parts().account;
    const WorkAccount::Share share(account, kForTheStep * account.left());
    solve(p, settings, solver, work.rest);
  }
  motion_of(context, work.rest.impulse, work.pushed);
  bool any = false;
  for (int k = 0; k < p.num_islands(); ++k) {
    if (work.islands[k] && !is_solved(p, k, settings, work.rest)) work.share[k] = 0.0;
  }
  each_tree(work, [&](int t, int island) {
    Speeds most;
    add_speeds(context, t, work.pushed.data() + context.scene.trees()[t].v_offset, most);
    work.share[island] = std::min(work.share[island], harmless_share(context.settings, most));
  });
  for (int k = 0; k < p.num_islands(); ++k) any = any || work.share[k] < 1.0;
  p.g.swap(work.g);
  return any;
}

void cut(const RowContext& context, const RecoveryWorkspace& work, ContactProblem& p) {
  for (int k = 0; k < p.num_islands(); ++k) {
    const double share = work.share[k];
    for (int i = p.island_start[k]; i < p.island_start[k + 1] && share < 1.0; ++i) {
      ConstraintRow& row = context.out.rows[i];
      if (row.kind == ReferenceKind::kRestitution && row.gap_kind != ReferenceKind::kSpeculative) {
        row.gap_kind = ReferenceKind::kCapped;
        row.gap_reference *= share;
      }
      if (!corrects(row)) continue;
      row.kind = ReferenceKind::kCapped;
      for (int r = first_asked(row); r < row.set.dim; ++r) {
        p.g[p.sets[i].offset + r] += (1.0 - share) * row.reference[r];
        row.reference[r] *= share;
      }
      if (row.source == RowSource::kLimitRecovery) row.set.upper = p.sets[i].upper *= share;
    }
  }
}

/// A warm step allocates nothing, though it be the first to look.
void reserve(const RowContext& context, const ContactProblem& p, RecoveryWorkspace& work) {
  const std::size_t trees = context.scene.trees().size(), rows = p.g.capacity();
  work.island_of_tree.reserve(trees);
  work.islands.reserve(trees);
  work.fast.reserve(trees);
  work.share.reserve(trees);
  work.energy.reserve(trees);
  work.opposed.reserve(static_cast<int>(p.sets.capacity() + 5 * context.scene.closures().size()));
  for (std::vector<double>* v : {&work.pushed, &work.after}) v->reserve(context.scene.nv());
  for (std::vector<double>* v : {&work.linear, &work.angular})
    v->reserve(context.scene.num_bodies());
  for (std::vector<double>* v : {&work.g, &work.rest.impulse, &work.rest.velocity})
    v->reserve(rows);
}

}  // namespace

void hold_locked_islands(const RowContext& context,
                         const SolverSettings& settings,
                         ContactProblem& problem,
                         WorkAccount& account,
                         RecoveryWorkspace& work,
                         ContactSolution& solution) {
  work.islands.clear();
  if (settings.name != "ncp-newton") return;
  reserve(context, problem, work);
  find_islands(context, problem, work);
  if (work.islands.empty()) return;
  find_trees(context, problem, work);
  work.share.assign(work.islands.size(), 1.0);
  work.energy.assign(work.islands.size(), 0.0);
  each_tree(work, [&](int t, int island) { work.energy[island] += energy_at_caps(context, t); });
  bool any = false;
  for (int k = 0; k < problem.num_islands(); ++k) {
    if (!work.islands[k]) continue;
    const double least = energy_to_obey(context, problem, k, work.opposed, account);
    if (least <= kLocked * work.energy[k]) continue;
    work.islands[k] = 0;
    work.share[k] = 0.0;
    press(work.opposed, solution.impulse.data());
    any = true;
  }
  if (any) cut(context, work, problem);
}

namespace {

/// What is done about corrections after the first solution.
struct Corrections {
  const RowContext& context;
  const SolverSettings& settings;
  ContactProblem& problem;
  SolverWorkspace& solver;
  RecoveryWorkspace& work;
  ContactSolution& solution;

  /// Scales those that do harm together to the caps.
  void scale() {
    if (!keep_suspects(context, settings, problem, work, solution)) return;
    work.solved_again = true;
    const bool any = find_shares(context, settings, problem, solver, work);
    count(work.rest.factorisations, work.rest.iterations, work.rest.work);
    if (any) solve_with_shares();
  }

  /// What is left unsolved asks for none, and is solved from zero impulse: however small, they ask
  /// for more than can be done where friction all but locks (a finger between two contacts).
  void drop() {
    if (solution.converged() || solver.parts().account.exhausted() ||
        settings.interrupt.requested())
      return;
    work.share.assign(problem.num_islands(), 1.0);
    bool any = false;
    for (int k = 0; k < problem.num_islands(); ++k) {
      const Island island(problem, problem.island_start[k], problem.island_start[k + 1]);
      if (island.rows() > kMostRowsAgain || !asks(island) ||
          is_solved(problem, k, settings, solution))
        continue;
      work.share[k] = 0.0;
      std::fill(
          solution.impulse.begin() + island.begin, solution.impulse.begin() + island.end, 0.0);
      any = true;
    }
    if (!any) return;
    work.solved_again = true;
    solve_with_shares();
  }

  bool asks(const Island& island) const {
    const auto rows = context.out.rows.begin();
    return std::any_of(rows + island.first, rows + island.last, [](const ConstraintRow& row) {
      return corrects(row);
    });
  }

  void count(int factorisations, int iterations, double multiplications) {
    solution.factorisations += factorisations;
    solution.iterations += iterations;
    solution.work += multiplications;
  }

  void solve_with_shares() {
    cut(context, work, problem);
    const int factorisations = solution.factorisations, iterations = solution.iterations;
    const double multiplications = solution.work;
    solve(problem, settings, solver, solution);
    count(factorisations, iterations, multiplications);
  }
};

}  // namespace

void keep_recovery_speeds(const RowContext& context,
                          const SolverSettings& settings,
                          ContactProblem& problem,
                          SolverWorkspace& solver,
                          RecoveryWorkspace& work,
                          ContactSolution& solution) {
  work.solved_again = false;
  if (settings.name != "ncp-newton") return;
  Corrections corrections{context, settings, problem, solver, work, solution};
  if (!work.islands.empty()) corrections.scale();
  corrections.drop();
}

}  // namespace stiction
