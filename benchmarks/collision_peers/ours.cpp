#include "stiction/collision/distance.hpp"

#include "engine.hpp"

// The one file of the benchmark that calls our distance().

namespace stiction::bench {
namespace {

class Ours : public Engine {
 public:
  Ours(std::string name, const Shapes& shapes, const DistanceSettings& settings, bool warm)
      : Engine(std::move(name)), shapes_(shapes), settings_(settings), warm_(warm) {}

  void load(const std::vector<Query>& queries) override {
    queries_ = queries;
    make_slots(int(slots_.size()));
  }
  void select(int query) override { query_ = queries_[query]; }
  void distance(Answer& answer) override {
    const DistanceResult r = stiction::distance(shapes_[query_.a],
                                                query_.X_WA,
                                                shapes_[query_.b],
                                                query_.X_WB,
                                                settings_,
                                                warm_ ? slot_ : nullptr);
    answer = {r.distance, r.normal, r.witness_a, r.witness_b, r.iterations};
    answer.at_limit = r.status == DistanceStatus::kMaxIterations;
  }
  bool overlap() override {
    return collide(shapes_[query_.a], query_.X_WA, shapes_[query_.b], query_.X_WB, settings_);
  }
  bool warm() const override { return warm_; }
  void make_slots(int count) override { slots_.assign(count, {}); }
  void select_slot(int slot) override { slot_ = &slots_[slot]; }

 private:
  const Shapes& shapes_;
  DistanceSettings settings_;
  bool warm_;
  std::vector<Query> queries_;
  std::vector<DistanceCache> slots_;
  Query query_;
  DistanceCache* slot_ = nullptr;
};

}  // namespace

Engines our_engines(const Shapes& shapes) {
  Engines engines;
  engines.push_back(std::make_unique<Ours>("stiction", shapes, DistanceSettings{}, false));
  engines.push_back(std::make_unique<Ours>("stiction-warm", shapes, DistanceSettings{}, true));
  return engines;
}

Engines our_methods(const Shapes& shapes) {
  Engines engines;
  for (const std::string& name : distance_methods()) {
    DistanceSettings settings;
    settings.method = distance_method(name);
    engines.push_back(std::make_unique<Ours>(name, shapes, settings, false));
  }
  return engines;
}

Answer reference(const Shapes& shapes, const Query& q) {
  DistanceSettings settings;
  settings.tolerance = 1e-12;
  settings.max_iterations = 1000;
  const DistanceResult r =
      stiction::distance(shapes[q.a], q.X_WA, shapes[q.b], q.X_WB, settings, nullptr);
  return {r.distance, r.normal, r.witness_a, r.witness_b, r.iterations};
}

}  // namespace stiction::bench
