#include "integrator/implicit_euler.hpp"

#include "dynamics/mass_matrix.hpp"
#include "integrator/implicit_step.hpp"
#include "integrator/step_coordinates.hpp"
#include "math/solve_linear.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {
using namespace compliance;

void ImplicitScratch::resize(const Scene& scene) {
  const std::size_t n = scene.trees().size();
  dual.resize(n);
  for (std::size_t t = 0; t < n; ++t) dual[t].resize(scene.trees()[t]);
  for (auto* x : {&trial, &step, &residual, &whitened}) x->assign(scene.nv(), 0.0);
  for (auto* x : {&merit, &trial_merit, &length, &size, &drive}) x->assign(n, 0.0);
  progress.assign(n, Progress::kOpen);
  frictionless.assign(n, 0);
  islands.reset(n);
  place.assign(scene.nv(), -1);
}

namespace {

using Progress = ImplicitScratch::Progress;
constexpr int kHalvings = 30;
constexpr double kArmijo = 1e-4;

/// Newton's method on one sub-step.
class Newton {
 public:
  Newton(const CompliantInput& input, State& state, CompliantWorkspace& work)
      : input_(input), scene_(input.scene), state_(state), work_(work), s_(*work.implicit) {}

  /// False if an island has not converged; the state is then as it was.
  bool run();
  /// After run(): it was not for want of an iteration that it failed.
  bool is_unpaid() const { return unpaid_; }
  /// After run(): takes the friction of islands that have not converged and gain energy by it.
  /// False: of none.
  bool take_friction();

 private:
  template <class Visit>
  void each_tree_of(int island, Visit&& visit) {
    for (int t = 0; t < num_trees(); ++t) {
      if (s_.islands.find(t) == island) visit(t);
    }
  }
  template <class Visit>
  void each_island(Visit&& visit) {
    for (int t = 0; t < num_trees(); ++t) {
      if (s_.islands.find(t) == t) visit(t);
    }
  }
  bool is_open(int island) const { return s_.progress[island] == Progress::kOpen; }
  double sum_over(int island, const std::vector<double>& x) {
    double sum = 0.0;
    each_tree_of(island, [&](int t) { sum += x[t]; });
    return sum;
  }
  int num_trees() const { return static_cast<int>(scene_.trees().size()); }

  void begin();
  void join(const CompliantSystem& system);
  void evaluate(const std::vector<double>& nu, std::vector<double>& merit);
  double mass_norm(int tree, const double* x);
  bool pays_step(int dofs);
  bool find_step(int island);
  bool small(int island);
  void search();

