#include "integrator/semi_implicit_euler.hpp"

#include "dynamics/integrate.hpp"

namespace stiction {

void semi_implicit_euler(const Scene& scene,
                         const Parameters& parameters,
                         double dt,
                         const DynamicsWorkspace& work,
                         const std::vector<double>& dv,
                         State& state) {
  for (std::size_t t = 0; t < scene.trees().size(); ++t) {
    if (work.asleep[t]) continue;
    const Tree& tree = scene.trees()[t];
    double* v = state.v.data() + tree.v_offset;
    for (int k = 0; k < tree.nv; ++k) v[k] = settled(v[k] + dv[tree.v_offset + k]);
    const Vec3d c =
        root_point(work.views[t], tree_parameters(tree, static_cast<int>(t), parameters));
    integrate_configuration(work.views[t], c, dt, state.q.data() + tree.q_offset, v);
  }
  state.time += dt;
}

}  // namespace stiction
