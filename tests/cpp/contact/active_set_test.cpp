#include "contact/active_set.hpp"

#include "stiction/contact/cone.hpp"
#include "stiction/math/constants.hpp"

#include "contact/problem_scale.hpp"
#include "support/contact_problems.hpp"
#include "support/dense.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

// What an active set says of a solution, against the law of contact itself: solutions are made to
// measure, and those beside them must satisfy the law to first order.

namespace stiction::test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// One set at an impulse and a velocity that satisfy its law.
struct Solved {
  ConstraintSet set = ConstraintSet::non_negative();
  VectorXd l, c;
  std::string mode;  ///< as it was made
  double margin = 0.0;
};

/// Entries of an impulse (velocity) whose size in N s (m/s) is 1, zero in the normal.
VectorXd unit_tangent(Rng& rng, const Cone& cone, bool impulse) {
  VectorXd x = random_vector(rng, cone.dim);
  x[cone.normal()] = 0.0;
  x.head(cone.normal()).normalize();
  for (int r = 0; r < cone.normal(); ++r)
    x[r] *= impulse ? cone.impulse_unit(r) : 1.0 / cone.velocity_unit(r);
  return x;
}

Cone random_cone(Rng& rng) {
  const double mu = rng.uniform(0.1, 2.0);
  switch (rng.below(4)) {
    case 0:
      return Cone::torsional(mu, mu * rng.uniform(0.2, 1.0));
    case 1:
      return Cone::rolling(mu, mu * rng.uniform(0.2, 1.0), mu * rng.uniform(0.2, 1.0));
    case 2:
      return Cone::coulomb(0.0);
    default:
      return Cone::coulomb(mu);
  }
}

Solved solved_cone(Rng& rng, ContactModel model) {
  Solved s;
  const Cone cone = random_cone(rng);
  s.set = ConstraintSet::cone(cone);
  s.l.setZero(cone.dim);
  s.c.setZero(cone.dim);
  const int n = cone.normal();
  const double mu = cone.friction(), load = rng.uniform(0.1, 2.0), fast = rng.uniform(0.1, 2.0);
  const int kind = rng.below(4);
  if (kind == 0) {
    s.c = random_vector(rng, cone.dim);
    s.c[n] = rng.uniform(0.1, 1.0) + (model == ContactModel::kCcp ? shift(cone, s.c.data()) : 0.0);
    s.margin = s.c[n];
    s.mode = "open";
  } else if (mu == 0.0) {
    s.c = random_vector(rng, cone.dim);
    s.c[n] = 0.0;
    s.l[n] = s.margin = load;
    s.mode = "slide";
  } else if (kind == 1) {
    const double share = rng.uniform(0.0, 0.95);
    s.l = share * mu * load * unit_tangent(rng, cone, true);
    s.l[n] = load;
    double least = mu;
    for (int r = 0; r < n; ++r) least = cone.mu[r] > 0.0 ? std::min(least, cone.mu[r]) : least;
    s.margin = std::min(load, (1.0 - share) * least * load);
    s.mode = "stick";
  } else {
    const VectorXd e = unit_tangent(rng, cone, true);
    s.l = -mu * load * e;
    s.l[n] = load;
    for (int r = 0; r < n; ++r) {
      const double unit = cone.velocity_unit(r);
      s.c[r] = fast * e[r] / (unit * unit);
    }
    if (model == ContactModel::kCcp) s.c[n] = mu * fast;
    s.margin = std::min(load, fast);
    s.mode = "slide";
  }
  return s;
}

Solved solved_set(Rng& rng, ContactModel model) {
  Solved s;
  s.l.setZero(1);
  s.c.setZero(1);
  const int kind = rng.below(8);
  if (kind < 4) return solved_cone(rng, model);
  if (kind == 4) {
    const int n = 1 + rng.below(6);
    s.set = ConstraintSet::free(n);
    s.l = random_vector(rng, n);
    s.c.setZero(n);
    s.margin = kInfinity;
    s.mode = "stick";
    return s;
  }
  const bool box = kind > 5;
  const double lower = box ? rng.uniform(-1.0, 0.2) : 0.0, width = rng.uniform(0.5, 1.0);
  s.set = box ? ConstraintSet::box(lower, lower + width) : ConstraintSet::non_negative();
  const int where = rng.below(box ? 3 : 2);
  if (where == 0) {
    const double share = rng.uniform(0.1, 0.9);
    s.l[0] = lower + share * width;
    s.margin = std::min(share, box ? 1.0 - share : share) * width;
    s.mode = "stick";
  } else {
    s.margin = rng.uniform(0.1, 1.0);
    s.l[0] = where == 1 ? lower : lower + width;
    s.c[0] = where == 1 ? s.margin : -s.margin;
    s.mode = "open";
  }
  return s;
}

