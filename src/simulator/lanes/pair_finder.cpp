#include "simulator/lanes/pair_finder.hpp"

#include "collision/scene/seams.hpp"
#include "collision/scene/sweep.hpp"
#include "collision/scene/touch.hpp"
#include "collision/surface/ball_on_field.hpp"
#include "collision/surface/separation_bound.hpp"
#include "contact/contact_curvature.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace stiction {
namespace {

Vec3d vector_of(const double* x) { return {x[0], x[1], x[2]}; }

/// LanePairPoint::face.
double face_of(const Witness& w) {
  if (w.swept) return 0.0;
  return w.on_face_of_a() ? 1.0 : w.on_face_of_b() ? -1.0 : 0.0;
}
/// LanePairPoint::witness, and back.
constexpr int kKinds = 8;
double number_of(const Witness& w) {
  if (w.swept) return kSweptWitness;
  return static_cast<int>(w.kind) + kKinds * static_cast<int>(w.normal_of);
}
Witness witness_of(double number, double radius) {
  const int n = static_cast<int>(number);
  return {WitnessKind(n % kKinds), radius, false, NormalOf(n / kKinds)};
}

/// All points of a pair are, or none.
bool is_swept(const ManifoldWorkspace& work) {
  const auto& found = work.manifolds;
  return !found.empty() && found[0].count > 0 && found[0].points[0].witness.swept;
}

}  // namespace

PairFinder::PairFinder(const Scene& scene, const SimulatorSettings& settings)
    : scene_(&scene), settings_(settings.collision), dt_(settings.dt) {
  work_.resize(scene);
}

void PairFinder::place(int geometry, const LaneShape& shape) {
  const double* pose = shape.pose;
  work_.poses[geometry] = {{vector_of(pose), vector_of(pose + 3), vector_of(pose + 6)},
                           vector_of(pose + 9)};
  work_.linear[geometry] = vector_of(shape.linear);
  work_.angular[geometry] = vector_of(shape.angular);
  work_.reach[geometry] = shape.reach;
  const Vec3d size = vector_of(shape.size);
  if (std::memcmp(&work_.shapes[geometry].size, &size, sizeof size) != 0)
    work_.take_size(geometry, size);
}

int PairFinder::find(const LanePairQuery& query, LanePairPoint* out, int most) {
  const auto finite = [](const LaneShape& s) {
    return std::all_of(s.pose, s.pose + 12, [](double x) { return std::isfinite(x); }) &&
           std::isfinite(s.reach);
  };
  if (!finite(query.a) || !finite(query.b)) return -1;
  place(query.geometry_a, query.a);
  place(query.geometry_b, query.b);
  const double near = contact_target(settings_.margin, dt_, query.gravity);
  find_pair_points(
      *scene_, query.geometry_a, query.geometry_b, settings_, dt_, near, query.rest_offset, work_);
  const int count = static_cast<int>(work_.points.size());
  if (count > most) return -1;
  const auto flat = [&](int g) {
    const ShapeType type = scene_->geometries()[g].shape.type;
    return type == ShapeType::kHalfSpace || is_surface(type);
  };
  for (int k = 0; k < count; ++k) {
    const PairPoint& p = work_.points[k];
    const TouchShift touch = touch_shift(*scene_,
                                         query.geometry_a,
                                         query.geometry_b,
                                         is_swept(work_.manifold),
                                         p.distance - query.rest_offset,
                                         query.rest_offset);
    out[k] = {{p.position.x, p.position.y, p.position.z},
              {p.normal.x, p.normal.y, p.normal.z},
              p.distance,
              static_cast<double>(p.feature),
              touch.share,
              touch.fixed,
              face_of(p.witness),
              p.witness.radius,
              radius_by_gap(flat(p.witness.on_face_of_a() ? query.geometry_a : query.geometry_b)),
              number_of(p.witness)};
  }
  return count;
}

