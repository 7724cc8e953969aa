#pragma once

#include "contact/circular_form.hpp"
#include "contact/island_scale.hpp"
#include "solver/common/work_account.hpp"
#include "solver/convex/ccp_newton.hpp"
#include "solver/first_order/admm.hpp"
#include "solver/lcp/stewart_trinkle.hpp"
#include "solver/ncp_newton/ncp_newton.hpp"

namespace stiction {

struct NcpPgsWork {
  Buffer<GaussSeidel::Local> locals;
  Buffer<double> best;
};
struct PgsWork {
  Buffer<double> step, best;  ///< by row
};
struct SafeAnswerWork {
  CircularForm circular;  ///< the problem with circular cones
  std::vector<double> references, recovery;
  ContactProblem relaxed;
  Buffer<double> regularisation, row_sums;
};

/// What each algorithm keeps from call to call is room alone, beside the account of a step.
struct SolverWorkspace::Parts {
  IslandScale island_scale;  ///< of solve(): the problem in usual numbers
  WorkAccount account;       ///< open while a step lasts that has several solves, else by solve
  CircularForm circular;     ///< of solve(): the problem with circular cones, and its settings
  SolverSettings circular_settings;
  Buffer<double> model_velocity;  ///< of certify()
  CcpNewtonWork ccp_newton;
  IslandAdmmWork ccp_admm, ncp_admm;
  PgsWork ccp_pgs, lcp_pgs;
  LcpWork lcp;  ///< lcp-lemke, lcp-qp
  NcpNewtonWork ncp_newton;
  NcpPgsWork ncp_pgs;
  Buffer<double> raisim_best;
  StaggeredWork staggered;
  SafeAnswerWork safe_answer;
};

}  // namespace stiction
