#include "derivatives/implicit_derivatives.hpp"

#include "stiction/math/constants.hpp"
#include "stiction/math/lanes.hpp"

#include "dynamics/integrate_derivatives.hpp"
#include "integrator/implicit_euler.hpp"
#include "integrator/implicit_step.hpp"
#include "model/contact_order.hpp"
#include <Eigen/LU>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace stiction {
using namespace compliance;
namespace {

/// visit(dof, S) for the dofs that move a body: S its velocity column at p_W, world axes.
template <class Visit>
void each_column(const Scene& scene,
                 const DynamicsWorkspace& dynamics,
                 int body,
                 const Vec3d& p_W,
                 Visit&& visit) {
  if (body < 0) return;
  const int t = scene.tree_of_body(body);
  const Tree& tree = scene.trees()[t];
  const TreeData<double>& data = dynamics.trees[t];
  const Vec3d p = transpose_times(data.X_WR.R, p_W - data.X_WR.p);
  const int last = tree.last_dof[body - tree.body_offset];
  const int* chain = tree.chain.data() + tree.row[last];
  for (int m = 0; m <= tree.depth[last]; ++m) {
    const Motion<double>& S = data.S[chain[m]];
    visit(tree.v_offset + chain[m], data.X_WR.R * (S.linear + cross(S.angular, p)));
  }
}

Vec3d tangential(const Vec3d& x, const Vec3d& n) { return x - n * dot(n, x); }

/// Points whose force or gap is at the border of two modes, to rounding.
void count_switches(const CompliantSystem& end, GradientReport& report) {
  report.num_at_switch = report.num_gap_kinks = 0;
  report.smallest_gap = kInfinity;
  for (const CompliantPoint& p : end.points) {
    report.num_gap_kinks += std::abs(p.motion.gap) < 1e-12;
    report.smallest_gap = std::min(report.smallest_gap, std::abs(p.motion.gap));
    const Vec3d f = p.force.force, c = p.motion.extension * p.compliance.tangential_stiffness -
                                       p.motion.velocity * p.compliance.tangential_damping;
    const double limit = p.compliance.friction * f.z;
    report.num_at_switch += limit > 0.0 && std::abs(length(c.x, c.y) - limit) < 1e-7 * limit;
  }
}

}  // namespace

bool ImplicitDerivatives::known(const CompliantInput& input) const {
  const CompliantSystem &start = work_.start, &end = work_.end;
  if (end.law != CompliantLaw::kContinuous || !work_.rigid.rows.rows.empty()) return false;
  for (const CompliantPoint& p : end.points) {
    if (p.force.mode == ContactMode::kOpen) continue;
    if (p.kind == PointKind::kGeneral || p.compliance.has_couples()) return false;
    const Vec3d n = to_anchor_axes(input.scene, end, p, {0, 0, 1});
    const Vec3d way = way_between(input.scene, p, n, start.dynamics, end.dynamics);
    if (p.motion.gap - dot(n, way) > 0.0) return false;
  }
  return std::none_of(start.points.begin(), start.points.end(), [](const CompliantPoint& p) {
    const PointCompliance& c = p.compliance;
    return p.force.mode == ContactMode::kSlide && c.tangential_damping == 0.0;
  });
}

/// Points with an extension at the start, and those that act at the end.
void ImplicitDerivatives::list_springs(const State& before,
                                       std::vector<SpringName>& springs) const {
  springs.clear();
  for (const ContactMemory& m : before.contacts) {
    if (squared_norm(m.extension) > 0.0) springs.push_back({m.pair, m.feature});
    if (squared_norm(m.turn) > 0.0) springs.push_back({m.pair, m.feature, true});
  }
  for (const CompliantPoint& p : work_.end.points) {
    const Contact& c = work_.end.contacts[p.contact];
    if (p.force.mode != ContactMode::kOpen) springs.push_back({c.pair, c.feature});
  }
  std::sort(springs.begin(), springs.end());
  springs.erase(std::unique(springs.begin(), springs.end()), springs.end());
}

/// r and the extensions at the end by nu, and by q and v of the start.
void ImplicitDerivatives::fill_passes(const CompliantInput& input, const State& before) {
  const int nv = input.scene.nv(), rows = 3 * static_cast<int>(work_.end.points.size());
  ImplicitScratch& s = *work_.implicit;
  std::iota(s.place.begin(), s.place.end(), 0);
  for (RowMajorMatrix* m : {&by_nu_, &by_start_, &by_v_}) m->setZero(nv, nv);
  extension_by_nu_.setZero(rows, nv);
  extension_by_start_.setZero(rows, nv);
  const auto pass = [&](Seed seed, RowMajorMatrix& r, double* extensions) {
    for (std::size_t t = 0; t < input.scene.trees().size(); ++t)
      end_columns({input, before, work_.nu.data()},
                  work_.end,
                  s.derivatives,
                  static_cast<int>(t),
                  s.dual[t],
                  {s.place, nv, r.data()},
                  seed,
                  extensions);
  };
  pass(Seed::kEndVelocity, by_nu_, extension_by_nu_.data());
  pass(Seed::kStart, by_start_, extension_by_start_.data());
  pass(Seed::kStartVelocity, by_v_, nullptr);
}

