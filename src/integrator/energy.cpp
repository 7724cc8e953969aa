#include "integrator/energy.hpp"

#include "dynamics/joint_forces.hpp"

namespace stiction {

MechanicalEnergy mechanical_energy(const Scene& scene,
                                   const Parameters& parameters,
                                   const DynamicsWorkspace& dynamics) {
  MechanicalEnergy energy;
  for (std::size_t t = 0; t < scene.trees().size(); ++t) {
    const Tree& tree = scene.trees()[t];
    const TreeData<double>& data = dynamics.trees[t];
    const Vec3d g = transpose_times(data.X_WR.R, parameters.gravity);
    for (int b = 0; b < tree.num_bodies; ++b) {
      const int body = tree.body_offset + b;
      const double m = parameters.mass[body];
      const Transform& X = data.X_RB[b];
      const Vec3d c = X * parameters.com[body];
      const Motion<double>& V = data.V[b];
      const Vec3d v = V.linear + cross(V.angular, c), w = transpose_times(X.R, V.angular);
      energy.kinetic += 0.5 * (m * dot(v, v) + dot(w, parameters.inertia[body] * w));
      energy.potential -= m * (dot(g, c) + dot(parameters.gravity, data.X_WR.p));
    }
  }
  return energy;
}

MechanicalEnergy whole_energy(const Scene& scene,
                              const Parameters& parameters,
                              const DynamicsWorkspace& dynamics,
                              const double* q,
                              const double* v) {
  MechanicalEnergy energy;
  for (const TreeData<double>& t : dynamics.trees) {
    energy.kinetic += t.kinetic_energy;
    energy.potential += t.potential_energy;
  }
  energy.kinetic += rotor_energy(parameters, v);
  energy.potential += spring_energy(scene, parameters, q);
  return energy;
}

}  // namespace stiction
