#include "queries.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <stdexcept>

namespace stiction::bench {
namespace {

double between(SplitMix& random, double low, double high) { return low + (high - low) * random(); }

Vec3d unit_vector(SplitMix& random) {
  const double z = between(random, -1.0, 1.0), angle = 2.0 * std::numbers::pi * random();
  const double r = std::sqrt(1.0 - z * z);
  return {r * std::cos(angle), r * std::sin(angle), z};
}

// Uniform over all rotations (Shoemake, Graphics Gems III, 1992).
Mat3d rotation(SplitMix& random) {
  const double u = random(), a = 2.0 * std::numbers::pi * random(),
               b = 2.0 * std::numbers::pi * random();
  const double r = std::sqrt(1.0 - u), s = std::sqrt(u);
  const double q[4] = {r * std::sin(a), r * std::cos(a), s * std::sin(b), s * std::cos(b)};
  return rotation_from_quaternion(q);
}

Transform pose(SplitMix& random) {
  const Mat3d R = rotation(random);
  return {R, unit_vector(random) * random()};
}

std::vector<Vec3d> read_vertices(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::vector<Vec3d> points;
  std::string word;
  double x, y, z;
  while (in >> word) {
    if (word == "v" && in >> x >> y >> z) points.push_back({float(x), float(y), float(z)});
  }
  return points;
}

// Twice: the first shift leaves the rounding of a distance of decimetres.
void move_to(const Shapes& shapes, Query& q, double distance) {
  for (int k = 0; k < (distance > 0.0 ? 2 : 1); ++k) {
    const Answer r = reference(shapes, q);
    q.X_WB.p += r.normal * (distance - r.distance);
  }
}

Query far_pair(const Shapes& shapes, SplitMix& random) {
  Query q;
  q.a = int(random() * double(shapes.size()));
  q.b = int(random() * double(shapes.size()));
  q.X_WA = pose(random);
  const double reach = bounding_radius(shapes[q.a]) + bounding_radius(shapes[q.b]) + 0.1;
  const Mat3d R = rotation(random);
  q.X_WB = {R, q.X_WA.p + unit_vector(random) * reach};
  return q;
}

}  // namespace

Shapes load_hulls(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".obj") files.push_back(entry.path());
  }
  if (files.empty()) throw std::runtime_error("there are no OBJ files in " + folder);
  std::sort(files.begin(), files.end());
  Shapes shapes;
  for (const auto& file : files) shapes.push_back(Shape::convex_mesh(read_vertices(file)));
  return shapes;
}

Shapes sampled_hulls(int count, int vertices, std::uint64_t seed) {
  SplitMix random{seed};
  const double golden_angle = std::numbers::pi * (3.0 - std::sqrt(5.0));
  Shapes shapes;
  for (int k = 0; k < count; ++k) {
    const double p = between(random, 2.0, 4.0);
    const double a = between(random, 0.03, 0.12), b = between(random, 0.03, 0.12),
                 c = between(random, 0.03, 0.12);
    std::vector<Vec3d> points;
    for (int i = 0; i < vertices; ++i) {
      const double z = 1.0 - (2.0 * i + 1.0) / vertices, r = std::sqrt(1.0 - z * z);
      const double x = r * std::cos(golden_angle * i), y = r * std::sin(golden_angle * i);
      const double s = std::pow(
          std::pow(std::abs(x), p) + std::pow(std::abs(y), p) + std::pow(std::abs(z), p), -1.0 / p);
      points.push_back({float(a * x * s), float(b * y * s), float(c * z * s)});
    }
    shapes.push_back(Shape::convex_mesh(points));
  }
  return shapes;
}

std::vector<Query> random_pairs(const Shapes& shapes,
                                int count,
                                double distance,
                                std::uint64_t seed) {
  SplitMix random{seed};
  std::vector<Query> queries;
  for (int k = 0; k < count; ++k) {
    queries.push_back(far_pair(shapes, random));
    move_to(shapes, queries.back(), distance);
  }
  return queries;
}

std::vector<Query> sequences(const Shapes& shapes,
                             int pairs,
                             int steps,
                             double motion,
                             bool penetrating,
                             std::uint64_t seed) {
  SplitMix random{seed};
  std::vector<Query> now;
  std::vector<Vec3d> velocity, spin;
  std::vector<double> distance;
  for (int k = 0; k < pairs; ++k) {
    now.push_back(far_pair(shapes, random));
    velocity.push_back(unit_vector(random) * motion);
    spin.push_back(unit_vector(random) * motion);
    distance.push_back((penetrating ? -1.0 : 1.0) * std::pow(10.0, between(random, -4.0, -2.0)));
    move_to(shapes, now.back(), distance.back());
  }
  std::vector<Query> all;
  for (int step = 0; step < steps; ++step) {
    for (int k = 0; k < pairs; ++k) {
      Query& q = now[k];
      all.push_back(q);
      double turn[4] = {0.0, 0.0, 0.0, 1.0};
      integrate_quaternion(turn, spin[k]);
      q.X_WB = {rotation_from_quaternion(turn) * q.X_WB.R, q.X_WB.p + velocity[k]};
      move_to(shapes, q, distance[k]);
    }
  }
  return all;
}

}  // namespace stiction::bench