/// One point that acts: r and its extension at the end by that at the start, and with it by where
/// its point was at the start.
void ImplicitDerivatives::add_spring(const CompliantInput& input, int i, int spring) {
  const Scene& scene = input.scene;
  const CompliantPoint& point = work_.end.points[i];
  const Contact& contact = work_.end.contacts[point.contact];
  const PointForceDerivatives& by = work_.implicit->derivatives[i].force;
  const Vec3d n = to_anchor_axes(scene, work_.end, point, {0, 0, 1});
  const double d = point.compliance.tangential_damping;
  const double total = d + input.h * point.compliance.tangential_stiffness;
  const bool sticks = point.force.mode == ContactMode::kStick;
  by_extension_.setZero(scene.nv(), 3);
  Eigen::Matrix3d by_way, by_memory;  // e+ by the extension that goes on from the start's place
  for (int k = 0; k < 3; ++k) {
    Vec3d unit{0, 0, 0};
    unit[k] = 1.0;
    const Vec3d e = to_contact(scene, work_.end, point, unit), across = tangential(unit, n);
    const Vec3d df = by.displacement * Vec3d{-e.x, -e.y, 0.0}, f = contact.frame * df;
    const auto push = [&](int body, double sign) {
      each_column(scene, work_.end.dynamics, body, contact.position, [&](int dof, const Vec3d& S) {
        by_extension_(dof, k) -= sign * dot(S, f);
      });
    };
    push(contact.body_b, 1.0);
    push(contact.body_a, -1.0);
    const Vec3d slid = to_anchor_axes(scene, work_.end, point, {df.x, df.y, 0.0}) *
                       (sticks ? 0.0 : input.h / total);
    const Vec3d way = sticks ? across : slid, kept = sticks ? across : slid + across * (d / total);
    by_way.col(k) << way.x, way.y, way.z;
    by_memory.col(k) << kept.x, kept.y, kept.z;
  }
  const Contact* before = find_contact(work_.start.contacts, contact);
  if (before != nullptr && spring >= 0 &&
      work_.start.points[before - work_.start.contacts.data()].force.mode != ContactMode::kOpen) {
    by_springs_.middleCols<3>(3 * spring) += by_extension_;
    extension_by_springs_.block<3, 3>(3 * i, 3 * spring) = by_memory;
  }
  if (point.kind != PointKind::kMaterial) return;
  const DynamicsWorkspace& start = work_.start.dynamics;
  const Vec3d p = world_point(scene, start, point.point_body, point.core);
  const auto place = [&](int body, double sign) {
    each_column(scene, start, body, p, [&](int dof, const Vec3d& S) {
      const Vec3d x = body_vector(scene, start, point.anchor_body, S) * (sign * point.sign);
      const Eigen::Vector3d moved(x.x, x.y, x.z);
      by_start_.col(dof) += by_extension_ * moved;
      extension_by_start_.block<3, 1>(3 * i, dof) += by_way * moved;
    });
  };
  place(point.point_body, 1.0);
  place(point.anchor_body, -1.0);
}

void ImplicitDerivatives::solve(const CompliantInput& input, RowMajorMatrix& J) {
  const Scene& scene = input.scene;
  const int nv = scene.nv(), ns = static_cast<int>(by_springs_.cols()), n = 3 * nv + ns;
  RowMajorMatrix right = RowMajorMatrix::Zero(nv, n);
  right.leftCols(nv) = by_start_;
  right.middleCols(nv, nv) = by_v_;
  right.rightCols(ns) = by_springs_;
  for (int k = 0; k < nv; ++k) right(k, 2 * nv + k) = work_.end.dynamics.saturated[k] ? 0.0 : -1.0;
  const RowMajorMatrix nu = -by_nu_.partialPivLu().solve(right);
  RowMajorMatrix e = extension_by_nu_ * nu;
  e.leftCols(nv) += extension_by_start_;
  e.rightCols(ns) += extension_by_springs_;
  J.setZero(2 * nv + ns, n);
  J.topLeftCorner(nv, nv).setIdentity();
  J.middleRows(nv, nv) = nu;
  for (std::size_t i = 0; i < springs_.size(); ++i)
    if (springs_[i] >= 0) J.middleRows<3>(2 * nv + 3 * springs_[i]) = e.middleRows<3>(3 * i);
  for (const Tree& tree : scene.trees()) {
    double* q = J.data() + static_cast<std::ptrdiff_t>(tree.v_offset) * n;
    integrate_tangents(tree.view(),
                       Vec3d{0, 0, 0},
                       input.h,
                       work_.nu.data() + tree.v_offset,
                       n,
                       n,
                       q,
                       q + static_cast<std::ptrdiff_t>(nv) * n);
  }
}

bool ImplicitDerivatives::differentiate(const CompliantInput& input,
                                        const State& before,
                                        GradientReport& report,
                                        RowMajorMatrix& J) {
  if (work_.xi.empty()) work_.resize(input.scene);
  work_.outcome.begin();
  state_ = before;
  if (!solve_implicit_step(input, state_, work_) || !known(input)) return false;
  list_springs(before, report.springs);
  fill_passes(input, before);
  const int points = static_cast<int>(work_.end.points.size());
  const int ns = 3 * static_cast<int>(report.springs.size());
  by_springs_.setZero(input.scene.nv(), ns);
  extension_by_springs_.setZero(3 * points, ns);
  springs_.assign(points, -1);
  for (int i = 0; i < points; ++i) {
    const CompliantPoint& point = work_.end.points[i];
    if (point.force.mode == ContactMode::kOpen) continue;
    const SpringName* name = find_contact(report.springs, work_.end.contacts[point.contact]);
    springs_[i] = name == nullptr ? -1 : static_cast<int>(name - report.springs.data());
    add_spring(input, i, springs_[i]);
  }
  solve(input, J);
  count_switches(work_.end, report);
  return true;
}

}  // namespace stiction
