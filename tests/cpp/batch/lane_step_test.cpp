#include "batch/lane_step.hpp"

#include "stiction/model/tree.hpp"

#include "support/random_tree.hpp"
#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <cstring>

using namespace stiction;
using namespace stiction::test;

namespace {

constexpr int kWorlds = 8;
constexpr int kContacts = 4;

/// World-major numbers of 8 worlds of one random tree; parameters differ from world to world.
struct Worlds {
  std::vector<BodyDescription> bodies;
  Tree tree;
  std::vector<int> contact_dof;
  // name -> [count x kWorlds], entry (i, world) at [i * kWorlds + world]
  std::vector<double> placement, axis, mass, com, inertia, base, gravity, force, diagonal, point,
      frame, friction, reference, q, v, impulse;

  Worlds(Rng& rng, std::vector<BodyDescription> one_tree)
      : bodies(std::move(one_tree)), tree(Tree::build(bodies, 0, static_cast<int>(bodies.size()))) {
    for (int i = 0; i < kContacts; ++i)
      contact_dof.push_back(tree.last_dof[rng.below(tree.num_bodies)]);
    for (const BodyDescription& b : bodies) {
      append_transform(b.placement, placement);
      append({b.axis.x, b.axis.y, b.axis.z}, axis);
      append_scaled({b.mass}, rng, mass);
      append({b.com.x, b.com.y, b.com.z}, com);
      append_scaled(
          {b.inertia.xx, b.inertia.xy, b.inertia.yy, b.inertia.xz, b.inertia.yz, b.inertia.zz},
          rng,
          inertia);
    }
    append_transform(Transform::identity(), base);
    append({0, 0, -9.81}, gravity);
    random(rng, tree.nv, 5.0, force);
    random(rng, tree.nv, 0.05, diagonal);
    for (double& x : diagonal) x = std::abs(x);
    for (int i = 0; i < kContacts; ++i) {
      random(rng, 3, 0.3, point);
      append_transform({rotation(rng), {0, 0, 0}}, frame);
      frame.resize(frame.size() - 3 * kWorlds);
    }
    random(rng, kContacts, 1.0, friction);
    for (double& x : friction) x = 1.5 * std::abs(x);
    random(rng, kContacts, 0.2, reference);
    for (int b = 0; b < tree.num_bodies; ++b) configuration(rng, tree.joint[b]);
    random(rng, tree.nv, 2.0, v);
    impulse.assign(3 * kContacts * kWorlds, 0.0);
  }

  void append(std::initializer_list<double> values, std::vector<double>& out) {
    for (const double x : values) out.insert(out.end(), kWorlds, x);
  }
  void append_scaled(std::initializer_list<double> values, Rng& rng, std::vector<double>& out) {
    double scale[kWorlds];
    for (double& s : scale) s = rng.uniform(0.8, 1.2);
    for (const double x : values) {
      for (const double s : scale) out.push_back(x * s);
    }
  }
  void append_transform(const Transform& X, std::vector<double>& out) {
    append({X.R.c0.x,
            X.R.c0.y,
            X.R.c0.z,
            X.R.c1.x,
            X.R.c1.y,
            X.R.c1.z,
            X.R.c2.x,
            X.R.c2.y,
            X.R.c2.z,
            X.p.x,
            X.p.y,
            X.p.z},
           out);
  }
  void random(Rng& rng, int count, double bound, std::vector<double>& out) {
    for (int i = 0; i < count * kWorlds; ++i) out.push_back(rng.uniform(-bound, bound));
  }
  void unit(Rng& rng, int n) {
    std::vector<double> columns(n * kWorlds);
    for (int w = 0; w < kWorlds; ++w) {
      double sum = 0.0;
      for (int k = 0; k < n; ++k) {
        columns[k * kWorlds + w] = rng.uniform(-1.0, 1.0);
        sum += columns[k * kWorlds + w] * columns[k * kWorlds + w];
      }
      for (int k = 0; k < n; ++k) columns[k * kWorlds + w] /= std::sqrt(sum);
    }
    q.insert(q.end(), columns.begin(), columns.end());
  }
  void configuration(Rng& rng, JointType type) {
    if (type == JointType::kFreeFlyer) random(rng, 3, 1.0, q);
    if (type == JointType::kFreeFlyer || type == JointType::kSpherical) {
      unit(rng, 4);
    } else if (type == JointType::kContinuous) {
      unit(rng, 2);
    } else {
      random(rng, 1, 3.0, q);
    }
  }
};

std::vector<BodyDescription> loose_body(Rng& rng) {
  std::vector<BodyDescription> bodies;
  while (bodies.empty() || bodies[0].joint != JointType::kFreeFlyer) bodies = random_tree(rng);
  bodies.resize(1);
  return bodies;
}

/// Columns [first, first + width) of a world-major array.
std::vector<double> slice(const std::vector<double>& all, int first, int width) {
  std::vector<double> out;
  for (std::size_t i = 0; i < all.size() / kWorlds; ++i) {
    for (int w = 0; w < width; ++w) out.push_back(all[i * kWorlds + first + w]);
  }
  return out;
}

struct Aligned {
  double* data;
  explicit Aligned(std::size_t doubles)
      : data(static_cast<double*>(std::aligned_alloc(64, (doubles * 8 + 63) / 64 * 64))) {}
  Aligned(const std::vector<double>& x) : Aligned(std::max<std::size_t>(1, x.size())) {
    std::copy(x.begin(), x.end(), data);
  }
  Aligned(const Aligned&) = delete;
  ~Aligned() { std::free(data); }
};

struct Result {
  std::vector<double> q, v, impulse, bias, factor, velocity;  // world-major
};

void scatter(const double* from, int count, int first, int width, std::vector<double>& all) {
  all.resize(static_cast<std::size_t>(count) * kWorlds);
  for (int i = 0; i < count; ++i) {
    for (int w = 0; w < width; ++w) all[i * kWorlds + first + w] = from[i * width + w];
  }
}

Result run(const Worlds& worlds, const LaneKernels& kernels, int steps) {
  Result out;
  const Tree& t = worlds.tree;
  const TreeView view = t.view();
  const int w = kernels.width;
  for (int first = 0; first < kWorlds; first += w) {
    Aligned placement(slice(worlds.placement, first, w)), axis(slice(worlds.axis, first, w)),
        mass(slice(worlds.mass, first, w)), com(slice(worlds.com, first, w)),
        inertia(slice(worlds.inertia, first, w)), base(slice(worlds.base, first, w)),
        gravity(slice(worlds.gravity, first, w)), force(slice(worlds.force, first, w)),
        diagonal(slice(worlds.diagonal, first, w)), point(slice(worlds.point, first, w)),
        frame(slice(worlds.frame, first, w)), friction(slice(worlds.friction, first, w)),
        reference(slice(worlds.reference, first, w)), q(slice(worlds.q, first, w)),
        v(slice(worlds.v, first, w)), impulse(slice(worlds.impulse, first, w)), bias(t.nv * w),
        factor(view.packed_size * w), velocity(3 * kContacts * w),
        workspace(kernels.workspace_size(view, kContacts));
    const LaneStepArrays arrays{
        placement.data, axis.data,    mass.data,     com.data,       inertia.data,
        base.data,      gravity.data, force.data,    diagonal.data,  worlds.contact_dof.data(),
        point.data,     frame.data,   friction.data, reference.data, q.data,
        v.data,         impulse.data, bias.data,     factor.data,    velocity.data};
    for (int k = 0; k < steps; ++k) kernels.step(view, kContacts, 10, 1e-3, arrays, workspace.data);
    scatter(q.data, t.nq, first, w, out.q);
    scatter(v.data, t.nv, first, w, out.v);
    scatter(impulse.data, 3 * kContacts, first, w, out.impulse);
    scatter(bias.data, t.nv, first, w, out.bias);
    scatter(factor.data, view.packed_size, first, w, out.factor);
    scatter(velocity.data, 3 * kContacts, first, w, out.velocity);
  }
  return out;
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), 8 * a.size()) == 0;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lane_step_test)

