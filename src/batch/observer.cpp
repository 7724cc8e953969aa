#include "stiction/batch/observer.hpp"

#include "batch/batch_impl.hpp"
#include "batch/contact_wrenches.hpp"
#include "batch/frame_motion.hpp"
#include "batch/ground_scan.hpp"
#include "math/number_text.hpp"
#include "math/quaternion.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace stiction {
namespace {

constexpr int kRootQ = 7, kRootV = 6;  ///< entries of a free-flyer, the first body
constexpr int kAxes = 3, kImu = 6, kPose = 7, kTwist = 6;

enum class Kind {
  kQ,
  kV,
  kTarget,
  kGravity,
  kCentre,
  kContact,
  kForce,
  kWrench,
  kImu,
  kPose,
  kVelocity,
  kHeights
};

/// A run of columns.
struct Column {
  Kind kind;
  int from;   ///< of rows that are copied: the first entry
  int width;  ///< may be 0: nothing to show
  const char* needs = "";
  bool of_root = false;
  int first = 0;  ///< column
};

Column column_of(const std::string& name, const Scene& scene, const ObserverSettings& s) {
  const int nq = scene.nq(), nv = scene.nv();
  const int feet = static_cast<int>(s.feet.size()), frames = static_cast<int>(s.frames.size());
  const int points = static_cast<int>(s.scan.points.size() / 2);
  const char *some_feet = "feet, names of geometries", *some_frames = "frames, names of frames";
  if (name == "v_body") return {Kind::kV, 0, kAxes, "", true};
  if (name == "w_body") return {Kind::kV, kAxes, kAxes, "", true};
  if (name == "gravity") return {Kind::kGravity, 0, kAxes, "", true};
  if (name == "height") return {Kind::kQ, 2, 1, "", true};
  if (name == "joint_q") return {Kind::kQ, kRootQ, nq - kRootQ, "", true};
  if (name == "joint_v") return {Kind::kV, kRootV, nv - kRootV, "", true};
  if (name == "q") return {Kind::kQ, 0, nq};
  if (name == "v") return {Kind::kV, 0, nv};
  if (name == "target") return {Kind::kTarget, 0, nv};
  if (name == "contact") return {Kind::kContact, 0, feet, some_feet};
  if (name == "force") return {Kind::kForce, 0, kAxes * feet, some_feet};
  if (name == "wrench") return {Kind::kWrench, 0, kTwist * feet, some_feet};
  if (name == "com") return {Kind::kCentre, 0, scene.trees().empty() ? 0 : kAxes, "a body"};
  if (name == "imu") return {Kind::kImu, 0, s.imu.body < 0 ? 0 : kImu, "imu, the name of a frame"};
  if (name == "pose") return {Kind::kPose, 0, kPose * frames, some_frames};
  if (name == "velocity") return {Kind::kVelocity, 0, kTwist * frames, some_frames};
  if (name == "heights") return {Kind::kHeights, 0, points, "scan, a HeightScan"};
  std::string names;
  for (const std::string& n : observation_names()) names += (names.empty() ? "" : ", ") + n;
  throw std::invalid_argument("'" + name + "' is no observation; there are: " + names);
}

std::vector<Column> columns_of(const Scene& scene, const ObserverSettings& s) {
  const bool flies = !scene.trees().empty() && scene.trees()[0].free_root;
  std::vector<Column> out;
  int first = 0;
  for (std::size_t i = 0; i < s.names.size(); ++i) {
    const std::string& name = s.names[i];
    Column column = column_of(name, scene, s);
    if (std::find(s.names.begin(), s.names.begin() + static_cast<std::ptrdiff_t>(i), name) !=
        s.names.begin() + static_cast<std::ptrdiff_t>(i))
      throw std::invalid_argument("'" + name + "' is given twice");
    if (column.of_root && !flies)
      throw std::invalid_argument("'" + name +
                                  "' needs a free-flyer as the first joint of the scene");
    if (column.width == 0 && *column.needs != '\0')
      throw std::invalid_argument("'" + name + "' needs " + column.needs);
    column.first = first;
    first += column.width;
    out.push_back(column);
  }
  return out;
}

void check_frame(const BodyFrame& frame, const Scene& scene, const char* field, int lowest) {
  check_range(field, frame.body, lowest, scene.num_bodies() - 1);
  const Transform& X = frame.X_BF;
  for (const Vec3d& column : {X.p, X.R.c0, X.R.c1, X.R.c2}) {
    for (int k = 0; k < 3; ++k) {
      if (!std::isfinite(column[k]))
        throw std::invalid_argument(std::string(field) + ": a number of its placement is " +
                                    number_text(column[k]) + ": must be finite");
    }
  }
}

double* put(const Vec3d& x, double* to) {
  to[0] = x.x;
  to[1] = x.y;
  to[2] = x.z;
  return to + kAxes;
}

/// The direction of a unit vector of the world in the axes of a free-flyer.
Vec3d in_body(const double* q, const Vec3d& u) {
  const double a = q[3], b = q[4], c = q[5], w = q[6];
  const double tx = 2.0 * (c * u.y - b * u.z), ty = 2.0 * (a * u.z - c * u.x),
               tz = 2.0 * (b * u.x - a * u.y);
  return {u.x + w * tx + c * ty - b * tz,
          u.y + w * ty + a * tz - c * tx,
          u.z + w * tz + b * tx - a * ty};
}

}  // namespace

