#pragma once

#include "contact/circular_form.hpp"
#include "solver/convex/ccp_newton.hpp"
#include "solver/first_order/admm.hpp"
#include "solver/first_order/block_admm.hpp"
#include "solver/lcp/stewart_trinkle.hpp"
#include "solver/ncp_newton/ncp_newton.hpp"

namespace stiction {

struct SafeAnswerWork {
  ContactProblem relaxed;
  Buffer<double> regularisation, row_sums;
};

/// What each algorithm keeps from call to call is room alone.
struct SolverWorkspace::Parts {
  CircularForm circular;  ///< of solve(): the problem with circular cones, and its settings
  SolverSettings circular_settings;
  Buffer<double> model_velocity;  ///< of certify()
  AdmmWork admm;                  ///< ncp-admm, ccp-admm
  CcpNewtonWork ccp_newton;
  Buffer<double> ccp_pgs_steps;
  LcpWork lcp;  ///< lcp-lemke, lcp-qp
  LcpPgsWork lcp_pgs;
  NcpNewtonWork ncp_newton;
  Buffer<GaussSeidel::Local> ncp_pgs_locals;
  Buffer<double> raisim_best;
  StaggeredWork staggered;
  SafeAnswerWork safe_answer;
};

}  // namespace stiction