// Every lane type this processor has gives the bits of `double`: factor, bias, impulses and states
// of eight different worlds over sliding, sticking and open contacts.
BOOST_AUTO_TEST_CASE(all_lane_types_give_the_same_bits) {
  Rng rng(11);
  int open = 0, stuck = 0, sliding = 0;
  BOOST_TEST_REQUIRE(lane_kernels().size() >= 2u);
  for (int trial = 0; trial < 40; ++trial) {
    const Worlds worlds(rng, trial % 4 == 0 ? loose_body(rng) : random_tree(rng));
    const Result reference = run(worlds, lane_kernels()[0], 5);
    for (int i = 0; i < kContacts; ++i) {
      for (int w = 0; w < kWorlds; ++w) {
        const double* l = &reference.impulse[3 * i * kWorlds + w];
        const double t = std::hypot(l[0], l[kWorlds]), n = l[2 * kWorlds],
                     cone = worlds.friction[i * kWorlds + w] * n;
        (n == 0.0 ? open : t < cone * (1.0 - 1e-9) ? stuck : sliding)++;
      }
    }
    for (const LaneKernels& kernels : lane_kernels()) {
      const Result other = run(worlds, kernels, 5);
      BOOST_TEST_CONTEXT("trial " << trial << ", width " << kernels.width << " "
                                  << kernels.instruction_set) {
        BOOST_TEST(same_bits(reference.factor, other.factor));
        BOOST_TEST(same_bits(reference.bias, other.bias));
        BOOST_TEST(same_bits(reference.impulse, other.impulse));
        BOOST_TEST(same_bits(reference.velocity, other.velocity));
        BOOST_TEST(same_bits(reference.q, other.q));
        BOOST_TEST(same_bits(reference.v, other.v));
      }
    }
  }
  // The sampler visits all three contact modes.
  BOOST_TEST(open > 100);
  BOOST_TEST(stuck > 100);
  BOOST_TEST(sliding > 100);
}

// The comparison sees one last bit.
BOOST_AUTO_TEST_CASE(comparison_sees_the_last_bit) {
  Rng rng(3);
  Worlds worlds(rng, random_tree(rng));
  const Result a = run(worlds, lane_kernels()[0], 1);
  worlds.v[0] = std::nextafter(worlds.v[0], 10.0);
  const Result b = run(worlds, lane_kernels()[0], 1);
  BOOST_TEST(!same_bits(a.v, b.v));
}

// sincos is within 2 ulp of libm over the range joints live in.
BOOST_AUTO_TEST_CASE(sincos_is_accurate) {
  Rng rng(5);
  for (int i = 0; i < 200000; ++i) {
    const double x = rng.uniform(-1.0, 1.0) * std::pow(10.0, rng.uniform(-8.0, 4.0));
    double s, c;
    stiction::sincos(x, s, c);
    BOOST_REQUIRE_SMALL(s - std::sin(x), 2.3e-16 * 2);
    BOOST_REQUIRE_SMALL(c - std::cos(x), 2.3e-16 * 2);
  }
}

BOOST_AUTO_TEST_SUITE_END()
