#include "stiction/solver/central_path.hpp"

#include "benchmarks/collision_peers/clock.hpp"
#include "inside.hpp"
#include "solver/common/safe_answer.hpp"
#include "solver_settings.hpp"

namespace stiction::python {
namespace {

bp::dict registry() {
  bp::dict out;
  for (const SolverEntry& e : solvers())
    out[e.name] = std::string(to_string(e.model)) + ": " + e.description;
  return out;
}

std::string settings_repr(const SolverSettings& s) {
  return "SolverSettings(name=\"" + s.name + "\", tolerance=" + number(s.tolerance) +
         ", max_iterations=" + std::to_string(s.max_iterations) + ")";
}

/// What a solve in a thread of its own may read: G of loose bodies is assembled in the problem.
class Private {
 public:
  explicit Private(const ContactProblem& problem) : problem_(problem) {
    if (problem.space.known()) own_ = problem;
  }
  const ContactProblem& problem() const { return problem_.space.known() ? own_ : problem_; }

 private:
  const ContactProblem& problem_;
  ContactProblem own_;
};

ContactSolution solve_problem(const ContactProblem& given,
                              const SolverSettings& settings,
                              const bp::object& warm_start,
                              double penalty) {
  settings.validate();
  const Private copy(given);
  const ContactProblem& problem = copy.problem();
  ContactSolution solution;
  solution.penalty = penalty;
  solution.record_stages = true;
  if (!warm_start.is_none()) {
    const Eigen::VectorXd l = vector_from(warm_start, "warm_start", problem.num_rows());
    if (!l.allFinite()) throw std::invalid_argument("warm_start has an entry that is not finite");
    solution.impulse.assign(l.data(), l.data() + l.size());
  }
  SignalPoll signals;
  signals.begin();
  SolverSettings own = settings;
  own.interrupt = signals.interrupt();
  {
    SolverWorkspace work;
    AllowThreads free;
    solve(problem, own, work, solution);
  }
  signals.end();
  return solution;
}

ContactSolution solve_energy(const ContactProblem& problem, double energy, double tolerance) {
  SolverSettings settings;
  settings.tolerance = tolerance;
  settings.validate();
  ContactSolution solution;
  SolverWorkspace work;
  solve_on_path(problem, energy, settings, work, solution);
  return solution;
}

/// What a step would take of a solution that leaves rows unsolved, and of how many islands it is
/// the safe answer.
bp::tuple safe_solution(const ContactProblem& problem,
                        const ContactSolution& found,
                        const bp::object& references,
                        const bp::object& recovery) {
  const auto numbers = [&](const bp::object& x, const char* name) {
    const Eigen::VectorXd v = vector_from(x, name, problem.num_rows());
    return std::vector<double>(v.data(), v.data() + v.size());
  };
  const std::vector<double> all = numbers(references, "references");
  const std::vector<double> some = numbers(recovery, "recovery");
  ContactSolution solution = found;
  SolverWorkspace work;
  const int replaced = make_safe(problem, {all, some}, SolverSettings{}, work, solution).islands;
  return bp::make_tuple(solution, replaced);
}

/// Nanoseconds of `repeats` solves, each from the same start in a warm workspace.
bp::object time_problem(const ContactProblem& given,
                        const SolverSettings& settings,
                        const bp::object& warm_start,
                        double penalty,
                        int repeats) {
  if (repeats < 1)
    throw std::invalid_argument("repeats = " + std::to_string(repeats) + ": must be >= 1");
  static const double rate = bench::measure_tick_rate();
  const Private copy(given);
  const ContactProblem& problem = copy.problem();
  ContactSolution solution = solve_problem(problem, settings, warm_start, penalty);  // checks, too
  std::vector<double> start(problem.g.size(), 0.0), nanoseconds(repeats);
  if (!warm_start.is_none()) {
    const Eigen::VectorXd l = vector_from(warm_start, "warm_start", problem.num_rows());
    start.assign(l.data(), l.data() + l.size());
  }
  SignalPoll signals;
  signals.begin();
  {
    AllowThreads free;
    SolverWorkspace work;
    for (int k = -1; k < repeats && !signals.interrupt().requested(); ++k) {
      solution.impulse = start;
      solution.penalty = penalty;
      const std::uint64_t begin = bench::start_ticks();
      solve(problem, settings, work, solution);
      const double elapsed = double(bench::stop_ticks() - begin) / rate;
      if (k >= 0) nanoseconds[k] = elapsed;
    }
  }
  signals.end();
  return to_array(nanoseconds);
}

bp::object impulse(const ContactSolution& s) { return to_array(s.impulse); }
bp::object velocity(const ContactSolution& s) { return to_array(s.velocity); }
Residuals residuals_copy(const ContactSolution& s) { return s.residuals; }
Residuals model_residuals_copy(const ContactSolution& s) { return s.model_residuals; }
std::string model(const ContactSolution& s) { return to_string(s.model); }
bp::object regularisation(const ContactSolution& s) {
  return s.regularisation.empty() ? bp::object() : bp::object(to_array(s.regularisation));
}
bp::list stages(const ContactSolution& s) {
  bp::list out;
  for (const StageRecord& r : s.stages) {
    bp::dict record;
    record["stage"] = r.stage;
    record["island"] = r.island;
    record["factorisations"] = r.factorisations;
    record["relative"] = r.relative;
    record["ends"] = r.ends;
    out.append(record);
  }
  return out;
}
std::string status(const ContactSolution& s) { return to_string(s.status); }
std::string repr(const ContactSolution& s) {
  return "ContactSolution(status=\"" + status(s) +
         "\", iterations=" + std::to_string(s.iterations) +
         ", relative=" + number(s.residuals.relative) + ")";
}

}  // namespace

bp::object regularisation_of(const SolverSettings& s) {
  if (s.regularisation == RegularisationRule::kGiven) return to_array(s.given_regularisation);
  return bp::str(s.regularisation == RegularisationRule::kDiagonal ? "diagonal" : "contact-norm");
}

void set_regularisation(SolverSettings& s, const bp::object& value) {
  const bp::extract<std::string> name(value);
  if (!name.check()) {
    const Eigen::VectorXd rows = vector_from(value, "regularisation");
    s.given_regularisation.assign(rows.data(), rows.data() + rows.size());
    s.regularisation = RegularisationRule::kGiven;
    return;
  }
  if (name() != "contact-norm" && name() != "diagonal") {
    throw std::invalid_argument("regularisation = \"" + name() +
                                "\": must be \"contact-norm\", \"diagonal\" or an array");
  }
  s.regularisation =
      name() == "diagonal" ? RegularisationRule::kDiagonal : RegularisationRule::kContactNorm;
}

void expose_solver() {
  using bp::arg;
  bp::class_<SolverSettings> settings(
      "SolverSettings", "Settings of a solver; `solve` takes them as keywords of the same names.");
  settings.def_readwrite("name", &SolverSettings::name, "A name of solvers().")
      .def("validate",
           static_cast<void (SolverSettings::*)() const>(&SolverSettings::validate),
           arg("self"),
           "Raises ValueError naming the field and its value.")
      .def("__repr__", &settings_repr);
  add_solver_settings<SolverSettings>(settings,
                                      [](SolverSettings& s) -> SolverSettings& { return s; });
  forbid_new_attributes(settings);
  bp::class_<ContactSolution>(
      "ContactSolution", "Impulses, their velocity and their certificate.", bp::no_init)
      .add_property("impulse", &impulse, "(n,) lambda [N s].")
      .add_property("velocity", &velocity, "(n,) c = (G + diag R) lambda + g [m/s].")
      .add_property("residuals", &residuals_copy, "Residuals.")
      .add_property("model", &model, "\"NCP\", \"CCP\", \"LCP\" or \"RaiSim\".")
      .add_property("model_residuals",
                    &model_residuals_copy,
                    "Residuals of the model solved, which `converged` judges; worst island.")
      .add_property(
          "regularisation", &regularisation, "(n,) what the solver added to diag(G), or None.")
      .def_readonly("path_energy",
                    &ContactSolution::path_energy,
                    "[J] epsilon of `solve_on_path`; 0: of the model itself.")
      .def_readonly("penalty",
                    &ContactSolution::penalty,
                    "ADMM: the last rho / mean diag(G) of the slowest island; else 0.")
      .def_readonly("deterministic",
                    &ContactSolution::deterministic,
                    "False if a time budget could have ended it.")
      .def_readonly("iterations", &ContactSolution::iterations)
      .def_readonly("factorisations", &ContactSolution::factorisations)
      .def_readonly("work", &ContactSolution::work, "Multiplications, about: ncp-newton.")
      .add_property("stages",
                    &stages,
                    "Of ncp-newton, in the order in which they ran: dicts with the stage's name, "
                    "the island's first set, the stage's factorisations, the relative residual of "
                    "the best impulses after it, and whether the solve of the island ended with "
                    "it.")
      .add_property("status",
                    &status,
                    "\"converged\", \"rounding_limited\", \"regularised\", \"stalled\", "
                    "\"max_iterations\", \"budget\", \"infeasible\" or \"not_finite\".")
      .add_property("converged", &ContactSolution::converged)
      .def("__repr__", &repr);
  bp::def("solvers", &registry, "dict of name -> contact model and description.");
  bp::def("_solve",
          &solve_problem,
          (arg("problem"), arg("settings"), arg("warm_start"), arg("penalty") = 0.0));
  bp::def("_safe_solution",
          &safe_solution,
          (arg("problem"), arg("solution"), arg("references"), arg("recovery")));
  bp::def("solve_on_path",
          &solve_energy,
          (arg("problem"), arg("epsilon"), arg("tolerance") = 1e-8),
          "The ContactSolution on the central path of the NCP at `epsilon` > 0 [J], a smooth "
          "function of the problem that tends to a solution of the NCP as epsilon falls: "
          "lambda_N c_N ~ epsilon of what is open. `path_energy` is epsilon, `model_residuals` "
          "and the status those of the path's equations, `residuals` certify the NCP. Its "
          "`solution_derivatives` are those of the path.");
  bp::def("_time_solve",
          &time_problem,
          (arg("problem"), arg("settings"), arg("warm_start"), arg("penalty"), arg("repeats")),
          "(repeats,) nanoseconds of each of many equal solves.");
}

}  // namespace stiction::python
