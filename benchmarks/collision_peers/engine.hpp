#pragma once

#include "stiction/geometry/shape.hpp"

#include <memory>
#include <string>
#include <vector>

// What the benchmark asks of a collision engine. `select` hands over what is not timed, with the
// two poses copied to one place, as they are in a simulator that has just moved its bodies;
// `distance` and `overlap` are timed, one call at a time, and do the whole work from two world
// poses.

namespace stiction::bench {

struct Query {
  int a, b;  ///< into the shapes
  Transform X_WA, X_WB;
};

struct Answer {
  double distance = 0.0;                                          ///< [m], negative: penetration
  Vec3d normal{0, 0, 0}, witness_a{0, 0, 0}, witness_b{0, 0, 0};  ///< world, normal from A to B
  int iterations = -1;                                            ///< -1: the engine does not tell
  int at_limit = -1;  ///< 1: it ended at its limit of iterations, 0: not, -1: it does not tell
};

class Engine {
 public:
  explicit Engine(std::string name) : name_(std::move(name)) {}
  virtual ~Engine() = default;
  const std::string& name() const { return name_; }

  /// The queries in the engine's own layout; forgets all warm starts.
  virtual void load(const std::vector<Query>& queries) = 0;
  virtual void select(int query) = 0;
  virtual void distance(Answer& answer) = 0;
  virtual bool overlap() = 0;

  /// Warm starts: one slot per pair; the slot selected is used and updated by `distance`.
  virtual bool warm() const { return false; }
  virtual void make_slots(int) {}
  virtual void select_slot(int) {}

 private:
  std::string name_;
};

using Shapes = std::vector<Shape>;
using Engines = std::vector<std::unique_ptr<Engine>>;

/// Every method of ours by name, at the library's default tolerance.
Engines our_methods(const Shapes& shapes);
/// Ours for comparison with peers: "stiction", and "stiction-warm".
Engines our_engines(const Shapes& shapes);
/// Signed distance at the tightest tolerance: the reference of errors, and what places the pairs.
Answer reference(const Shapes& shapes, const Query& query);

/// Coal: default settings, tolerance 1e-8, the fastest of its own options, and cached guesses.
Engines coal_engines(const Shapes& shapes);
/// MuJoCo with native ccd: default settings and a tighter tolerance.
Engines mujoco_engines(const Shapes& shapes);

}  // namespace stiction::bench