const std::vector<std::string>& observation_names() {
  static const std::vector<std::string> names{"v_body",
                                              "w_body",
                                              "gravity",
                                              "height",
                                              "joint_q",
                                              "joint_v",
                                              "q",
                                              "v",
                                              "target",
                                              "contact",
                                              "force",
                                              "wrench",
                                              "com",
                                              "imu",
                                              "pose",
                                              "velocity",
                                              "heights"};
  return names;
}

struct Observer::Impl {
  /// What one thread works with.
  struct Part {
    explicit Part(const Scene& scene) : now(scene), before(scene) {}
    FrameMotion now, before;
    std::unique_ptr<ContactWrenches> wrenches;  ///< if asked for
    Parameters own;                             ///< of a world with fields of its own
    std::vector<double> row;
  };
  /// The world at hand.
  struct World {
    int number;
    WorldRows rows;
    const Parameters* given;  ///< by set_parameters(): placements; null: the scene's
    const Parameters* own;    ///< with masses if they count; null: the scene's
    Vec3d gravity;
  };

  Impl(Batch& batch, const ObserverSettings& settings);
  bool asks(std::initializer_list<Kind> kinds) const {
    return std::any_of(columns.begin(), columns.end(), [&](const Column& c) {
      return std::find(kinds.begin(), kinds.end(), c.kind) != kinds.end();
    });
  }
  World world(int number, Part& part) const;
  void write(int number, Part& part) const;
  void write(const Column& column, const World& world, const Part& part, double* to) const;
  void write_contacts(Kind kind, const World& world, const Part& part, double* to) const;
  const std::vector<AppliedContact>& applied(const World& world, const Part& part) const;
  void write_wrenches(const World& world, const Part& part, double* to) const;
  void write_imu(const World& world, const Part& part, double* to) const;
  void write_frames(Kind kind, const Part& part, double* to) const;

  Batch::Impl& batch;
  const Scene& scene;
  ObserverSettings settings;
  std::vector<Column> columns;
  int width = 0;
  bool moving = false, looking_back = false;  ///< frames are asked for now, and a step before
  bool weighing = false;                      ///< masses count
  std::vector<int> foot_of;                   ///< [geometries] -1: none
  std::unique_ptr<GroundScan> scan;
  std::vector<std::unique_ptr<Part>> parts;
};

