#include "math/solve_linear.hpp"
#include "solver/common/judge.hpp"
#include "solver/lcp/stewart_trinkle.hpp"
#include "solver/solvers.hpp"
#include "solver/workspace.hpp"

#include <cmath>

// Lemke's complementary pivoting on the LCP of Stewart and Trinkle (Cottle, Pang and Stone, The
// Linear Complementarity Problem, section 4.4): a dictionary of w = q + M z + e z0 with z0 >= 0
// large enough is pivoted, the complement of what left entering next, until z0 leaves;
// lexicographic ratio test. Where a rigid motion explains g (g = J v), the LCP has a solution and
// Lemke finds it (Anitescu and Potra 1997). Bilateral variables are pivoted in first, the largest
// diagonal first, and take no part in the ratio test; redundant ones stay at zero. The last basis
// is solved anew from M, so that rounding does not add up over pivots. A warm start is tried as a
// basis before anything is pivoted.

namespace stiction {
namespace {

constexpr int kMaxVariables = 1200;  // 200 contacts of 4 facets: the dictionary has 12 MB
constexpr double kPivot = 1e-9, kSlack = 1e-11, kTie = 1e-11,
                 kCovered = 1e-10;  // smaller: rounding

/// basic = rhs + T nonbasic. Variables: w_j is j, z_j is n + j, z0 is 2 n. Row-major, n rows of
/// n columns of nonbasic variables, z0's and the right-hand side.
class Dictionary {
 public:
  static std::size_t doubles(std::size_t n) { return n * (n + 2); }
  static std::size_t ints(std::size_t n) { return 4 * n + 2; }

  Dictionary(const StewartTrinkle& lcp, Scratch& scratch, int* integers)
      : lcp_(lcp),
        n_(lcp.size()),
        T_(scratch.take(doubles(n_))),
        basic_(integers),
        nonbasic_(integers + n_),
        place_(integers + 2 * n_ + 1) {}

  void start();
  void pivot_bilateral();
  /// The row where z0 has to leave the others non-negative, -1 if they are without it.
  int most_negative() const;
  /// The row that bounds the variable of a column first, -1: none, a ray.
  int blocking(int column) const;
  void pivot(int row, int column);

  int basic(int row) const { return basic_[row]; }
  int covering() const { return 2 * n_; }
  int complement(int variable) const { return variable < n_ ? variable + n_ : variable - n_; }
  int column_of(int variable) const { return place_[variable]; }
  bool is_basic(int variable) const { return place_[variable] < 0; }
  double value(int variable) const {
    return is_basic(variable) ? row(-1 - place_[variable])[n_ + 1] : 0.0;
  }

 private:
  double* row(int i) { return T_ + static_cast<std::size_t>(i) * (n_ + 2); }
  const double* row(int i) const { return T_ + static_cast<std::size_t>(i) * (n_ + 2); }
  double rhs(int i) const { return std::max(0.0, row(i)[n_ + 1]); }
  bool lexically_first(int i, int k, int column) const;

