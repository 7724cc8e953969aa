#include "scene_holder.hpp"

namespace stiction::python {

/// What was edited, in words; empty: nothing.
std::string SceneOrigin::edit(const Scene& copied) {
  const bool first = !stepped_;
  stepped_ = true;
  if (use_->copies != number_) return "";
  if (use_->edits != edits_) {
    edits_ = use_->edits;
    return "was edited";
  }
  const SceneHolder* scene = use_->scene;
  if (!first || scene == nullptr || !scene->lent) return "";
  const std::string written = first_difference(copied.parameters, scene->parameters);
  return written.empty() ? "" : "has another parameters." + written;
}

void SceneOrigin::warn_if_edited(const char* kind, const Scene& copied, const char* remedy) {
  const std::string what = edit(copied);
  if (what.empty()) return;
  bp::import("stiction.starting")
      .attr("warn_of_edited_scene")(std::string(kind) + ": the scene \"" + copied.name +
                                    "\" that it was made of " + what +
                                    " since, which it does not see: it has a copy; " + remedy);
}

}  // namespace stiction::python