Observer::Impl::Impl(Batch& of, const ObserverSettings& s)
    : batch(*of.impl_), scene(of.scene()), settings(s), columns(columns_of(scene, s)) {
  batch.check_idle("observe");
  if (!columns.empty()) width = columns.back().first + columns.back().width;
  moving = asks({Kind::kImu, Kind::kPose, Kind::kVelocity, Kind::kHeights, Kind::kCentre});
  looking_back = asks({Kind::kImu, Kind::kForce, Kind::kWrench});
  foot_of = geometry_columns(scene, s.feet.data(), static_cast<int>(s.feet.size()));
  weighing = asks({Kind::kCentre, Kind::kWrench});
  check_frame(s.reference, scene, "reference", -1);
  check_frame(s.imu, scene, "imu", -1);
  for (const BodyFrame& f : s.frames) check_frame(f, scene, "frames", 0);
  if (asks({Kind::kHeights})) {
    check_frame(s.scan.frame, scene, "scan.frame", 0);
    scan = std::make_unique<GroundScan>(scene, s.scan);
  }
  if (looking_back) batch.memory.last_steps().keep(batch.arrays.q, batch.arrays.v);
  for (int part = 0; part < batch.pool->parts(); ++part) {
    parts.push_back(std::make_unique<Part>(scene));
    parts.back()->row.resize(width);
    if (asks({Kind::kWrench}))
      parts.back()->wrenches = std::make_unique<ContactWrenches>(scene, batch.settings);
  }
}

Observer::Impl::World Observer::Impl::world(int number, Part& part) const {
  WorldParameters& parameters = batch.range_of(number).parameters();
  const int place = batch.place(number);
  const WorldRows rows = batch.memory.rows().from(number);
  if (!parameters.own(place)) return {number, rows, nullptr, nullptr, scene.parameters.gravity};
  if (weighing) {
    parameters.read(place, part.own);
    return {number, rows, parameters.whole(place), &part.own, part.own.gravity};
  }
  double g[kAxes];
  parameters.read(WorldField::kGravity, place, g);
  const Parameters* given = parameters.whole(place);
  return {number, rows, given, given, {g[0], g[1], g[2]}};
}

void Observer::Impl::write(int number, Part& part) const {
  const World at = world(number, part);
  const Parameters& p = at.own != nullptr ? *at.own : scene.parameters;
  if (moving) part.now.set(p, at.rows.q, at.rows.v);
  if (looking_back) {
    LastSteps& last = *at.rows.last_steps;
    part.before.set(p, last.q(number), last.v(number));
  }
  for (const Column& column : columns) write(column, at, part, part.row.data() + column.first);
}

void Observer::Impl::write(const Column& column,
                           const World& world,
                           const Part& part,
                           double* to) const {
  const WorldRows& rows = world.rows;
  switch (column.kind) {
    case Kind::kQ:
      std::copy_n(rows.q + column.from, column.width, to);
      return;
    case Kind::kV:
      std::copy_n(rows.v + column.from, column.width, to);
      return;
    case Kind::kTarget:
      std::copy_n(rows.position_target, column.width, to);
      return;
    case Kind::kGravity:
      put(in_body(rows.q, world.gravity * (1.0 / std::max(norm(world.gravity), 1e-300))), to);
      return;
    case Kind::kContact:
    case Kind::kForce:
      std::fill_n(to, column.width, 0.0);
      write_contacts(column.kind, world, part, to);
      return;
    case Kind::kWrench:
      std::fill_n(to, column.width, 0.0);
      write_wrenches(world, part, to);
      return;
    case Kind::kCentre:
      put(part.now.centre_of_mass(0), to);
      return;
    case Kind::kImu:
      write_imu(world, part, to);
      return;
    case Kind::kPose:
    case Kind::kVelocity:
      write_frames(column.kind, part, to);
      return;
    case Kind::kHeights:
      scan->heights(world.given, part.now.pose(scan->frame()), to);
      return;
  }
}

void Observer::Impl::write_contacts(Kind kind,
                                    const World& world,
                                    const Part& part,
                                    double* to) const {
  const double dt = batch.settings.dt;
  const WorldRange& range = batch.range_of(world.number);
  const int place = batch.place(world.number);
  const bool kept = range.kept_contacts(place) != nullptr;
  const auto add = [&](int a, int b, const Vec3d& impulse) {
    if (foot_of[a] < 0 && foot_of[b] < 0) return;
    if (kind == Kind::kContact) {
      const double pushes = squared_norm(impulse) > 0.0 ? 1.0 : 0.0;
      for (const int g : {a, b}) {
        if (foot_of[g] >= 0) to[foot_of[g]] = std::max(to[foot_of[g]], pushes);
      }
      return;
    }
    const BodyFrame axes{kept ? -1 : scene.geometries()[a].body};
    const Vec3d force = part.before.pose(axes).R * impulse * (1.0 / dt);
    for (int k = 0; k < kAxes; ++k) {
      if (foot_of[a] >= 0) to[kAxes * foot_of[a] + k] -= force[k];
      if (foot_of[b] >= 0) to[kAxes * foot_of[b] + k] += force[k];
    }
  };
  range.each_contact(place, ContactVisit::by(add));
}