  const StewartTrinkle& lcp_;
  int n_;
  double* T_;
  int *basic_, *nonbasic_, *place_;  // place of a variable: its column, or -1 - its row
};

void Dictionary::start() {
  for (int i = 0; i < n_; ++i) {
    std::copy(lcp_.M(i), lcp_.M(i) + n_, row(i));
    row(i)[n_] = lcp_.is_free(i) ? 0.0 : 1.0;
    row(i)[n_ + 1] = lcp_.q()[i];
    basic_[i] = i;
    place_[i] = -1 - i;
    nonbasic_[i] = n_ + i;
    place_[n_ + i] = i;
  }
  nonbasic_[n_] = 2 * n_;
  place_[2 * n_] = n_;
}

void Dictionary::pivot_bilateral() {
  for (;;) {
    int best = -1;
    for (int i = 0; i < n_; ++i) {
      if (!lcp_.is_free(i) || basic_[i] != i || row(i)[i] <= kPivot) continue;
      if (best < 0 || row(i)[i] > row(best)[best]) best = i;
    }
    if (best < 0) return;
    pivot(best, best);
  }
}

void Dictionary::pivot(int r, int s) {
  double* pivot_row = row(r);
  const double inverse = 1.0 / pivot_row[s];
  for (int j = 0; j < n_ + 2; ++j) pivot_row[j] *= -inverse;
  pivot_row[s] = inverse;
  for (int i = 0; i < n_; ++i) {
    double* other = row(i);
    const double factor = other[s];
    if (i == r || factor == 0.0) continue;
    other[s] = 0.0;
    for (int j = 0; j < n_ + 2; ++j) other[j] += factor * pivot_row[j];
  }
  std::swap(basic_[r], nonbasic_[s]);
  place_[basic_[r]] = -1 - r;
  place_[nonbasic_[s]] = s;
}

/// Of equal ones the last is lexically the smallest.
int Dictionary::most_negative() const {
  int best = -1;
  for (int i = 0; i < n_; ++i) {
    const double value = row(i)[n_ + 1];
    if (lcp_.is_free(i) || value >= 0.0) continue;
    if (best < 0 || value <= row(best)[n_ + 1]) best = i;
  }
  return best;
}

/// Row i of (rhs, B^-1) / -T_is against row k's. Column j of B^-1 is minus that of w_j, or a unit
/// vector if w_j is basic.
bool Dictionary::lexically_first(int i, int k, int s) const {
  const double *a = row(i), *b = row(k);
  for (int j = 0; j < n_; ++j) {
    if (lcp_.is_free(j)) continue;
    const int at = place_[j];
    const double x = at >= 0 ? -a[at] : (-1 - at == i ? 1.0 : 0.0);
    const double y = at >= 0 ? -b[at] : (-1 - at == k ? 1.0 : 0.0);
    const double p = x / -a[s], q = y / -b[s];
    if (std::abs(p - q) > kTie * (1.0 + std::abs(p))) return p < q;
  }
  return i < k;
}

/// Harris' test: rows that bound the variable first, up to kSlack, and of these the ones with large
/// pivots, z0's before all, then the lexically first. A small pivot may be rounding.
int Dictionary::blocking(int s) const {
  constexpr double kSmall = 1e-3;
  const auto shrinks = [&](int i) { return !lcp_.is_free(i) && row(i)[s] < -kPivot; };
  double bound = -1.0, largest = 0.0;
  for (int i = 0; i < n_; ++i) {
    if (!shrinks(i)) continue;
    const double ratio = (rhs(i) + kSlack) / -row(i)[s];
    if (bound < 0.0 || ratio < bound) bound = ratio;
  }
  const auto first = [&](int i) { return shrinks(i) && rhs(i) <= bound * -row(i)[s]; };
  for (int i = 0; i < n_; ++i)
    if (first(i)) largest = std::max(largest, -row(i)[s]);
  int best = -1;
  for (int i = 0; i < n_; ++i) {
    if (!first(i) || -row(i)[s] < kSmall * largest) continue;
    if (basic_[i] == covering()) return i;
    if (best < 0 || lexically_first(i, best, s)) best = i;
  }
  return best;
}

/// Pivots until z0 has left or is zero. Returns the pivots; status kConverged, kStalled (a ray) or
/// kMaxIterations.
IslandOutcome pivot_to_the_end(Dictionary& dictionary, int max_pivots) {
  dictionary.start();
  dictionary.pivot_bilateral();
  int r = dictionary.most_negative(), s = dictionary.column_of(dictionary.covering());
  if (r < 0) return {0, SolveStatus::kConverged};
  for (int k = 1;; ++k) {
    const int leaving = dictionary.basic(r);
    dictionary.pivot(r, s);
    if (dictionary.value(dictionary.covering()) <= kCovered) return {k, SolveStatus::kConverged};
    if (k >= max_pivots) return {k, SolveStatus::kMaxIterations};
    s = dictionary.column_of(dictionary.complement(leaving));
    r = dictionary.blocking(s);
    if (r < 0) return {k, SolveStatus::kStalled};
  }
}

class LemkeIsland {
 public:
  LemkeIsland(const Island& island,
              const SolverSettings& settings,
              const Polygon& polygon,
              LcpWork& work,
              double* lambda,
              double* velocity)
      : settings_(settings),
        lambda_(lambda),
        velocity_(velocity),
        n_(StewartTrinkle::count_variables(island, settings.facets)),
        integers_(integers(work, n_)),
        scratch_(work.matrices,
                 StewartTrinkle::doubles(island.rows(), n_) + Dictionary::doubles(n_) +
                     static_cast<std::size_t>(n_ + 2) * n_),
        lcp_(island, polygon, scratch_, integers_),
        dictionary_(lcp_, scratch_, integers_ + StewartTrinkle::ints(n_)),
        active_(integers_ + StewartTrinkle::ints(n_) + Dictionary::ints(n_)),
        A_(scratch_.take(static_cast<std::size_t>(n_) * n_)),
        b_(scratch_.take(n_)),
        z_(scratch_.take(n_)) {}

