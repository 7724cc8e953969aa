#pragma once

#include "stiction/model/scene.hpp"

#include "inside.hpp"

#include <list>
#include <memory>
#include <stdexcept>
#include <string>

namespace stiction::python {

struct SceneHolder;

/// What a scene and the Simulators and Batches that copied it know of each other.
struct SceneUse {
  const SceneHolder* scene;  ///< null: it is gone
  int copies = 0;            ///< made of it so far
  int edits = 0;
};

/// The scene as Python holds it. NumPy views of its parameters must not dangle when a robot or body
/// is added and the vectors grow: once `parameters` was lent, each addition works on fresh arrays
/// and the old ones stay here, alive but no longer the scene's.
struct SceneHolder : Scene {
  SceneHolder() = default;
  explicit SceneHolder(const Scene& scene) : Scene(scene) {}
  SceneHolder(const SceneHolder& other) : Scene(other) {}
  ~SceneHolder() { use->scene = nullptr; }

  /// `steps`: whether it changes what a Simulator made of the scene does.
  void before_editing(bool steps = true) const {
    before_changing(this, "Scene");
    use->edits += steps ? 1 : 0;
    if (!fixed) return;
    throw std::invalid_argument(
        "the scene of a Simulator is fixed: edit sim.scene.copy() and make a new Simulator of it; "
        "numbers that may change between steps are in sim.parameters");
  }
  void before_adding() {
    before_editing();
    if (!lent) return;
    retired.push_back(parameters);
    std::swap(retired.back(), parameters);
  }

  bool lent = false;
  bool fixed = false;                   ///< of a Simulator; a copy is free again
  const Parameters* present = nullptr;  ///< of that Simulator, as it has them now; null: gone
  std::list<Parameters> retired;
  std::shared_ptr<SceneUse> use = std::make_shared<SceneUse>(SceneUse{this});
};

/// The scene that a Simulator or a Batch copied. They do not see later edits of it.
class SceneOrigin {
 public:
  explicit SceneOrigin(const SceneHolder& scene)
      : use_(scene.use), number_(++use_->copies), edits_(use_->edits) {}

  /// Before a step: one warning if the scene was edited since the copy was made, unless something
  /// newer was made of it; before the first step also if its arrays were written into. `kind`:
  /// "Simulator"; `copied`: its scene; `remedy` ends the sentence.
  void warn_if_edited(const char* kind, const Scene& copied, const char* remedy);

 private:
  std::string edit(const Scene& copied);

  std::shared_ptr<SceneUse> use_;
  int number_, edits_;
  bool stepped_ = false;
};

using SceneClass = bp::class_<SceneHolder, std::shared_ptr<SceneHolder>>;

/// Parameters that a Simulator's scene shows: to be read.
struct FixedParameters : Parameters {
  explicit FixedParameters(const Parameters& p) : Parameters(p) {}
};

}  // namespace stiction::python
