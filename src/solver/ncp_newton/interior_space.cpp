#include "solver/ncp_newton/interior_space.hpp"

#include "stiction/math/constants.hpp"

#include "math/small_inverse.hpp"
#include "solver/ncp_newton/mode_newton.hpp"

#include <algorithm>
#include <cmath>

// Trees have few coordinates: with u = m^-1 Z dl, B = E W^2 + R of a contact and H = B^-1,
//
//   (G + E W^2) dl = b   <=>   dl = H (b - Z^T u),   (m + Z H Z^T) u = Z H b.
//
// H grows as the pairs of contacts that push vanish, and with it what rounding leaves in u of the
// directions that no contact holds. dl is therefore refined until b - (G + E W^2) dl is little:
// what is left of it is in the residual of the next step. A contact without friction is a cone with
// two rows of scale 0: they see nothing and push nothing; so is a limit. Rows with two bounds or
// none are scalars (scalar_rows.hpp).

namespace stiction {
namespace {

constexpr int kRows = cone_planes::kRows, kNormal = kRows - 1;

/// Of one impulse that pushes, or three in a circular cone.
bool is_contact(const ConstraintSet& set) {
  return set.is_normal(set.dim - 1) && (set.dim == kRows || set.dim == 1);
}

}  // namespace

void InteriorSpaceWork::reserve(std::size_t total, int sets, int coordinates) {
  // A set is a contact or up to six scalars.
  const std::size_t rows = std::min(static_cast<std::size_t>(kMaxConeDim) * sets,
                                    kRows * static_cast<std::size_t>(sets) + total);
  for (InteriorPoints::Point* point : {&at.now, &at.step, &at.predictor, &at.best})
    grow(rows, point->l, point->y, point->z);
  grow(rows, scale, g, compliance, w, beta, p, r, d, b, x, error, scratch, low, high);
  grow(rows, set, row);
  place.grow(sets);
  grow(kRows * rows, B, H);
  slopes.grow(kMaxConeDim * total);
  grow(total, scale_of_row, impulse, motion);
  y.grow(coordinates);
}

bool InteriorSpace::applies(const Island& island) {
  const auto& sets = island.problem.sets;
  return island.problem.space.known() &&
         std::all_of(sets.begin() + island.first,
                     sets.begin() + island.last,
                     [](const ConstraintSet& set) { return is_contact(set) || !set.is_cone(); });
}

InteriorSpace::InteriorSpace(const Island& island,
                             TreeSpace& space,
                             InteriorSpaceWork& work,
                             WorkAccount& account)
    : PredictorCorrector(work.at, account), island_(island), space_(space), w_(work) {
  work.reserve(island.problem.g.size(), island.last - island.first, space.num_coordinates());
  list_rows();
  scale_rows();
}

void InteriorSpace::list_rows() {
  const auto& sets = island_.problem.sets;
  for (int i = island_.first; i < island_.last; ++i) {
    int& place = w_.place[i - island_.first];
    if (is_contact(sets[i])) {
      place = n_;
      w_.set[n_++] = i;
      continue;
    }
    place = -1 - scalars_;
    for (int r = 0; r < sets[i].dim; ++r) w_.row[scalars_++] = sets[i].offset + r;
  }
  three_rows_ = island_.rows() == kRows * n_;
}

void InteriorSpace::scale_rows() {
  const ContactProblem& p = island_.problem;
  stiction::scale_rows(island_, w_.scale_of_row);
  unit_ = 0.0;
  for (double* x : {w_.scale.data(), w_.g.data(), w_.compliance.data()})
    std::fill(x, x + rows(), 0.0);
  const auto take = [&](int k, int at) {
    w_.scale[at] = w_.scale_of_row[k];
    w_.g[at] = w_.scale[at] * p.g[k];
    w_.compliance[at] = w_.scale[at] * w_.scale[at] * p.compliance[k];
    unit_ = std::max(unit_, std::abs(w_.g[at]));
  };
  for (int i = 0; i < n_; ++i) {
    const bool frictionless = p.sets[w_.set[i]].friction.slope() == 0.0;
    for (int r = frictionless ? kNormal : 0; r < kRows; ++r) {
      take(row(i, r), r * n_ + i);
      compliant_ = compliant_ || w_.compliance[r * n_ + i] != 0.0;
    }
  }
  for (int k = 0; k < scalars_; ++k) take(w_.row[k], kRows * n_ + k);
  if (!(unit_ > 0.0)) unit_ = 1.0;
  for (int k = 0; k < rows(); ++k) w_.g[k] /= unit_;
  for (int i = island_.first; i < island_.last; ++i) {
    const int first = -1 - w_.place[i - island_.first];
    const ConstraintSet& set = p.sets[i];
    for (int r = 0; first >= 0 && r < set.dim; ++r) {
      const double one = *tail(w_.scale + first + r) * unit_;
      const bool box = set.kind == SetKind::kBox;
      w_.low[first + r] = box ? set.lower / one : -kInfinity;
      w_.high[first + r] = box ? set.upper / one : kInfinity;
    }
  }
}

/// Of the problem; r >= first_row(contact).
int InteriorSpace::row(int contact, int r) const {
  if (three_rows_) return island_.begin + kRows * contact + r;
  const ConstraintSet& set = island_.problem.sets[w_.set[contact]];
  return set.offset + set.dim - kRows + r;
}

/// That the contact has.
int InteriorSpace::first_row(int contact) const {
  return three_rows_ ? 0 : kRows - island_.problem.sets[w_.set[contact]].dim;
}

void InteriorSpace::clear() {
  for (const InteriorPoints::Point* point : {&w_.at.now, &w_.at.step}) {
    for (double* x : {point->l.data(), point->y.data()}) std::fill(x, x + rows(), 0.0);
    std::fill(point->z.data(), point->z + scalars_, 0.0);
  }
}

void InteriorSpace::restart(const Start& start) {
  start_ = start;
  clear();
  const int normals = kNormal * n_, all = kRows * n_;
  std::fill(w_.at.now.l + normals, w_.at.now.l + all, start.impulse);
  std::fill(w_.at.now.y + normals, w_.at.now.y + all, start.velocity);
  scalar_rows::start(bounds(), start.impulse, start.velocity, scalars_of(w_.at.now));
  evaluate();
}

/// The pair l, y with l o y = size e and the given difference w = l - y: eigenvalues xi of w are
/// those of l less those of y, whose product is `size`; all three have the same axes.
void InteriorSpace::restart_near(
    const double* lambda, const double* velocity, double size, double centring, double reach) {
  start_ = {0.0, 0.0, centring, reach};
  clear();
  for (int i = 0; i < n_; ++i) {
    double w[kRows] = {}, c[kRows] = {};
    for (int r = first_row(i); r < kRows; ++r) {
      const double scale = w_.scale[r * n_ + i];
      if (scale == 0.0) continue;
      c[r] = scale * velocity[row(i, r)] / unit_;
      w[r] = lambda[row(i, r)] / (scale * unit_) - c[r];
    }
    w[kNormal] -= std::sqrt(c[0] * c[0] + c[1] * c[1]);
    const double t = std::sqrt(w[0] * w[0] + w[1] * w[1]);
    const double outer = first_of_pair(w[kNormal] + t, size),
                 inner = first_of_pair(w[kNormal] - t, size);
    double *l = w_.at.now.l + i, *y = w_.at.now.y + i;
    for (int r = 0; r < kNormal; ++r) {
      const double half = t > 0.0 ? 0.5 * w[r] / t : 0.0;
      l[r * n_] = half * (outer - inner);
      y[r * n_] = half * (size / outer - size / inner);
    }
    l[kNormal * n_] = 0.5 * (outer + inner);
    y[kNormal * n_] = 0.5 * (size / outer + size / inner);
  }
  const scalar_rows::Pairs scalars = scalars_of(w_.at.now);
  double* c = tail(w_.x.data());
  for (int k = 0; k < scalars_; ++k) {
    const double scale = *tail(w_.scale + k);
    scalars.l[k] = lambda[w_.row[k]] / (scale * unit_);
    c[k] = scale * velocity[w_.row[k]] / unit_;
  }
  scalar_rows::start_near(bounds(), size, c, scalars);
  evaluate();
}

/// Scaled impulses or velocities as rows of the problem.
void InteriorSpace::scatter(const double* x, double* rows) const {
  for (int i = 0; i < n_; ++i) {
    for (int r = first_row(i); r < kRows; ++r)
      rows[row(i, r)] = w_.scale[r * n_ + i] * x[r * n_ + i];
  }
  for (int k = 0; k < scalars_; ++k) rows[w_.row[k]] = *tail(w_.scale + k) * *tail(x + k);
}

/// out = (G + R) l
void InteriorSpace::multiply(const double* l, double* out) {
  scatter(l, w_.impulse);
  space_.gather(w_.impulse, w_.y);
  for (int k = 0; k < space_.num_coordinates(); ++k) w_.y[k] /= space_.inertia()[k];
  space_.spread(w_.y, w_.motion);
  for (int i = 0; i < n_; ++i) {
    for (int r = 0; r < first_row(i); ++r) out[r * n_ + i] = 0.0;
    for (int r = first_row(i); r < kRows; ++r) {
      const int at = r * n_ + i;
      out[at] = w_.scale[at] * w_.motion[row(i, r)] + w_.compliance[at] * l[at];
    }
  }
  for (int k = 0; k < scalars_; ++k)
    *tail(out + k) =
        *tail(w_.scale + k) * w_.motion[w_.row[k]] + *tail(w_.compliance + k) * *tail(l + k);
}

void InteriorSpace::evaluate() {
  multiply(w_.at.now.l, w_.r);
  residual_ = std::max(cone_planes::subtract_velocity(n_, w_.at.now.y, w_.g, w_.r, w_.scratch),
                       scalar_rows::subtract_velocity(
                           bounds(), scalars_of(w_.at.now), tail(w_.g.data()), tail(w_.r.data())));
  worst_ = worst_eigenvalue(0.0, &mean_);
}

double InteriorSpace::worst_eigenvalue(double alpha, double* mean) const {
  double sum = 0.0;
  int pairs = n_;
  const double worst = cone_planes::worst_pair(
      n_, w_.at.now.l, w_.at.step.l, w_.at.now.y, w_.at.step.y, alpha, &sum, w_.scratch.data());
  const double scalars = scalar_rows::worst_pair(
      bounds(), scalars_of(w_.at.now), scalars_of(w_.at.step), alpha, &sum, &pairs);
  *mean = pairs > 0 ? sum / pairs : 0.0;
  return std::min(worst, scalars);
}

double InteriorSpace::longest_step() const {
  const double of_impulses =
      cone_planes::longest_step(n_, w_.at.now.l, w_.at.step.l, 1e3, w_.scratch.data());
  const double limit =
      cone_planes::longest_step(n_, w_.at.now.y, w_.at.step.y, of_impulses, w_.scratch.data());
  return scalar_rows::longest_step(bounds(), scalars_of(w_.at.now), scalars_of(w_.at.step), limit);
}

void InteriorSpace::move(double alpha) {
  for (int k = 0; k < rows(); ++k) {
    w_.at.now.l[k] += alpha * w_.at.step.l[k];
    w_.at.now.y[k] += alpha * w_.at.step.y[k];
  }
  for (int k = 0; k < scalars_; ++k) w_.at.now.z[k] += alpha * w_.at.step.z[k];
  evaluate();
}

/// H of a contact in units of the problem, [dim x dim] of the rows that it has.
bool InteriorSpace::fill_cone_slopes(int i, double* slopes) {
  double H[kRows * kRows];
  for (int r = 0; compliant_ && r < kRows; ++r)
    w_.B[(kRows + 1) * r * n_ + i] += w_.compliance[r * n_ + i];
  for (int k = 0; k < kRows * kRows; ++k) H[k] = (compliant_ ? w_.B : w_.H)[k * n_ + i];
  if (compliant_) {
    if (!invert<kRows>(H)) return false;
    for (int k = 0; k < kRows * kRows; ++k) w_.H[k * n_ + i] = H[k];
  }
  const int first = first_row(i), dim = kRows - first;
  for (int r = first; r < kRows; ++r) {
    for (int c = first; c < kRows; ++c)
      slopes[dim * (r - first) + c - first] =
          w_.scale[r * n_ + i] * H[kRows * r + c] * w_.scale[c * n_ + i];
  }
  return true;
}

bool InteriorSpace::factorise() {
  constexpr double kSlip = 1e-3;    // of the velocities of the mean pair
  constexpr double kPasses = 16.0;  // over the rows, in a step
  if (!work_.factor(space_.work() + kPasses * pass_work(island_))) return false;
  cone_planes::scale(n_, w_.at.now.l, w_.at.now.y, kSlip * std::min(1.0, mean_), scalings());
  cone_planes::blocks(n_, scalings(), w_.B);
  cone_planes::inverse_blocks(n_, scalings(), w_.H);
  double *B = w_.B + kRows * kRows * n_, *H = w_.H + kRows * kRows * n_;
  scalar_rows::blocks(bounds(), scalars_of(w_.at.now), tail(w_.compliance.data()), B, H);
  for (const TreeSpace::Rows& rows : space_.rows()) {
    const int place = w_.place[rows.set - island_.first];
    double* slopes = w_.slopes + rows.slope;
    if (place >= 0) {
      if (!fill_cone_slopes(place, slopes)) return false;
      continue;
    }
    std::fill(slopes, slopes + rows.dim * rows.dim, 0.0);
    const int first = -1 - place + rows.begin - island_.problem.sets[rows.set].offset;
    for (int r = 0; r < rows.dim; ++r) {
      const double scale = *tail(w_.scale + first + r);
      slopes[(rows.dim + 1) * r] = scale * H[first + r] * scale;
    }
  }
  return space_.factor(w_.slopes, false);
}

/// out = A x, A being B or H.
void InteriorSpace::times(const double* A, const double* x, double* out) const {
  cone_planes::times(n_, A, x, out);
  for (int k = 0; k < scalars_; ++k) *tail(out + k) = A[kRows * kRows * n_ + k] * *tail(x + k);
}

void InteriorSpace::solve_once(double* b) {
  times(w_.H, b, w_.x);
  scatter(w_.x, w_.impulse);
  space_.gather(w_.impulse, w_.y);
  space_.solve(w_.y);
  space_.spread(w_.y, w_.motion);
  std::copy(b, b + rows(), w_.x.data());
  for (int i = 0; i < n_; ++i) {
    for (int r = first_row(i); r < kRows; ++r)
      w_.x[r * n_ + i] = b[r * n_ + i] - w_.scale[r * n_ + i] * w_.motion[row(i, r)];
  }
  for (int k = 0; k < scalars_; ++k)
    *tail(w_.x + k) = *tail(b + k) - *tail(w_.scale + k) * w_.motion[w_.row[k]];
  times(w_.H, w_.x, b);
}

void InteriorSpace::solve(double* b) {
  constexpr int kRounds = 3;
  constexpr double kEnough = 1e-6, kNear = 1e-3;
  std::copy(b, b + rows(), w_.b.data());
  solve_once(b);
  for (int round = 0; round < kRounds && mean_ < kNear; ++round) {
    double size = 0.0, off = 0.0;
    multiply(b, w_.error);
    // (G + R) dl + E W^2 dl; B holds R as well where there is any.
    times(w_.B, b, w_.x);
    for (int k = 0; k < scalars_; ++k) {
      if (bounds().held(k)) *tail(w_.error + k) = *tail(w_.compliance + k) * *tail(b + k);
    }
    for (int k = 0; k < rows(); ++k) {
      w_.error[k] = w_.b[k] - (w_.error[k] + w_.x[k] - w_.compliance[k] * b[k]);
      size = std::max(size, std::abs(w_.b[k]));
      off = std::max(off, std::abs(w_.error[k]));
    }
    if (!(off > kEnough * size)) break;
    solve_once(w_.error);
    for (int k = 0; k < rows(); ++k) b[k] += w_.error[k];
  }
}

void InteriorSpace::direction(double centre, bool corrected, double share) {
  const cone_planes::Predictor predictor{corrected ? w_.at.predictor.l.data() : nullptr,
                                         corrected ? w_.at.predictor.y.data() : nullptr};
  InteriorPoints::Point &now = w_.at.now, &step = w_.at.step;
  const scalar_rows::ConstPairs first = scalars_of(w_.at.predictor);
  cone_planes::aim(n_, scalings(), now.l, predictor, w_.r, centre, share, w_.d, step.l);
  scalar_rows::aim(bounds(),
                   scalars_of(now),
                   corrected ? &first : nullptr,
                   tail(w_.r.data()),
                   centre,
                   share,
                   tail(w_.d.data()),
                   step.z,
                   tail(step.l.data()));
  solve(step.l);
  cone_planes::finish(n_, scalings(), w_.d, step.l, step.y);
  scalar_rows::finish(bounds(),
                      scalars_of(now),
                      tail(w_.d.data()),
                      tail(step.l.data()),
                      tail(step.y.data()),
                      step.z);
}

void InteriorSpace::copy_impulse(double* lambda) const {
  scatter(w_.at.now.l, lambda);
  for (int k = island_.begin; k < island_.end; ++k) lambda[k] *= unit_;
}

}  // namespace stiction