/// How far (l, c) is from the law of its set: the natural map.
double residual(const Solved& s, const VectorXd& l, const VectorXd& c, ContactModel model) {
  VectorXd moved = l - c;
  if (s.set.is_cone()) {
    const Cone& cone = s.set.friction;
    for (int r = 0; r < cone.dim; ++r) {  // in one unit, else the projection is not Euclidean
      const double unit = cone.velocity_unit(r);
      moved[r] = l[r] - c[r] * unit * unit;
    }
    if (model == ContactModel::kNcp) moved[cone.normal()] -= shift(cone, c.data());
    project(cone, moved.data());
  } else if (s.set.kind != SetKind::kFree) {
    moved[0] =
        std::clamp(moved[0], s.set.lower, s.set.kind == SetKind::kBox ? s.set.upper : kInfinity);
  }
  return (l - moved).norm();
}

/// A problem of sets at their impulses and velocities: g = c - G l.
struct Sample {
  std::vector<Solved> sets;
  ContactProblem problem;
  std::vector<double> l, c;

  Sample(Rng& rng, ContactModel model) {
    const int n = 1 + rng.below(5);
    Data data;
    for (int i = 0; i < n; ++i) {
      sets.push_back(solved_set(rng, model));
      data.sets.push_back(sets.back().set);
      l.insert(l.end(), sets.back().l.begin(), sets.back().l.end());
      c.insert(c.end(), sets.back().c.begin(), sets.back().c.end());
    }
    const int rows = count_rows(data.sets);
    data.G = gram(random_matrix(rng, rows, rows));
    data.g = Eigen::Map<VectorXd>(c.data(), rows) - data.G * Eigen::Map<VectorXd>(l.data(), rows);
    data.R.setZero(rows);
    problem = data.problem();
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(active_set_test)

BOOST_AUTO_TEST_CASE(modes_and_margins_are_those_it_was_made_with) {
  Rng rng(1);
  for (int k = 0; k < 600; ++k) {
    const ContactModel model = k % 2 ? ContactModel::kNcp : ContactModel::kCcp;
    const Sample s(rng, model);
    ActiveSet active;
    find_active_set(s.problem, s.l, s.c, model, 1e-9, active);
    BOOST_TEST(active.num_at_switch == 0);
    BOOST_REQUIRE(active.modes.size() == s.sets.size());
    for (std::size_t i = 0; i < s.sets.size(); ++i) {
      BOOST_TEST(to_string(active.modes[i]) == s.sets[i].mode);
      if (std::isinf(s.sets[i].margin)) {
        BOOST_TEST(std::isinf(active.margin[i]));
      } else {
        BOOST_TEST(std::abs(active.margin[i] - s.sets[i].margin) < 1e-12);
      }
    }
  }
}

/// With dlambda = T y and any dc of w . dc + d y = 0 the law holds to first order; and there are as
/// many of them as the set has rows.
BOOST_AUTO_TEST_CASE(neighbours_are_solutions_to_first_order) {
  Rng rng(2);
  std::map<std::string, int> seen;
  for (int k = 0; k < 600; ++k) {
    const ContactModel model = k % 2 ? ContactModel::kNcp : ContactModel::kCcp;
    const Sample s(rng, model);
    ActiveSet active;
    find_active_set(s.problem, s.l, s.c, model, 1e-9, active);
    for (std::size_t i = 0; i < s.sets.size(); ++i) {
      const Solved& set = s.sets[i];
      const int dim = set.set.dim, n = active.start[i + 1] - active.start[i];
      const std::string what = std::string(to_string(model)) + " " +
                               std::to_string(static_cast<int>(set.set.kind)) + " " +
                               std::to_string(dim) + " " + set.mode;
      ++seen[what];
      BOOST_TEST(residual(set, set.l, set.c, model) < 1e-13,
                 what << " " << residual(set, set.l, set.c, model));
      const VectorXd y = random_vector(rng, n);
      VectorXd dl = VectorXd::Zero(dim), dc = random_vector(rng, dim);
      MatrixXd W(n, dim);
      VectorXd asked(n);
      for (int a = 0; a < n; ++a) {
        const ActiveUnknown& u = active.unknowns[active.start[i] + a];
        BOOST_REQUIRE(u.set == static_cast<int>(i));
        BOOST_REQUIRE(u.row == set.set.offset + s.problem.sets[i].offset);
        BOOST_REQUIRE(u.dim == dim);
        dl += Eigen::Map<const VectorXd>(u.t, dim) * y[a];
        W.row(a) = Eigen::Map<const VectorXd>(u.w, dim);
        asked[a] = -u.d * y[a];
      }
      if (n > 0) dc += multiply(W.transpose(), solve_dense(gram(W), asked - W * dc));
      BOOST_TEST(n == (set.mode == "open"                                        ? 0
                       : set.set.is_cone() && set.set.friction.friction() == 0.0 ? 1
                       : set.mode == "slide"                                     ? dim - 1
                                                                                 : dim),
                 what);
      const double h = 1e-6;
      for (const double sign : {1.0, -1.0}) {
        const double left = residual(set, set.l + sign * h * dl, set.c + sign * h * dc, model);
        BOOST_TEST(left < 1e3 * h * h * (1.0 + dl.squaredNorm() + dc.squaredNorm()), what);
      }
    }
  }
  for (const char* model : {"NCP", "CCP"}) {
    for (const char* what : {"0 3 open",
                             "0 3 stick",
                             "0 3 slide",
                             "0 4 open",
                             "0 4 stick",
                             "0 4 slide",
                             "0 6 open",
                             "0 6 stick",
                             "0 6 slide",
                             "1 1 open",
                             "1 1 stick",
                             "2 1 open",
                             "2 1 stick",
                             "3 3 stick"})
      BOOST_TEST(seen[std::string(model) + " " + what] > 5, model << " " << what);
  }
}

/// At a switch both halves are possible: what holds less is taken, and the switch is counted.
BOOST_AUTO_TEST_CASE(switches_are_counted) {
  const auto counted =
      [](const ConstraintSet& set, std::vector<double> l, std::vector<double> c, ContactMode mode) {
        Data data;
        data.sets = {ConstraintSet::free(1), set};  // the first gives the island its scale
        const int rows = 1 + set.dim;
        l.insert(l.begin(), 1.0);
        c.insert(c.begin(), 0.0);
        data.G = MatrixXd::Identity(rows, rows) + MatrixXd::Constant(rows, rows, 0.1);
        data.g =
            Eigen::Map<VectorXd>(c.data(), rows) - data.G * Eigen::Map<VectorXd>(l.data(), rows);
        data.R.setZero(rows);
        ActiveSet active;
        find_active_set(data.problem(), l, c, ContactModel::kNcp, 1e-9, active);
        BOOST_TEST((active.modes[1] == mode));
        BOOST_TEST(active.num_at_switch == 1);
        BOOST_TEST(active.margin[1] < 1e-8);
      };
  const ConstraintSet cone = ConstraintSet::cone(0.5);
  counted(cone, {0, 0, 0}, {0, 0, 0}, ContactMode::kOpen);
  counted(cone, {0, 0, 1e-11}, {0.3, 0, 1e-11}, ContactMode::kOpen);
  counted(cone, {0.5, 0, 1.0}, {0, 0, 0}, ContactMode::kStick);
  counted(ConstraintSet::cone(Cone::rolling(0.5, 0.1, 0.2)),
          {0, 0, 0.1, 0, 0, 1.0},
          {0, 0, 0, 0, 0, 0},
          ContactMode::kStick);
  counted(ConstraintSet::non_negative(), {0}, {0}, ContactMode::kOpen);
  counted(ConstraintSet::box(-1.0, 1.0), {1.0}, {0}, ContactMode::kOpen);
  counted(ConstraintSet::box(-1.0, 1.0), {-1.0}, {0}, ContactMode::kOpen);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stiction::test
