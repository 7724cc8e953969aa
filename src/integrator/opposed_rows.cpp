#include "integrator/opposed_rows.hpp"

#include "stiction/math/constants.hpp"

#include "math/factor_symmetric.hpp"

#include <algorithm>
#include <cmath>

namespace stiction {
namespace {

constexpr int kMostRows = 160, kMostLooseRows = 32, kRounds = 8;
constexpr double kRegular = 1e-8;  ///< of the diagonal
constexpr double kRounding = 1e-13;

/// What the normal of a contact, a limit or row r of a closure is asked for; false: nothing that
/// stands still.
bool asks(const ConstraintRow& row, int r, double& asked) {
  if (row.compliance[r] > 0.0 || row.kind == ReferenceKind::kImmovable) return false;
  const bool scalar = row.set.kind == SetKind::kNonNegative || row.set.kind == SetKind::kFree;
  if (!scalar && !(row.set.is_cone() && r == row.set.dim - 1)) return false;
  const bool gap = row.kind == ReferenceKind::kSpeculative;
  asked = gap || corrects(row) ? row.reference[r] : 0.0;
  return true;
}

void find_rows(const RowContext& context, const ContactProblem& p, int island, OpposedRows& w) {
  w.row.clear();
  w.set.clear();
  w.asked.clear();
  w.unit.clear();
  w.free.clear();
  for (int i = p.island_start[island]; i < p.island_start[island + 1]; ++i) {
    const ConstraintRow& row = context.out.rows[i];
    for (int r = 0; r < row.set.dim; ++r) {
      double asked;
      const double G = p.diagonal_entry(i, r);
      if (!(G > 0.0) || !asks(row, r, asked)) continue;
      w.row.push_back(p.sets[i].offset + r);
      w.set.push_back(i);
      w.unit.push_back(std::sqrt(G));
      w.asked.push_back(asked / w.unit.back());
      w.free.push_back(row.set.kind == SetKind::kFree);
    }
  }
}

void copy_delassus(const ContactProblem& p, OpposedRows& w) {
  const int n = static_cast<int>(w.row.size());
  w.G.assign(n * n, 0.0);
  for (int k = 0; k < n; ++k) {
    const int r = w.row[k] - p.sets[w.set[k]].offset;
    int m = 0;
    p.each_column(w.set[k], [&](int j, const double* column) {
      while (m < n && w.row[m] < j) ++m;
      if (m < n && w.row[m] == j) w.G[k * n + m] = column[r] / (w.unit[k] * w.unit[m]);
    });
  }
}

/// z <- (G + epsilon)^-1 c* of the active rows; false if that has no factor.
bool solve_active(OpposedRows& w) {
  const int n = static_cast<int>(w.row.size());
  int m = 0;
  for (int k = 0; k < n; ++k) m += w.active[k];
  const int stride = padded(m);
  w.A.assign(m * stride, 0.0);
  w.x.assign(stride, 0.0);
  int a = 0;
  for (int k = 0; k < n; ++k) {
    if (!w.active[k]) continue;
    int b = 0;
    for (int l = 0; l < n; ++l) {
      if (w.active[l]) w.A[a * stride + b++] = w.G[k * n + l];
    }
    w.A[a * stride + a] += kRegular;
    w.x[a++] = w.asked[k];
  }
  if (!factor_symmetric(w.A.data(), m, stride)) return false;
  substitute_symmetric(w.A.data(), m, stride, w.x.data());
  a = 0;
  for (int k = 0; k < n; ++k) w.trial[k] = w.active[k] ? w.x[a++] : 0.0;
  return true;
}

/// (c* . z)^2 / (2 z^T G z) of the trial.
double bound(const OpposedRows& w) {
  const int n = static_cast<int>(w.row.size());
  double given = 0.0, energy = 0.0, terms = 0.0;
  for (int k = 0; k < n; ++k) {
    given += w.asked[k] * w.trial[k];
    for (int l = 0; l < n; ++l) {
      const double term = w.trial[k] * w.G[k * n + l] * w.trial[l];
      energy += term;
      terms += std::abs(term);
    }
  }
  energy = std::max(energy, kRounding * terms);
  return given > 0.0 && energy > 0.0 ? given * given / (2.0 * energy) : 0.0;
}

/// Rows that pull are let go; if there are none, those that the others do not carry along are
/// taken in. Whether anything changed.
bool change_active(OpposedRows& w) {
  const int n = static_cast<int>(w.row.size());
  bool changed = false;
  for (int k = 0; k < n; ++k) {
    if (!w.active[k] || w.free[k] || w.trial[k] >= 0.0) continue;
    w.active[k] = 0;
    w.trial[k] = 0.0;
    changed = true;
  }
  if (changed) return true;
  double most = 0.0;
  for (int k = 0; k < n; ++k) most = std::max(most, std::abs(w.asked[k]));
  for (int k = 0; k < n; ++k) {
    if (w.active[k]) continue;
    double left = w.asked[k];
    for (int l = 0; l < n; ++l) left -= w.G[k * n + l] * w.trial[l];
    if (left <= 1e-6 * most) continue;
    w.active[k] = 1;
    changed = true;
  }
  return changed;
}

}  // namespace

double least_energy(OpposedRows& w) {
  const int n = static_cast<int>(w.row.size());
  w.trial.assign(n, 0.0);
  w.best.assign(n, 0.0);
  w.active.assign(n, 0);
  for (int k = 0; k < n; ++k) w.active[k] = w.free[k] || w.asked[k] > 0.0;
  double most = 0.0;
  for (int round = 0; round < kRounds; ++round) {
    if (!solve_active(w)) break;
    const bool changed = change_active(w);
    const double found = bound(w);
    if (found > most) {
      most = found;
      w.best = w.trial;
    }
    if (!changed) break;
  }
  return most;
}

double energy_to_obey(const RowContext& context,
                      const ContactProblem& problem,
                      int island,
                      OpposedRows& w,
                      WorkAccount& account) {
  find_rows(context, problem, island, w);
  const int n = static_cast<int>(w.row.size());
  w.best.assign(n, 0.0);
  const bool loose = problem.space.loose(problem.island_start[island]);
  if (n < 2 || n > (loose ? kMostLooseRows : kMostRows)) return 0.0;
  // As many rows as lanes may have cost little, and lanes do not look.
  constexpr int kFewRows = 100;
  if (n > kFewRows && !account.take(kRounds * (n / 6.0 + 3.0) * n * n)) return 0.0;
  copy_delassus(problem, w);
  return least_energy(w);
}

void press(const OpposedRows& w, double* impulse) {
  double alone = kInfinity, most = 0.0;
  for (std::size_t k = 0; k < w.row.size(); ++k) {
    if (w.asked[k] > 0.0 && w.best[k] > 0.0) alone = std::min(alone, w.asked[k] / w.unit[k]);
    most = std::max(most, w.best[k] / w.unit[k]);
  }
  if (most == 0.0 || alone == kInfinity) return;
  for (std::size_t k = 0; k < w.row.size(); ++k) {
    if (!w.free[k])
      impulse[w.row[k]] = std::max(impulse[w.row[k]], w.best[k] / w.unit[k] * alone / most);
  }
}

void OpposedRows::reserve(int rows) {
  const std::size_t n = std::min(rows, kMostRows), stride = padded(static_cast<int>(n));
  for (std::vector<int>* v : {&row, &set}) v->reserve(rows);
  for (std::vector<double>* v : {&asked, &unit}) v->reserve(rows);
  for (std::vector<double>* v : {&trial, &best}) v->reserve(n);
  for (std::vector<std::uint8_t>* v : {&free, &active}) v->reserve(rows);
  G.reserve(n * n);
  A.reserve(n * stride);
  x.reserve(stride);
}

}  // namespace stiction