  /// Where G is so singular that rounding misleads the pivots: proximal points, each the solution
  /// with G + eta centred at the last impulses.
  IslandOutcome solve(Judge& judge) {
    constexpr int kProximalPoints = 30;
    IslandOutcome outcome;
    for (int k = 0; k <= kProximalPoints; ++k) {
      lcp_.build(k == 0 ? 0.0 : settings_.proximal, lambda_);
      guess_active();
      if (!solve_basis(1e-9)) pivot(outcome);
      lcp_.impulses(z_, lambda_);
      if (judge.solved()) return {std::max(1, outcome.iterations), SolveStatus::kConverged};
      if (outcome.iterations >= settings_.max_iterations || !judge.finite()) break;
    }
    judge.return_to_best();
    return {outcome.iterations, std::max(outcome.status, SolveStatus::kStalled)};
  }

 private:
  static int* integers(LcpWork& work, int n) {
    work.integers.grow(StewartTrinkle::ints(n) + Dictionary::ints(n) + 2 * n);
    return work.integers;
  }
  /// Of each pair the larger one is active, by the impulses and their velocities.
  void guess_active() {
    lcp_.variables(lambda_, velocity_, z_);
    for (int i = 0; i < n_; ++i) active_[i] = lcp_.is_free(i) || z_[i] > other(i);
  }
  /// w_i of z.
  double other(int i) const {
    double w = lcp_.q()[i];
    for (int j = 0; j < n_; ++j) w += lcp_.M(i)[j] * z_[j];
    return w;
  }
  /// Basis from the dictionary, on a ray the last one. Pivots add up over proximal points.
  void pivot(IslandOutcome& outcome) {
    const IslandOutcome end =
        pivot_to_the_end(dictionary_, settings_.max_iterations - outcome.iterations);
    outcome = {outcome.iterations + end.iterations, end.status};
    for (int i = 0; i < n_; ++i) active_[i] = dictionary_.is_basic(n_ + i);
    if (solve_basis(1e-9)) return;
    for (int i = 0; i < n_; ++i) z_[i] = dictionary_.value(n_ + i);
  }
  /// z with M_aa z_a = -q_a for the active variables, zero elsewhere. False if that has a negative
  /// z or w, or if it is singular: then z = 0.
  bool solve_basis(double tolerance) {
    int m = 0, *end = active_ + n_;
    for (int i = 0; i < n_; ++i) {
      if (!active_[i]) continue;
      for (int j = 0, column = 0; j < n_; ++j)
        if (active_[j]) A_[static_cast<std::size_t>(m) * n_ + column++] = lcp_.M(i)[j];
      b_[m++] = -lcp_.q()[i];
    }
    std::fill(end, end + m, m);
    std::fill(z_, z_ + n_, 0.0);
    if (m > 0 && !solve_linear(A_, m, n_, end, b_)) return false;
    double least = 0.0;
    for (int i = 0, k = 0; i < n_; ++i) {
      if (active_[i]) z_[i] = b_[k++];
      if (!lcp_.is_free(i)) least = std::min(least, z_[i]);
    }
    for (int i = 0; i < n_; ++i)
      if (!active_[i] && !lcp_.is_free(i)) least = std::min(least, other(i));
    return least >= -tolerance;
  }

  const SolverSettings& settings_;
  double *lambda_, *velocity_;
  int n_;
  int* integers_;
  Scratch scratch_;
  StewartTrinkle lcp_;
  Dictionary dictionary_;
  int* active_;
  double *A_, *b_, *z_;
};

}  // namespace

void solve_lcp_lemke(const ContactProblem& problem,
                     const SolverSettings& settings,
                     SolverWorkspace& work,
                     ContactSolution& solution) {
  const Polygon polygon(settings.facets);
  LcpWork& own = work.parts().lcp;
  solve_by_islands(problem, solution, [&](const Island& island, double* lambda, double* velocity) {
    Judge judge(island, ContactModel::kLcp, settings, own.best, lambda, velocity);
    if (judge.solved()) return IslandOutcome{0, SolveStatus::kConverged};
    if (StewartTrinkle::count_variables(island, settings.facets) > kMaxVariables)
      return IslandOutcome{0, SolveStatus::kStalled};
    return LemkeIsland(island, settings, polygon, own, lambda, velocity).solve(judge);
  });
}

}  // namespace stiction
