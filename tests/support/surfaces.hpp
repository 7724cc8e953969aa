#pragma once

#include "stiction/geometry/height_field.hpp"
#include "stiction/geometry/shape.hpp"
#include "stiction/geometry/triangle_mesh.hpp"

#include "random.hpp"

#include <cmath>
#include <vector>

namespace stiction::test {

struct Triangles {
  std::vector<Vec3d> vertices;
  std::vector<int> triangles;
};

/// Level grid of n x n cells at z = 0 about the origin, the diagonal of each cell drawn by lot.
inline Triangles floor_triangles(int n, double cell, Rng& rng) {
  Triangles out;
  for (int j = 0; j <= n; ++j) {
    for (int i = 0; i <= n; ++i) {
      out.vertices.push_back({(i - 0.5 * n) * cell, (j - 0.5 * n) * cell, 0.0});
    }
  }
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      const int a = j * (n + 1) + i, b = a + 1, c = a + n + 1, d = c + 1;
      const std::vector<int> two = rng.uniform(0.0, 1.0) < 0.5 ? std::vector<int>{a, b, d, a, d, c}
                                                               : std::vector<int>{a, b, c, b, d, c};
      out.triangles.insert(out.triangles.end(), two.begin(), two.end());
    }
  }
  return out;
}

/// Ring of radius R about z with a tube of radius r.
inline Triangles torus_triangles(double R, double r, int sides, int around) {
  Triangles out;
  for (int i = 0; i < sides; ++i) {
    for (int j = 0; j < around; ++j) {
      const double a = 2.0 * M_PI * i / sides, b = 2.0 * M_PI * j / around;
      const double x = R + r * std::cos(b);
      out.vertices.push_back({x * std::cos(a), x * std::sin(a), r * std::sin(b)});
      const int i1 = (i + 1) % sides, j1 = (j + 1) % around;
      const int p = i * around + j, q = i1 * around + j, s = i1 * around + j1, t = i * around + j1;
      out.triangles.insert(out.triangles.end(), {p, q, s, p, s, t});
    }
  }
  return out;
}

inline Shape floor_mesh(int n, double cell, Rng& rng) {
  const Triangles t = floor_triangles(n, cell, rng);
  return Shape::triangle_mesh(t.vertices, t.triangles);
}

inline Shape torus_mesh(double R, double r, int sides, int around) {
  const Triangles t = torus_triangles(R, r, sides, around);
  return Shape::triangle_mesh(t.vertices, t.triangles);
}

}  // namespace stiction::test