int PairFinder::find_ball(const LaneBallQuery& query, LanePairPoint& out) {
  const auto vector = [&](const double* x) {
    return Vec3d{x[0], x[query.stride], x[2 * query.stride]};
  };
  const auto column = [&](int k) { return vector(query.pose + 3 * k * query.stride); };
  const Transform X{{column(0), column(1), column(2)}, column(3)};
  const Vec3d centre = vector(query.centre);
  const double margin = query.rest_offset + std::max(settings_.margin, query.reach);
  const detail::Surface field(scene_->geometries()[query.geometry].shape);
  const auto look = [&](const Vec3d& p, double within) {
    const Vec3d p_F = transpose_times(X.R, p - X.p);
    return detail::ball_on_field(field, query.radius, p_F, within, ball_points_);
  };
  if (!look(centre, margin)) return -1;
  if (ball_points_.empty()) return 0;
  const double target = query.rest_offset + contact_target(settings_.margin, dt_, query.gravity);
  if (margin > target && detail::deepest(ball_points_) > target) {
    // As first_approach_of_surfaces() does it.
    const Vec3d linear = vector(query.linear);
    const auto gap = [&](double time, double reach) {
      return look(centre + linear * time, reach) ? detail::deepest(ball_points_) : std::nan("");
    };
    double time;
    const auto approach = detail::follow_approach(norm(linear), dt_, target, time, gap);
    return approach == detail::Approach::kApart ? 0 : -1;
  }
  if (ball_points_.size() > 1) return -1;
  const SurfacePoint& p = ball_points_[0];
  const Witness witness = detail::witness_of(p, query.field_is_a);
  const Vec3d away = X.R * p.normal, normal = query.field_is_a ? away : -away;
  const Vec3d position =
      detail::midpoint(p, X) + normal * ((query.field_is_a ? -0.5 : 0.5) * p.gap);
  out = {{position.x, position.y, position.z},
         {normal.x, normal.y, normal.z},
         p.gap,
         static_cast<double>(p.feature),
         query.field_is_a ? 1.0 : -1.0,
         0.0,
         face_of(witness),
         witness.radius,
         radius_by_gap(true),
         number_of(witness)};
  return 1;
}

void PairFinder::maps(const LanePairQuery& query, const LaneFeature& at, double* out) {
  place(query.geometry_a, query.a);
  place(query.geometry_b, query.b);
  Contact c{};
  c.geometry_a = query.geometry_a;
  c.geometry_b = query.geometry_b;
  c.body_a = scene_->geometries()[c.geometry_a].body;
  c.body_b = scene_->geometries()[c.geometry_b].body;
  c.feature = static_cast<std::uint32_t>(at.feature);
  c.position = vector_of(at.position);
  c.frame.c2 = vector_of(at.normal);
  c.gap = at.gap;
  c.witness = witness_of(at.witness, at.ball);
  c.material.rest_offset = query.rest_offset;
  const FeatureMaps<double> m = feature_maps(c,
                                             work_.shapes[c.geometry_a],
                                             work_.poses[c.geometry_a],
                                             work_.shapes[c.geometry_b],
                                             work_.poses[c.geometry_b]);
  for (const Mat3d* map : {&m.position_u, &m.position_w, &m.normal_u, &m.normal_w}) {
    for (int k = 0; k < 9; ++k) *out++ = map->column(k / 3)[k % 3];
  }
  *out++ = m.bend_a;
  *out = m.bend_b;
}

void PairFinder::mark_covered(LaneSeamPoint* points, int count) {
  std::vector<SeamPoint>& seams = work_.seams.points;
  seams.clear();
  for (int i = 0; i < count; ++i) {
    const LaneSeamPoint& p = points[i];
    seams.push_back(
        {p.geometry_a, p.geometry_b, vector_of(p.position), vector_of(p.normal), p.distance});
  }
  stiction::mark_covered(*scene_, dt_, work_);
  for (int i = 0; i < count; ++i) points[i].covered = seams[i].covered;
}

void PairFinder::give_to(LaneScene& scene) {
  scene.finder.self = this;
  scene.find = [](void* finder, const LanePairQuery& query, LanePairPoint* out, int most) {
    return static_cast<PairFinder*>(finder)->find(query, out, most);
  };
  scene.find_ball = [](void* finder, const LaneBallQuery& query, LanePairPoint& out) {
    return static_cast<PairFinder*>(finder)->find_ball(query, out);
  };
  scene.finder.maps =
      [](void* finder, const LanePairQuery& query, const LaneFeature& at, double* out) {
        static_cast<PairFinder*>(finder)->maps(query, at, out);
      };
  scene.finder.place = [](void* finder, int geometry, const LaneShape& shape) {
    static_cast<PairFinder*>(finder)->place(geometry, shape);
  };
  scene.finder.mark_covered = [](void* finder, LaneSeamPoint* points, int count) {
    static_cast<PairFinder*>(finder)->mark_covered(points, count);
  };
}

}  // namespace stiction
