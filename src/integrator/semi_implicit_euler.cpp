#include "integrator/semi_implicit_euler.hpp"

#include "dynamics/integrate.hpp"
#include "dynamics/mass_matrix.hpp"

namespace stiction {

void semi_implicit_euler(const Scene& scene,
                         const Parameters& parameters,
                         double dt,
                         DynamicsWorkspace& work,
                         State& state) {
  for (std::size_t t = 0; t < scene.trees().size(); ++t) {
    if (work.asleep[t]) continue;
    const Tree& tree = scene.trees()[t];
    double* w = work.whitened.data() + tree.v_offset;
    double* v = state.v.data() + tree.v_offset;
    solve_scaled_lower(work.views[t], work.trees[t], w);
    for (int k = 0; k < tree.nv; ++k) v[k] += w[k];
    const Vec3d c =
        root_point(work.views[t], tree_parameters(tree, static_cast<int>(t), parameters));
    integrate_configuration(work.views[t], c, dt, state.q.data() + tree.q_offset, v);
  }
  state.time += dt;
}

}  // namespace stiction