const std::vector<AppliedContact>& Observer::Impl::applied(const World& world,
                                                           const Part& part) const {
  const WorldRange& range = batch.range_of(world.number);
  const int place = batch.place(world.number);
  if (const auto* kept = range.kept_contacts(place)) return *kept;
  range.get_state(place, part.wrenches->state());
  return part.wrenches->find(world.own != nullptr ? *world.own : scene.parameters, part.before);
}

/// About the centre of mass of the tree of the geometry's body; of the world's, its origin.
void Observer::Impl::write_wrenches(const World& world, const Part& part, double* to) const {
  for (const AppliedContact& x : applied(world, part)) {
    for (const auto& [geometry, sign] : {std::pair{x.geometry_a, -1.0}, {x.geometry_b, 1.0}}) {
      if (foot_of[geometry] < 0) continue;
      const int body = scene.geometries()[geometry].body;
      const Vec3d centre =
          body < 0 ? Vec3d{0, 0, 0} : part.before.centre_of_mass(scene.tree_of_body(body));
      const Vec3d force = x.force * sign;
      const Vec3d moment = x.moment * sign + cross(x.point - centre, force);
      double* own = to + kTwist * foot_of[geometry];
      for (int k = 0; k < kAxes; ++k) {
        own[k] += force[k];
        own[kAxes + k] += moment[k];
      }
    }
  }
}

void Observer::Impl::write_imu(const World& world, const Part& part, double* to) const {
  const double* rate = world.rows.last_steps->acceleration(world.number);
  to = put(part.before.specific_force(settings.imu, rate, world.gravity), to);
  put(transpose_times(part.now.pose(settings.imu).R, part.now.turn(settings.imu)), to);
}

void Observer::Impl::write_frames(Kind kind, const Part& part, double* to) const {
  const Transform X_WR = part.now.pose(settings.reference);
  for (const BodyFrame& frame : settings.frames) {
    if (kind == Kind::kVelocity) {
      to = put(transpose_times(X_WR.R, part.now.velocity(frame)), to);
      to = put(transpose_times(X_WR.R, part.now.turn(frame)), to);
      continue;
    }
    const Transform X_WF = part.now.pose(frame);
    to = put(transpose_times(X_WR.R, X_WF.p - X_WR.p), to);
    quaternion_from_rotation(transpose_times(X_WR.R, X_WF.R), to);
    const double sign = to[3] < 0.0 ? -1.0 : 1.0;
    for (int k = 0; k < 4; ++k) *to++ *= sign;
  }
}

Observer::Observer(Batch& batch, const ObserverSettings& settings)
    : impl_(std::make_unique<Impl>(batch, settings)) {}
Observer::~Observer() = default;

int Observer::columns() const { return impl_->width; }

std::vector<int> Observer::places() const {
  std::vector<int> out;
  for (const Column& c : impl_->columns) out.push_back(c.first);
  out.push_back(impl_->width);
  return out;
}

template <class Real>
void Observer::observe(Real* out, std::ptrdiff_t stride) const {
  const Impl& x = *impl_;
  x.batch.check_idle("observe");
  x.batch.pool->run(
      [&](int part) {
        Impl::Part& own = *x.parts[part];
        for (int world = x.batch.first[part]; world < x.batch.first[part + 1]; ++world) {
          x.write(world, own);
          Real* to = out + world * stride;
          for (int k = 0; k < x.width; ++k) to[k] = static_cast<Real>(own.row[k]);
        }
      },
      [] {});
}
template void Observer::observe(float*, std::ptrdiff_t) const;
template void Observer::observe(double*, std::ptrdiff_t) const;

}  // namespace stiction
