#include "integrator/exponential_published.hpp"

#include "stiction/contact/cone.hpp"

#include "integrator/compliant_substep.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace stiction {
using namespace compliance;
namespace {

/// Onto the cone: eq. (24)'s operator as its code has it clips f_T along itself and leaves f_N, the
/// other is the nearest point.
Vec3d projected(Vec3d f, double mu, bool euclidean) {
  euclidean ? circular::project<3>(mu, &f.x) : circular::project_disk<3>(mu, &f.x);
  return f;
}

/// Eq. (30): h [A a x0 0; 0 0 1 0; 0 0 0 1; 0], x = (p - p0, p'), of the active points of an
/// island, and the two columns whose images are int x and intint x.
void augment(const CompliantInput& input,
             const CompliantSystem& system,
             int first,
             int n,
             PublishedScratch& work) {
  const double h = input.h;
  const bool from_surface = input.settings.chosen_law() == CompliantLaw::kContinuous;
  const int m = 3 * static_cast<int>(work.active.size()), size = 2 * m + 3;
  work.A.assign(static_cast<std::size_t>(size) * size, 0.0);
  work.columns.assign(2 * static_cast<std::size_t>(size), 0.0);
  const auto A = [&](int i, int j) -> double& {
    return work.A[static_cast<std::size_t>(i) * size + j];
  };
  for (int r = 0; r < m; ++r) {
    const CompliantPoint& p = system.points[work.active[r / 3]];
    const int row = 3 * (work.active[r / 3] - first) + r % 3;
    A(r, m + r) = h;
    A(m + r, 2 * m) = h * p.free_acceleration[r % 3];
    const bool gap = from_surface && r % 3 == 2;
    A(r, 2 * m + 1) = h * (gap ? p.motion.gap : -p.motion.extension[r % 3]);
    A(m + r, 2 * m + 1) = h * p.motion.velocity[r % 3];
    for (int c = 0; c < m; ++c) {
      const PointCompliance& k = system.points[work.active[c / 3]].compliance;
      const bool normal = c % 3 == 2;
      const double y =
          work.Y[static_cast<std::size_t>(row) * 3 * n + 3 * (work.active[c / 3] - first) + c % 3];
      A(m + r, c) = -h * y * (normal ? k.stiffness : k.tangential_stiffness);
      A(m + r, m + c) = -h * y * (normal ? k.damping : k.tangential_damping);
    }
  }
  A(2 * m, 2 * m + 1) = A(2 * m + 1, 2 * m + 2) = h;
  work.columns[2 * (2 * m + 1)] = work.columns[2 * (2 * m + 2) + 1] = 1.0;
}

/// The average force of each point and the average of the average, eqs (23) and (25), projected.
void average_forces(const CompliantInput& input,
                    const CompliantSystem& system,
                    PublishedScratch& work) {
  const CompliantSettings& how = input.settings;
  const int m = 3 * static_cast<int>(work.active.size());
  const bool euclidean = how.projection == "euclidean";
  const double once = 1.0 / input.h, twice = 2.0 / (input.h * input.h);
  for (std::size_t a = 0; a < work.active.size(); ++a) {
    const CompliantPoint& p = system.points[work.active[a]];
    const PointCompliance& c = p.compliance;
    Vec3d f[2];
    for (int r = 0; r < 3; ++r) {
      const std::size_t row = 3 * a + r;
      const double k = r == 2 ? c.stiffness : c.tangential_stiffness,
                   d = r == 2 ? c.damping : c.tangential_damping;
      for (int i = 0; i < 2; ++i)
        f[i][r] = -k * work.columns[2 * row + i] - d * work.columns[2 * (m + row) + i];
    }
    const Vec3d mean = projected(f[0] * once, c.friction, euclidean);
    const Vec3d again = how.double_integral ? projected(f[1] * twice, c.friction, euclidean) : mean;
    for (int r = 0; r < 3; ++r) {
      work.force[3 * work.active[a] + r] = mean[r];
      work.again[3 * work.active[a] + r] = again[r];
    }
  }
}

void solve_islands(const CompliantInput& input, CompliantSystem& system, PublishedScratch& work) {
  const MatrixExponentialSettings settings{input.settings.max_products, input.settings.balancing};
  work.force.assign(3 * system.points.size(), 0.0);
  work.again.assign(3 * system.points.size(), 0.0);
  for (int island = 0; island < system.delassus.num_islands(); ++island) {
    const int first = system.delassus.island_start[island],
              last = system.delassus.island_start[island + 1];
    work.active.clear();
    for (int i = first; i < last; ++i) {
      if (system.points[i].motion.gap <= 0.0) work.active.push_back(i);
    }
    if (work.active.empty()) continue;
    work.Y.resize(9 * static_cast<std::size_t>(last - first) * (last - first));
    dense_delassus(system, first, last, work.Y.data());
    augment(input, system, first, last - first, work);
    work.exponential.apply(work.A.data(),
                           6 * static_cast<int>(work.active.size()) + 3,
                           work.columns.data(),
                           2,
                           settings);
    average_forces(input, system, work);
  }
}

/// Eqs (24) and (26): v+ = v + h (a + M^-1 J^T f), the displacement with the other force.
void move(const CompliantInput& input, const State& state, CompliantWorkspace& work) {
  const double h = input.h;
  PublishedScratch& scratch = work.published;
  const int nv = input.scene.nv();
  scratch.change.resize(nv);
  apply_forces(input.scene, work.start, scratch.force, scratch.change.data());
  for (int k = 0; k < nv; ++k)
    work.nu[k] = state.v[k] + h * (work.start.acceleration[k] + scratch.change[k]);
  apply_forces(input.scene, work.start, scratch.again, scratch.change.data());
  for (int k = 0; k < nv; ++k) {
    const double a = work.start.acceleration[k] + scratch.change[k];
    work.xi[k] = h * (state.v[k] + 0.5 * h * a);
  }
}

/// A matrix of all points that act, each with 2 rows an axis: at most.
bool pays_exponentials(const CompliantInput& input, CompliantWorkspace& work) {
  constexpr double kProducts = 16.0;
  WorkAccount& account = work.account();
  const std::vector<CompliantPoint>& points = work.start.points;
  if (account.is_open()) account.allow(3 * static_cast<int>(points.size()), 0.0);
  account.charge(evaluation_work(input.scene, work.start));
  const auto acts = [](const CompliantPoint& p) { return p.motion.gap <= 0.0; };
  const double size = 6.0 * std::count_if(points.begin(), points.end(), acts);
  const int products = input.settings.max_products;
  return account.take((products < 0 ? kProducts : products + 2.0) * size * size * size);
}

}  // namespace

void exponential_published(const CompliantInput& input, State& state, CompliantWorkspace& work) {
  CompliantSystem& start = work.start;
  locate_start(input, state, start);
  hold_rigid_rows(input, state, work);
  accelerate(input, false, 0.5 * input.h, start);
  if (!pays_exponentials(input, work)) {
    work.unpaid = input.h;
    return;
  }
  assemble(input, start);
  const CompliantLaw law = input.settings.chosen_law();
  for (CompliantPoint& p : start.points)
    p.motion.extension = settled_extension(law, p.compliance, p.motion, p.force);

  solve_islands(input, start, work.published);
  move(input, state, work);
  conclude(input, PositionRule::kSecondOrder, work, state);

  const double* f = work.published.force.data();
  for (const CompliantPoint& p : start.points) {
    const Vec3d force{f[0], f[1], f[2]};
    const Anchor anchor = anchor_after(input, work, p, force, p.motion.gap <= 0.0);
    remember_point(input, start, p, {force * input.h}, anchor, work, state);
    f += 3;
  }
}

}  // namespace stiction
