#include "engine.hpp"
#include <coal/collision.h>
#include <coal/narrowphase/narrowphase.h>
#include <coal/shape/convex.h>

// Coal's wheel is built for 16-byte alignment: this file must not get -march or AVX flags.

namespace stiction::bench {
namespace {

using coal::Transform3s, coal::Triangle, coal::Vec3s, coal::GJKInitialGuess, coal::GJKVariant;
using Hull = coal::Convex<Triangle>;

std::shared_ptr<Hull> make_hull(const ConvexMesh& mesh) {
  auto points = std::make_shared<std::vector<Vec3s>>();
  for (const Vec3d& p : mesh.vertices) points->push_back({p.x, p.y, p.z});
  auto triangles = std::make_shared<std::vector<Triangle>>();
  for (std::size_t k = 0; k < mesh.triangles.size(); k += 3) {
    triangles->push_back({Triangle::index_type(mesh.triangles[k]),
                          Triangle::index_type(mesh.triangles[k + 1]),
                          Triangle::index_type(mesh.triangles[k + 2])});
  }
  const unsigned count = unsigned(points->size()), faces = unsigned(triangles->size());
  auto hull = std::make_shared<Hull>(points, count, triangles, faces);
  hull->computeLocalAABB();
  return hull;
}

Transform3s to_coal(const Transform& X) {
  coal::Matrix3s R;
  R << X.R.c0.x, X.R.c1.x, X.R.c2.x, X.R.c0.y, X.R.c1.y, X.R.c2.y, X.R.c0.z, X.R.c1.z, X.R.c2.z;
  return {R, Vec3s(X.p.x, X.p.y, X.p.z)};
}

Vec3d from_coal(const Vec3s& v) { return {v[0], v[1], v[2]}; }

struct Options {
  double tolerance = 1e-6;  // Coal's default
  GJKInitialGuess guess = GJKInitialGuess::DefaultGuess;
  GJKVariant variant = GJKVariant::DefaultGJK;
};

using Hulls = std::vector<std::shared_ptr<Hull>>;

class Coal : public Engine {
 public:
  Coal(std::string name, Hulls hulls, const Options& options)
      : Engine(std::move(name)), hulls_(std::move(hulls)), options_(options) {
    solver_.gjk_tolerance = solver_.epa_tolerance = options.tolerance;
    solver_.gjk_initial_guess = options.guess;
    solver_.gjk_variant = options.variant;
    request_.gjk_tolerance = request_.epa_tolerance = options.tolerance;
    request_.gjk_initial_guess = options.guess;
    request_.gjk_variant = options.variant;
    request_.enable_contact = false;
    const std::size_t n = hulls_.size();
    for (std::size_t a = 0; a < n; ++a)
      for (std::size_t b = 0; b < n; ++b)
        overlap_.push_back(
            std::make_unique<coal::ComputeCollision>(hulls_[a].get(), hulls_[b].get()));
  }

  void load(const std::vector<Query>& queries) override {
    queries_.clear();
    for (const Query& q : queries) {
      queries_.push_back({hulls_[q.a].get(),
                          hulls_[q.b].get(),
                          overlap_[q.a * hulls_.size() + q.b].get(),
                          to_coal(q.X_WA),
                          to_coal(q.X_WB)});
    }
    make_slots(int(slots_.size()));
  }
  void select(int query) override {
    query_ = queries_[query];
    if (!warm()) solver_.support_func_cached_guess.setZero();
  }
  void distance(Answer& answer) override {
    Vec3s a, b, n;
    answer.distance =
        solver_.shapeDistance(*query_.a, query_.X_WA, *query_.b, query_.X_WB, true, a, b, n);
    answer.normal = from_coal(n);
    answer.witness_a = from_coal(a);
    answer.witness_b = from_coal(b);
    answer.iterations = int(solver_.gjk.getNumIterations());
  }
  bool overlap() override {
    result_.clear();
    return (*query_.overlap)(query_.X_WA, query_.X_WB, request_, result_) > 0;
  }
  bool warm() const override { return options_.guess == GJKInitialGuess::CachedGuess; }
  void make_slots(int count) override {
    slots_.assign(count, {Vec3s(1, 0, 0), coal::support_func_guess_t::Zero()});
    slot_ = -1;
  }
  // The solver holds one guess: it is put away and another one taken out, outside of the timing.
  void select_slot(int slot) override {
    if (slot_ >= 0) slots_[slot_] = {solver_.cached_guess, solver_.support_func_cached_guess};
    slot_ = slot;
    solver_.cached_guess = slots_[slot].guess;
    solver_.support_func_cached_guess = slots_[slot].hint;
  }

 private:
  struct Posed {
    const Hull *a, *b;
    const coal::ComputeCollision* overlap;
    Transform3s X_WA, X_WB;
  };
  struct Slot {
    Vec3s guess;
    coal::support_func_guess_t hint;
  };
  Hulls hulls_;
  Options options_;
  coal::GJKSolver solver_;
  coal::CollisionRequest request_;
  coal::CollisionResult result_;
  std::vector<std::unique_ptr<coal::ComputeCollision>> overlap_;
  std::vector<Posed> queries_;
  std::vector<Slot> slots_;
  Posed query_;
  int slot_ = -1;
};

}  // namespace

Engines coal_engines(const Shapes& shapes) {
  Hulls hulls;
  for (const Shape& s : shapes) hulls.push_back(make_hull(*s.mesh));
  const auto box = GJKInitialGuess::BoundingVolumeGuess, cached = GJKInitialGuess::CachedGuess;
  const auto plain = GJKVariant::DefaultGJK;
  Engines engines;
  const auto add = [&](const char* name, const Options& options) {
    engines.push_back(std::make_unique<Coal>(name, hulls, options));
  };
  add("coal", {});
  add("coal-1e-8", {1e-8});
  add("coal-box-guess", {1e-6, box, plain});
  add("coal-box-polyak", {1e-6, box, GJKVariant::PolyakAcceleration});
  add("coal-box-nesterov", {1e-6, box, GJKVariant::NesterovAcceleration});
  add("coal-cached", {1e-6, cached, plain});
  return engines;
}

}  // namespace stiction::bench
