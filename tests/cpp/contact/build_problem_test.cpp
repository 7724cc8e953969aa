#include "contact/build_problem.hpp"

#include "contact/constraint_row.hpp"
#include "support/dense.hpp"
#include "support/row_sample.hpp"
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <numeric>
#include <set>

using namespace stiction;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using stiction::test::dense_jacobian;
using stiction::test::dense_mass;
using stiction::test::harmless_share;
using stiction::test::multiply;
using stiction::test::Rng;
using stiction::test::RowSample;
using stiction::test::slides;
using stiction::test::solve_semidefinite;

namespace {

constexpr double kDt = RowSample::kDt;

/// c* of a rigid contact's normal, of a limit or of what brings a joint back (which follows its
/// limit), from the dense u = M^-1 J_r^T / G_rr.
double position_reference(const RowSample& s,
                          DynamicsWorkspace& w,
                          const ConstraintRow& row,
                          const VectorXd& u) {
  double gap = 0.0, cap = 0.5;
  if (row.source == RowSource::kContact) {
    gap = s.contacts[row.index].gap;
  } else {
    const Parameters& p = s.scene.parameters;
    const double q =
        s.scene.dof_positions({s.state.q.data(), s.state.q.data() + s.state.q.size()})[row.index];
    const ConstraintRow& limit = row.source == RowSource::kLimitRecovery ? *(&row - 1) : row;
    gap = limit.source == RowSource::kLowerLimit ? q - p.lower[row.index] : p.upper[row.index] - q;
    if (!slides(s.scene, row.index)) cap = 1.0;
  }
  if (gap > 0.0) return -gap / kDt;
  const double asked = std::min(0.2 * -gap / kDt, cap);
  const bool far = row.source != RowSource::kContact && asked > 0.1 * cap;
  if (far && row.source != RowSource::kLimitRecovery) return -1e-3 * cap;
  if (far) return std::min(asked, cap * harmless_share(s, w, cap * u));
  return asked * harmless_share(s, w, asked * u);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(build_problem_test)

// J, G, g and the effect of impulses agree with dense matrices that are built from point velocities
// and kinetic energies, J after G was formed; panels are symmetric. Every source of rows is among
// the samples, and both layouts of whitened rows.
BOOST_AUTO_TEST_CASE(problem_matches_dense_algebra) {
  Rng rng(1);
  int seen[7] = {}, welds = 0, loose = 0, soft = 0, held = 0, capped = 0, layouts[2] = {};
  for (int trial = 0; trial < 60; ++trial) {
    RowSample s(rng, {.one_tree = trial % 3 == 2});
    if (s.problem.num_rows() == 0) continue;
    ++layouts[s.rows.whitened.by_dof() != nullptr];
    const MatrixXd J = dense_jacobian(s), M = dense_mass(s);
    const MatrixXd MJ = solve_semidefinite(M, J.transpose());
    MatrixXd G = multiply(J, MJ);
    for (int r = 0; r < s.problem.num_rows(); ++r) G(r, r) += s.problem.compliance[r];
    const double scale = G.cwiseAbs().maxCoeff();
    const MatrixXd dense = s.problem.dense();
    VectorXd reference(s.problem.num_rows());
    DynamicsWorkspace moved;
    moved.resize(s.scene);
    int o = 0;
    for (const ConstraintRow& row : s.rows.rows) {
      for (int r = 0; r < row.set.dim; ++r) {
        reference[o + r] = row.reference[r];
        BOOST_TEST(s.problem.compliance[o + r] == row.compliance[r]);
        soft += row.compliance[r] > 0.0;
      }
      if (row.source <= RowSource::kLimitRecovery && row.compliance[row.set.dim - 1] == 0.0) {
        const int n = row.set.dim - 1;
        const bool immovable = G(o + n, o + n) <= 1e-13 * scale;  // then it is J v_free
        if (immovable) {
          BOOST_TEST(std::abs(s.problem.g[o + n]) <= 1e-12 * (1.0 + std::abs(row.reference[n])));
          BOOST_TEST((row.kind == ReferenceKind::kImmovable));
        } else {
          const double expected =
              position_reference(s, moved, row, MJ.col(o + n) / G(o + n, o + n));
          BOOST_TEST(std::abs(row.reference[n] - expected) < 1e-9 * std::abs(expected) + 1e-12);
        }
        held += immovable;
        capped += row.kind == ReferenceKind::kCapped;
      }
      ++seen[static_cast<int>(row.source)];
      welds += row.set.dim == 6;
      loose += row.loose;
      o += row.set.dim;
    }
    BOOST_TEST_CONTEXT("trial " << trial) {
      BOOST_TEST((dense - dense.transpose()).cwiseAbs().maxCoeff() < 1e-12 * scale);
      BOOST_TEST((dense - G).cwiseAbs().maxCoeff() < 1e-9 * scale);
      const VectorXd v_free = s.next_velocity();
      const VectorXd g = J * v_free - reference;
      BOOST_TEST(
          (Eigen::Map<const VectorXd>(s.problem.g.data(), g.size()) - g).cwiseAbs().maxCoeff() <
          1e-9 * (1.0 + g.cwiseAbs().maxCoeff()));
      const VectorXd l = test::random_vector(rng, s.problem.num_rows());
      const std::vector<double> impulse(l.data(), l.data() + l.size());
      VectorXd change(s.scene.nv());
      for (const bool free : {false, true}) {
        const double* w = free ? s.work.free_motion.data() : nullptr;
        velocity_change(s.scene, s.work, s.rows, w, impulse, s.scratch, change.data());
        VectorXd expected = MJ * l;
        if (free) expected += v_free - s.state.v;
        BOOST_TEST((change - expected).cwiseAbs().maxCoeff() <
                   1e-9 * expected.cwiseAbs().maxCoeff());
      }
      std::vector<double> motion(impulse.size(), 0.0), force(s.scene.nv(), 0.0);
      add_row_motion(s.scene, s.work, s.rows, change.data(), motion);
      add_row_forces(s.scene, s.work, s.rows, impulse, force);
      const VectorXd J_x = J * change, JT_l = J.transpose() * l;
      for (std::size_t r = 0; r < motion.size(); ++r)
        BOOST_TEST(std::abs(motion[r] - J_x[r]) < 1e-9 * (1.0 + J_x.cwiseAbs().maxCoeff()));
      for (std::size_t k = 0; k < force.size(); ++k)
        BOOST_TEST(std::abs(force[k] - JT_l[k]) < 1e-9 * (1.0 + JT_l.cwiseAbs().maxCoeff()));
    }
  }
  for (const int n : seen) BOOST_TEST(n > 10);
  BOOST_TEST(welds > 10);
  BOOST_TEST(loose > 20);
  BOOST_TEST(soft > 10);
  BOOST_TEST(held > 0);
  BOOST_TEST(capped > 100);
  BOOST_TEST(layouts[0] > 30);
  BOOST_TEST(layouts[1] > 15);
}

// Islands are the connected components of the trees that share a set, and do not couple.
BOOST_AUTO_TEST_CASE(islands_are_connected_components) {
  Rng rng(2);
  int several = 0;
  for (int trial = 0; trial < 100; ++trial) {
    const RowSample s(rng);
    std::vector<int> label(s.scene.trees().size());
    std::iota(label.begin(), label.end(), 0);
    for (const ConstraintRow& row : s.rows.rows) {
      for (int k = 1; k < row.num_sides; ++k) {
        const int from = label[row.sides[k].tree], to = label[row.sides[0].tree];
        for (int& x : label) x = x == from ? to : x;
      }
    }
    std::set<int> components;
    for (int i = 0; i < s.problem.num_islands(); ++i) {
      std::set<int> here;
      for (int k = s.problem.island_start[i]; k < s.problem.island_start[i + 1]; ++k) {
        here.insert(label[s.rows.rows[k].sides[0].tree]);
      }
      BOOST_TEST(here.size() == 1u);
      for (const int x : here) BOOST_TEST(components.insert(x).second);
    }
    BOOST_REQUIRE(s.problem.island_start.back() == s.problem.num_sets());
    several += s.problem.num_islands() > 1;
  }
  BOOST_TEST(several > 80);
}

BOOST_AUTO_TEST_SUITE_END()
