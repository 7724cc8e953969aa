#include "errors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stiction::bench {
namespace {

using Wide = long double;

Wide along(const Mat3d& R, const Vec3d& p, const Vec3d& x, const Wide n[3]) {
  Wide sum = 0;
  for (int i = 0; i < 3; ++i) {
    const Wide world = Wide(R.c0[i]) * x.x + Wide(R.c1[i]) * x.y + Wide(R.c2[i]) * x.z + p[i];
    sum += n[i] * world;
  }
  return sum;
}

// Width of the gap between the hulls along a direction: a lower bound of the signed distance.
Wide gap_along(const Shapes& shapes, const Query& q, const Vec3d& direction) {
  Wide n[3] = {direction.x, direction.y, direction.z};
  const Wide length = std::sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  for (Wide& x : n) x /= length;
  Wide far_a = -std::numeric_limits<Wide>::infinity(), near_b = -far_a;
  for (const Vec3d& v : shapes[q.a].mesh->vertices)
    far_a = std::max(far_a, along(q.X_WA.R, q.X_WA.p, v, n));
  for (const Vec3d& v : shapes[q.b].mesh->vertices)
    near_b = std::min(near_b, along(q.X_WB.R, q.X_WB.p, v, n));
  return near_b - far_a;
}

bool finite(const Vec3d& x) { return std::isfinite(x.x + x.y + x.z); }

// Infinite unless the answer is a number everywhere.
void judge_geometry(const Shapes& shapes,
                    const std::vector<FacePlanes>& planes,
                    const Query& q,
                    const Answer& answer,
                    Errors& errors) {
  const double d = answer.distance;
  const Vec3d &n = answer.normal, &a = answer.witness_a, &b = answer.witness_b;
  if (!std::isfinite(d) || !finite(n) || !finite(a) || !finite(b) || squared_norm(n) < 0.5) {
    errors.normal = errors.witness = errors.outside = HUGE_VAL;
    return;
  }
  errors.normal = std::max(errors.normal, double(std::abs(gap_along(shapes, q, n) - d)));
  errors.witness = std::max(errors.witness, norm(b - a - n * d));
  errors.outside = std::max({errors.outside,
                             beyond(planes[q.a], inverse(q.X_WA) * a),
                             beyond(planes[q.b], inverse(q.X_WB) * b)});
}

}  // namespace

Judge::Judge(const Shapes& shapes) : shapes_(shapes) {
  for (const Shape& s : shapes) planes_.push_back(face_planes(s));
}

Truth Judge::truth(const std::vector<Query>& queries, const Table& table) const {
  Truth truth;
  for (std::size_t k = 0; k < queries.size(); ++k) {
    const Answer best = reference(shapes_, queries[k]);
    Wide lower = gap_along(shapes_, queries[k], best.normal);
    if (best.distance > 0.0) {
      const Wide upper = norm(best.witness_b - best.witness_a);
      truth.bracket = std::max(truth.bracket, double(upper - lower));
    } else {
      for (const auto& [name, m] : table) {
        const Vec3d& n = m.answers[k].normal;
        if (finite(n) && squared_norm(n) > 0.5)
          lower = std::max(lower, gap_along(shapes_, queries[k], n));
      }
    }
    truth.distance.push_back(double(lower));
  }
  return truth;
}

Errors Judge::errors(const std::vector<Query>& queries,
                     const Measured& measured,
                     const Truth& truth) const {
  std::vector<double> errors;
  Errors result;
  for (std::size_t k = 0; k < truth.distance.size(); ++k) {
    const Answer& answer = measured.answers[k];
    const double d = answer.distance, exact = truth.distance[k];
    errors.push_back(std::isfinite(d) ? std::abs(d - exact) : HUGE_VAL);
    if (std::abs(exact) > 1e-8 && (d > 0.0) != (exact > 0.0)) ++result.wrong_signs;
    judge_geometry(shapes_, planes_, queries[k], answer, result);
  }
  if (errors.empty()) return result;
  std::sort(errors.begin(), errors.end());
  result.median = errors[errors.size() / 2];
  result.p99 = errors[errors.size() * 99 / 100];
  result.worst = errors.back();
  return result;
}

}  // namespace stiction::bench
