#include "solver/dense/dense_island.hpp"

#include "solver/dense/dense_problem.hpp"

#include <algorithm>
#include <limits>

namespace stiction {
namespace {

/// Where a set's rows stand in the dense problem: contacts first, each kind in the order of sets.
struct DenseOrder {
  int cones = 0, scalars = 0;
  int row_of[kMaxDenseRows];  ///< of the island's rows

  explicit DenseOrder(const Island& island) {
    const auto& sets = island.problem.sets;
    for (int i = island.first; i < island.last; ++i) cones += sets[i].is_cone();
    int cone = 0;
    for (int i = island.first; i < island.last; ++i) {
      const int o = sets[i].offset - island.begin;
      if (!sets[i].is_cone()) {
        row_of[o] = 3 * cones + scalars++;
        continue;
      }
      for (int r = 0; r < 3; ++r) row_of[o + row_of_set(3, r)] = 3 * cone + r;
      ++cone;
    }
    scalars = kScalarClass * scalar_class(scalars);
  }
};

void copy_bounds(const Island& island, const DenseProblem<double>& out) {
  const ContactProblem& p = island.problem;
  double* mu = out.mu;
  int scalar = 0;
  for (int i = island.first; i < island.last; ++i) {
    const ConstraintSet& set = p.sets[i];
    if (set.is_cone()) {
      *mu++ = set.friction.slope();
      continue;
    }
    const bool box = set.kind == SetKind::kBox;
    out.arm[scalar] = set.arm;
    out.lower[scalar] = box ? set.lower : 0.0;
    out.upper[scalar++] = box ? set.upper : std::numeric_limits<double>::infinity();
  }
}

void copy_problem(const Island& island,
                  const DenseOrder& order,
                  const double* lambda,
                  const DenseProblem<double>& out) {
  const ContactProblem& p = island.problem;
  const int rows = out.rows(), stride = out.stride();
  std::fill_n(out.G, rows * stride, 0.0);
  for (int r = island.rows(); r < rows; ++r) {  // padding
    const int j = r - 3 * out.cones;
    out.lambda[r] = out.lower[j] = out.upper[j] = 0.0;
    out.arm[j] = 1.0;
  }
  std::fill(out.g + island.rows(), out.g + stride, 0.0);
  for (int i = island.first; i < island.last; ++i) {
    const ConstraintSet& set = p.sets[i];
    const int* own = order.row_of + (set.offset - island.begin);
    for (int r = 0; r < set.dim; ++r) {
      out.g[own[r]] = p.g[set.offset + r];
      out.lambda[own[r]] = lambda[set.offset + r];
    }
    if (set.dim == 3) {
      p.each_column(i, [&](int j, const double* column) {
        double* G = out.G + order.row_of[j - island.begin] * stride;
        for (int r = 0; r < 3; ++r) G[own[r]] = column[r];
      });
    } else {
      p.each_column(i, [&](int j, const double* column) {
        out.G[order.row_of[j - island.begin] * stride + own[0]] = column[0];
      });
    }
  }
  copy_bounds(island, out);
  double floor = 0.0;
  if (!p.velocity_floor.empty()) {
    for (int i = island.first; i < island.last; ++i) floor = std::max(floor, p.velocity_floor[i]);
  }
  *out.floor = floor;
  *out.scale = p.velocity_scale;
  *out.valid = 1.0;
}

}  // namespace

void DenseIslandWork::reserve() { memory.grow(most_dense_doubles()); }

bool is_dense_island(const Island& island) {
  if (island.rows() > kMaxDenseRows || island.is_loose()) return false;
  const ContactProblem& p = island.problem;
  for (int i = island.first; i < island.last; ++i) {
    const ConstraintSet& set = p.sets[i];
    const bool contact = set.is_cone() && set.dim == 3 && set.friction.is_circular();
    const bool scalar = set.kind == SetKind::kNonNegative || set.kind == SetKind::kBox;
    if (!contact && !scalar) return false;
    for (int r = 0; r < set.dim; ++r) {
      if (p.compliance[set.offset + r] != 0.0) return false;
    }
  }
  return true;
}

double dense_work(int rows, const DenseOutcome& x) {
  constexpr double kLooks = 4.0, kPerRow = 40.0;
  const double n = rows;
  return x.steps * n * n * (n / 3.0 + kLooks) + (x.sweeps + kLooks) * n * (n + kPerRow);
}

DenseOutcome solve_dense_island(const Island& island,
                                double tolerance,
                                DenseIslandWork& work,
                                double* lambda,
                                double* velocity) {
  work.reserve();
  const DenseOrder order(island);
  Arena<double> arena{work.memory};
  const DenseProblem<double> problem = take_dense_problem(order.cones, order.scalars, arena);
  const double* c = take_dense_work(order.cones, order.scalars, arena).c;
  copy_problem(island, order, lambda, problem);
  const DenseOutcome answer = dense_solver()(order.cones, order.scalars, tolerance, work.memory);
  if (!(answer.relative <= tolerance)) return answer;
  for (int k = 0; k < island.rows(); ++k) {
    lambda[island.begin + k] = problem.lambda[order.row_of[k]];
    velocity[island.begin + k] = c[order.row_of[k]];
  }
  return answer;
}

}  // namespace stiction