  const CompliantInput& input_;
  const Scene& scene_;
  State& state_;
  CompliantWorkspace& work_;
  ImplicitScratch& s_;
  bool failed_ = false, unpaid_ = false;
};

/// Trees that a point couples belong to one island, from then on.
void Newton::join(const CompliantSystem& system) {
  for (const Contact& c : system.contacts) {
    if (c.body_a < 0 || c.body_b < 0) continue;
    s_.islands.join(scene_.tree_of_body(c.body_a), scene_.tree_of_body(c.body_b));
  }
}

void Newton::begin() {
  CompliantSystem& start = work_.start;
  start.here.queries.swap(state_.queries);
  locate(input_, state_.q.data(), state_.v.data(), state_.contacts, nullptr, input_.h, start);
  const int rows = 3 * static_cast<int>(start.points.size());
  if (work_.account().is_open()) work_.account().allow(rows, 0.0);
  hold_rigid_rows(input_, state_, work_);
  accelerate(input_, false, input_.h, start);
  for (int t = 0; t < num_trees(); ++t) {
    const Tree& tree = scene_.trees()[t];
    double sum = 0.0;  // a^T M a of the motion without contacts
    for (int k = 0; k < tree.nv; ++k) {
      const double w = start.dynamics.free_motion[tree.v_offset + k];
      sum += w * w * start.dynamics.trees[t].D_inverse[k];
    }
    s_.drive[t] = input_.h * input_.h * sum;
  }
  work_.end.here.queries = start.here.queries;
  work_.memory.clear();
  for (const CompliantPoint& p : start.points) {
    const Contact& c = start.contacts[p.contact];
    work_.memory.push_back(memory_of(c, settled_anchor(scene_, start, p)));
  }
  s_.islands.reset(num_trees());
  std::fill(s_.progress.begin(), s_.progress.end(), Progress::kOpen);
  failed_ = false;
  join(start);
  work_.nu.assign(state_.v.data(), state_.v.data() + scene_.nv());
}

/// r at nu, and r^T M^-1 r by tree, M^ of the start.
void Newton::evaluate(const std::vector<double>& nu, std::vector<double>& merit) {
  CompliantSystem& end = work_.end;
  for (int k = 0; k < scene_.nv(); ++k) work_.xi[k] = input_.h * nu[k];
  displace(scene_, state_.q.data(), work_.xi.data(), work_.q.data());
  turn_axes(scene_, state_.q.data(), work_.q.data(), nu.data(), work_.v.data());
  locate(input_, work_.q.data(), work_.v.data(), work_.memory, &work_.start, 0.0, end);
  work_.account().charge(evaluation_work(scene_, end));
  turn_held(scene_, work_.start, end);
  join(end);
  settle_end(input_, work_.start, end, s_.derivatives, &s_.frictionless);
  end_residual({input_, state_, nu.data()}, end, s_.joint_acceleration, s_.residual.data());
  for (int t = 0; t < num_trees(); ++t) {
    const Tree& tree = scene_.trees()[t];
    double* w = s_.whitened.data() + tree.v_offset;
    std::copy(
        s_.residual.begin() + tree.v_offset, s_.residual.begin() + tree.v_offset + tree.nv, w);
    solve_transposed(work_.start.dynamics.views[t], work_.start.dynamics.trees[t], w);
    double sum = 0.0;
    for (int k = 0; k < tree.nv; ++k)
      sum += w[k] * w[k] * work_.start.dynamics.trees[t].D_inverse[k];
    merit[t] = sum;
  }
}

/// x^T M^ x of one tree.
double Newton::mass_norm(int t, const double* x) {
  const TreeView& view = work_.start.dynamics.views[t];
  const TreeData<double>& data = work_.start.dynamics.trees[t];
  double total = 0.0;
  for (int k = 0; k < view.nv; ++k) {
    double sum = x[k];
    for (int m = 0; m < view.depth[k]; ++m)
      sum += data.L[view.row[k] + m] * x[view.chain[view.row[k] + m]];
    total += sum * sum / data.D_inverse[k];
  }
  return total;
}

/// Columns with dual numbers, and the factorisation.
bool Newton::pays_step(int dofs) {
  constexpr double kPerDof = 3e3, kPerPoint = 3e4;
  const double n = dofs, points = static_cast<double>(work_.end.points.size());
  return work_.account().take(n * n * (n / 3.0 + 1.0) + kPerDof * n + kPerPoint * points);
}

/// step <- -J^-1 r over the dofs of an island.
bool Newton::find_step(int island) {
  s_.dofs.clear();
  each_tree_of(island, [&](int t) {
    const Tree& tree = scene_.trees()[t];
    for (int k = 0; k < tree.nv; ++k) {
      s_.place[tree.v_offset + k] = static_cast<int>(s_.dofs.size());
      s_.dofs.push_back(tree.v_offset + k);
    }
  });
  const int n = static_cast<int>(s_.dofs.size());
  unpaid_ = !pays_step(n);
  if (unpaid_) return false;
  s_.matrix.assign(static_cast<std::size_t>(n) * n, 0.0);
  s_.ends.assign(n, n);
  s_.right.resize(n);
  for (int i = 0; i < n; ++i) s_.right[i] = -s_.residual[s_.dofs[i]];
  each_tree_of(island, [&](int t) {
    end_columns({input_, state_, work_.nu.data()},
                work_.end,
                s_.derivatives,
                t,
                s_.dual[t],
                {s_.place, n, s_.matrix.data()});
  });
  ++work_.outcome.factorisations;
  if (!solve_linear(s_.matrix.data(), n, n, s_.ends.data(), s_.right.data())) return false;
  for (int i = 0; i < n; ++i) s_.step[s_.dofs[i]] = s_.right[i];
  each_tree_of(island, [&](int t) {
    s_.size[t] = mass_norm(t, s_.step.data() + scene_.trees()[t].v_offset);
  });
  return true;
}

/// |step|_M <= tolerance (|nu|_M + |nu - v|_M + h |a|_M), a without contacts: at rest under gravity
/// the first two are rounding.
bool Newton::small(int island) {
  double speed = 0.0, change = 0.0;
  const double drive = sum_over(island, s_.drive);
  each_tree_of(island, [&](int t) {
    const int first = scene_.trees()[t].v_offset, n = scene_.trees()[t].nv;
    speed += mass_norm(t, work_.nu.data() + first);
    for (int k = first; k < first + n; ++k) s_.whitened[k] = work_.nu[k] - state_.v[k];
    change += mass_norm(t, s_.whitened.data() + first);
  });
  return std::sqrt(sum_over(island, s_.size)) <=
         input_.settings.newton_tolerance *
             (std::sqrt(speed) + std::sqrt(change) + std::sqrt(drive));
}

/// nu += length step, each island's length halved until its merit has fallen enough.
void Newton::search() {
  for (int t = 0; t < num_trees(); ++t) s_.length[t] = is_open(s_.islands.find(t)) ? 1.0 : 0.0;
  for (int halving = 0;; ++halving) {
    for (int t = 0; t < num_trees(); ++t) {
      const int first = scene_.trees()[t].v_offset, n = scene_.trees()[t].nv;
      for (int k = first; k < first + n; ++k) s_.trial[k] = work_.nu[k] + s_.length[t] * s_.step[k];
    }
    evaluate(s_.trial, s_.trial_merit);
    bool again = false;
    each_island([&](int island) {
      if (!is_open(island) || s_.length[island] == 0.0) return;
      const double limit = (1.0 - 2.0 * kArmijo * s_.length[island]) * sum_over(island, s_.merit);
      if (sum_over(island, s_.trial_merit) <= limit) return;
      const double next = halving < kHalvings ? 0.5 * s_.length[island] : 0.0;
      if (next == 0.0) {  // stuck: leave the island where it is
        s_.progress[island] = Progress::kStuck;
        failed_ = true;
      }
      each_tree_of(island, [&](int t) { s_.length[t] = next; });
      again = true;
    });
    if (!again || work_.account().exhausted()) break;
  }
  work_.nu = s_.trial;
  s_.merit = s_.trial_merit;
}

bool Newton::run() {
  begin();
  evaluate(work_.nu, s_.merit);
  int iterations = 0;
  bool open = true;
  for (; open && iterations < input_.settings.newton_iterations; ++iterations) {
    if (input_.solver.interrupt.requested() || work_.account().exhausted()) break;
    open = false;
    std::fill(s_.step.begin(), s_.step.end(), 0.0);
    each_island([&](int island) {
      if (!is_open(island)) return;
      if (unpaid_ || !find_step(island)) {
        s_.progress[island] = Progress::kStuck;
        failed_ = true;
        return;
      }
      if (!small(island)) {
        open = true;
        return;
      }
      s_.progress[island] = Progress::kConverged;  // its last step is taken as it is
      each_tree_of(island, [&](int t) {
        const int first = scene_.trees()[t].v_offset;
        for (int k = first; k < first + scene_.trees()[t].nv; ++k) {
          work_.nu[k] += s_.step[k];
          s_.step[k] = 0.0;
        }
      });
    });
    if (open) search();
  }
  work_.outcome.iterations = std::max(work_.outcome.iterations, iterations);
  unpaid_ = unpaid_ || ((open || failed_) && work_.account().exhausted());
  if (unpaid_) return false;
  evaluate(work_.nu, s_.merit);
  return !open && !failed_;
}

/// The residual is a force that nothing exerts; h r^T v+ is its work. Springs and dampers by
/// implicit Euler gain nothing, so that without such work an iterate is safe.
bool Newton::take_friction() {
  bool any = false;
  each_island([&](int island) {
    if (s_.progress[island] == Progress::kConverged) return;
    double power = 0.0;
    each_tree_of(island, [&](int t) {
      const int first = scene_.trees()[t].v_offset, n = scene_.trees()[t].nv;
      for (int k = first; k < first + n; ++k) power += s_.residual[k] * work_.v[k];
    });
    if (power <= 0.0) return;
    any = true;
    each_tree_of(island, [&](int t) { s_.frictionless[t] = 1; });
  });
  return any;
}

/// Forces and extensions of the end become those of the step. A point that slides at the end has
/// gone on from its extension at the start by backward Euler.
void finish(const CompliantInput& input, State& state, CompliantWorkspace& work) {
  CompliantSystem& end = work.end;
  for (int k = 0; k < input.scene.nv(); ++k) work.xi[k] = input.h * work.nu[k];
  state.queries.swap(end.here.queries);
  conclude(input, PositionRule::kEndVelocity, work, state);
  for (const CompliantPoint& p : end.points) {
    Anchor anchor = settled_anchor(input.scene, end, p);
    if (end.law == CompliantLaw::kContinuous && p.force.mode == ContactMode::kSlide) {
      const ContactMemory* kept = find_memory(work.memory, end.contacts[p.contact]);
      const auto before = [&](Vec3d ContactMemory::* of) {
        return kept == nullptr ? Vec3d{0, 0, 0} : to_contact(input.scene, end, p, kept->*of);
      };
      const auto anchored = [&](const Vec3d& x) { return to_anchor_axes(input.scene, end, p, x); };
      anchor.extension = anchored(relaxed_extension(
          p.compliance, before(&ContactMemory::extension), p.force.force, input.h));
      if (p.compliance.has_couples())
        anchor.turn = anchored(relaxed_turn(p.compliance,
                                            resisted(p.compliance, before(&ContactMemory::turn)),
                                            p.force.couple,
                                            input.h));
    }
    remember_point(input, end, p, p.force * input.h, anchor, work, state);
  }
}

/// One step of input.h, or, where Newton fails, two of half of it, and so on. Where it fails in the
/// least of them too and the iterate gains energy, that part is taken without friction: the bound
/// mu f_N, which couples of large units make steep, is what keeps r from being monotone. Where that
/// does not converge either, which was not met, its iterate is taken.
///
/// Where the work of the step does not last, what is left of it is unpaid.
void advance(const CompliantInput& input, int halvings, State& state, CompliantWorkspace& work) {
  if (work.unpaid > 0.0) {
    work.unpaid += input.h;
    return;
  }
  Newton newton(input, state, work);
  if (newton.run()) return finish(input, state, work);
  const auto leave = [&] {
    state.queries.swap(work.start.here.queries);
    work.unpaid = input.h;
  };
  if (newton.is_unpaid()) return leave();
  if (halvings == 0 || input.solver.interrupt.requested()) {
    work.outcome.converged = false;
    if (halvings == 0 && newton.take_friction()) {
      state.queries.swap(work.start.here.queries);
      newton.run();
      std::fill(work.implicit->frictionless.begin(), work.implicit->frictionless.end(), 0);
      if (newton.is_unpaid()) return leave();
    }
    return finish(input, state, work);
  }
  state.queries.swap(work.start.here.queries);
  CompliantInput half = input;
  half.h = 0.5 * input.h;
  advance(half, halvings - 1, state, work);
  advance(half, halvings - 1, state, work);
}

}  // namespace

static void make_scratch(const Scene& scene, CompliantWorkspace& work) {
  if (work.implicit) return;
  work.implicit = std::make_shared<ImplicitScratch>();
  work.implicit->resize(scene);
}

bool solve_implicit_step(const CompliantInput& input, State& state, CompliantWorkspace& work) {
  make_scratch(input.scene, work);
  return Newton(input, state, work).run();
}

void implicit_euler(const CompliantInput& input, State& state, CompliantWorkspace& work) {
  make_scratch(input.scene, work);
  const int halvings = input.settings.newton_halvings;  // a tree of parts, so deep; leaves twice
  work.outcome.most_factorisations += static_cast<std::int64_t>(input.scene.trees().size()) *
                                      input.settings.newton_iterations * ((3LL << halvings) - 1);
  advance(input, halvings, state, work);
}

}  // namespace stiction
