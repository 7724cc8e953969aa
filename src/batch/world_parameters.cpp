#include "batch/world_parameters.hpp"

#include "math/number_text.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace stiction {
namespace {

/// The array of Parameters that a field by dof is.
std::vector<double> Parameters::* array_of(WorldField field) {
  switch (field) {
    case WorldField::kArmature:
      return &Parameters::armature;
    case WorldField::kDamping:
      return &Parameters::damping;
    case WorldField::kDryFriction:
      return &Parameters::dry_friction;
    case WorldField::kLower:
      return &Parameters::lower;
    case WorldField::kUpper:
      return &Parameters::upper;
    case WorldField::kKp:
      return &Parameters::kp;
    case WorldField::kKd:
      return &Parameters::kd;
    default:
      return &Parameters::effort_limit;
  }
}

void set_entry(WorldField field, int i, double x, Parameters& p) {
  switch (field) {
    case WorldField::kFriction:
      p.material[i].friction = x;
      return;
    case WorldField::kRestitution:
      p.material[i].restitution = x;
      return;
    case WorldField::kMassScale: {
      Sym3d& I = p.inertia[i];
      for (double* m : {&p.mass[i], &I.xx, &I.xy, &I.yy, &I.xz, &I.yz, &I.zz}) *m *= x;
      return;
    }
    case WorldField::kGravity:
      p.gravity[i] = x;
      return;
    default:
      (p.*array_of(field))[i] = x;
  }
}

double entry(WorldField field, int i, const Parameters& p) {
  switch (field) {
    case WorldField::kFriction:
      return p.material[i].friction;
    case WorldField::kRestitution:
      return p.material[i].restitution;
    case WorldField::kMassScale:
      return 1.0;
    case WorldField::kGravity:
      return p.gravity[i];
    default:
      return (p.*array_of(field))[i];
  }
}

void check_entry(WorldField field, int i, double x) {
  const bool scale = field == WorldField::kMassScale;
  if (std::isnan(x) || (scale && !(x > 0.0 && std::isfinite(x))))
    throw std::invalid_argument(std::string(world_fields()[static_cast<int>(field)]) + "[" +
                                std::to_string(i) + "] = " + number_text(x) +
                                (scale ? ": must be > 0 and finite" : ": must be a number"));
}

constexpr double kNotAssigned = std::numeric_limits<double>::quiet_NaN();

}  // namespace

const std::array<const char*, kWorldFields>& world_fields() {
  static constexpr std::array<const char*, kWorldFields> names{"friction",
                                                               "restitution",
                                                               "mass_scale",
                                                               "armature",
                                                               "damping",
                                                               "dry_friction",
                                                               "lower",
                                                               "upper",
                                                               "kp",
                                                               "kd",
                                                               "effort_limit",
                                                               "gravity",
                                                               "command_delay",
                                                               "motor_time"};
  return names;
}

int world_field_size(WorldField field, const Scene& scene) {
  switch (field) {
    case WorldField::kFriction:
    case WorldField::kRestitution:
      return static_cast<int>(scene.geometries().size());
    case WorldField::kMassScale:
      return scene.num_bodies();
    case WorldField::kGravity:
      return 3;
    default:
      return scene.nv();
  }
}

WorldParameters::WorldParameters(const Scene& scene, int worlds)
    : scene_(&scene), worlds_(worlds), own_(worlds, 0), whole_(worlds) {}

const Parameters& WorldParameters::base(int world) const {
  return whole_[world] != nullptr ? *whole_[world] : scene_->parameters;
}

void WorldParameters::read(int world, Parameters& out) const {
  out = base(world);
  for (int f = 0; f < kParameterFields; ++f) {
    if (fields_[f].empty()) continue;
    const auto field = static_cast<WorldField>(f);
    const int size = world_field_size(field, *scene_);
    const double* values = fields_[f].data() + static_cast<std::size_t>(world) * size;
    for (int i = 0; i < size; ++i) {
      if (!std::isnan(values[i])) set_entry(field, i, values[i], out);
    }
  }
}

void WorldParameters::read(WorldField field, int world, double* values) const {
  const int size = world_field_size(field, *scene_);
  const std::vector<double>& assigned = fields_[static_cast<int>(field)];
  for (int i = 0; i < size; ++i) {
    const double own =
        assigned.empty() ? kNotAssigned : assigned[static_cast<std::size_t>(world) * size + i];
    values[i] = std::isnan(own) ? entry(field, i, base(world)) : own;
  }
}

void WorldParameters::set(int world, const Parameters& parameters) {
  scene_->validate(parameters);
  whole_[world] = std::make_unique<Parameters>(parameters);
  own_[world] = 1;
  for (int f = 0; f < kParameterFields; ++f) {
    if (fields_[f].empty()) continue;
    const int size = world_field_size(static_cast<WorldField>(f), *scene_);
    std::fill_n(fields_[f].begin() + static_cast<std::ptrdiff_t>(world) * size, size, kNotAssigned);
  }
}

void WorldParameters::check(WorldField field, int world, const double* values) {
  read(world, tried_);
  if (field == WorldField::kMassScale) {  // assigned anew, not on top of what was
    tried_.mass = base(world).mass;
    tried_.inertia = base(world).inertia;
  }
  const int size = world_field_size(field, *scene_);
  for (int i = 0; i < size; ++i) {
    check_entry(field, i, values[i]);
    set_entry(field, i, values[i], tried_);
  }
  scene_->validate(tried_);
}

void WorldParameters::assign(WorldField field, int world, const double* values) {
  const int size = world_field_size(field, *scene_);
  std::vector<double>& all = fields_[static_cast<int>(field)];
  if (all.empty()) all.assign(static_cast<std::size_t>(worlds_) * size, kNotAssigned);
  std::copy_n(values, size, all.begin() + static_cast<std::ptrdiff_t>(world) * size);
  own_[world] = 1;
}

}  // namespace stiction
