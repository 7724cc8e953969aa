#include "stiction/batch/batch.hpp"
#include "stiction/batch/batch_derivatives.hpp"

#include "batch_holder.hpp"

// Batch: its arrays are the batch's own memory, which they keep alive. Shapes and types of
// arguments are checked by stiction/batch.py; here what would leave memory.

namespace stiction::python {
namespace {

using Holder = BatchHolder;

std::shared_ptr<Holder> make_batch(const SceneHolder& scene,
                                   int worlds,
                                   const SettingsHolder& settings,
                                   int threads,
                                   int width,
                                   bool lanes,
                                   const std::string& configuration,
                                   const bp::object& parameters) {
  const BatchOptions options{threads, width, lanes, configuration};
  if (parameters.is_none()) return std::make_shared<Holder>(scene, worlds, settings, options);
  SceneHolder numbered(scene);
  numbered.parameters = parameters_from(scene, parameters);
  return std::make_shared<Holder>(numbered, worlds, settings, options);
}

Holder& of(const bp::object& self) { return bp::extract<Holder&>(self); }

template <double* BatchArrays::* Field>
bp::object written(const bp::object& self) {
  Holder& batch = of(self);
  const bool q = batch.arrays().*Field == batch.arrays().q;
  return rows(self,
              batch.arrays().*Field,
              q ? batch.scene().nq() : batch.scene().nv(),
              batch.occupancy.caller.load() == nullptr);
}

template <const auto BatchArrays::* Field>
bp::object told(const bp::object& self) {
  return rows(self, of(self).arrays().*Field, 0, false);
}

template <double* BatchArrays::* Field>
void write(const bp::object& self, const bp::object& x, const std::string& name) {
  const Inside inside(of(self).occupancy, "Batch");
  const bp::object view = rows(self,
                               of(self).arrays().*Field,
                               name == "q" ? of(self).scene().nq() : of(self).scene().nv(),
                               true);
  write_into(view, x, name);
}
void set_q(const bp::object& self, const bp::object& x) { write<&BatchArrays::q>(self, x, "q"); }
void set_v(const bp::object& self, const bp::object& x) { write<&BatchArrays::v>(self, x, "v"); }
void set_torque(const bp::object& self, const bp::object& x) {
  write<&BatchArrays::torque>(self, x, "torque");
}
void set_position_target(const bp::object& self, const bp::object& x) {
  write<&BatchArrays::position_target>(self, x, "position_target");
}
void set_velocity_target(const bp::object& self, const bp::object& x) {
  write<&BatchArrays::velocity_target>(self, x, "velocity_target");
}

void warn_if_edited(Holder& batch) {
  batch.origin.warn_if_edited(
      "Batch", batch.scene(), "use batch.assign() or set_parameters(), or make a new Batch");
}

void step(Holder& batch, int substeps, const bp::object& mask) {
  warn_if_edited(batch);
  Inside inside(batch.occupancy, "Batch.step");
  const auto* worlds = data_of<std::uint8_t>(mask, "mask", batch.worlds());
  with_stiction_errors([&] { inside.without_lock([&] { batch.step(substeps, worlds); }); });
}

void step_async(Holder& batch, int substeps, const bp::object& mask) {
  auto inside = std::make_unique<Inside>(batch.occupancy, "Batch.step_async");
  warn_if_edited(batch);
  const auto* worlds = data_of<std::uint8_t>(mask, "mask", batch.worlds());
  with_stiction_errors([&] { batch.step_async(substeps, worlds); });
  batch.occupancy.awaited = true;
  batch.pending = std::move(inside);
}

void wait(Holder& batch) {
  if (batch.pending == nullptr)
    raise_stiction_error("Batch.wait: nothing is under way: call step_async() first");
  const std::unique_ptr<Inside> inside = std::move(batch.pending);
  batch.occupancy.signals.begin();
  with_stiction_errors([&] { inside->without_lock([&] { batch.wait(); }); });
}

/// (N, 6) of a body or a frame by name, or of a body by number.
bp::object wrench(const bp::object& self, const bp::object& at) {
  Holder& batch = of(self);
  const Inside inside(batch.occupancy, "Batch.wrench");
  const bp::extract<std::string> name(at);
  std::pair<int, Transform> place{-1, Transform::identity()};
  if (name.check())
    place = batch.scene().frame(name());
  else
    place.first = body_from(batch.scene(), at, "at");
  if (place.first < 0)
    throw std::invalid_argument("at = \"" + std::string(name()) + "\": it does not move");
  return rows(self, batch.wrench(place.first, place.second.p), 6, true);
}

void reset(Holder& batch, const bp::object& mask, const bp::object& q, const bp::object& v) {
  const Inside inside(batch.occupancy, "Batch.reset");
  const long n = batch.worlds();
  const auto* worlds = data_of<std::uint8_t>(mask, "mask", n);
  const auto* given_q = data_of<double>(q, "q", n * batch.scene().nq());
  const auto* given_v = data_of<double>(v, "v", n * batch.scene().nv());
  with_stiction_errors([&] {
    const AllowThreads free;
    batch.reset(worlds, given_q, given_v);
  });
}

BatchDerivatives& derivatives_of(Holder& batch) {
  if (batch.derivatives == nullptr)
    batch.derivatives = std::make_unique<BatchDerivatives>(static_cast<const Batch&>(batch));
  return *batch.derivatives;
}

void jacobians(Holder& batch,
               const bp::object& mask,
               const bp::object& A,
               const bp::object& B,
               const bp::object& exact) {
  const Inside inside(batch.occupancy, "Batch.step_derivatives");
  const long n = batch.worlds(), nv = batch.scene().nv();
  const auto* worlds = data_of<std::uint8_t>(mask, "mask", n);
  auto* a = output<double>(A, "A", n * 4 * nv * nv);
  auto* b = output<double>(B, "B", n * 2 * nv * nv);
  auto* flags = output<std::uint8_t>(exact, "exact", n);
  with_stiction_errors([&] {
    const AllowThreads free;
    derivatives_of(batch).jacobians(worlds, a, b, flags);
  });
}

void vjp(Holder& batch,
         const bp::object& mask,
         const bp::object& w,
         const bp::object& x,
         const bp::object& torque,
         const bp::object& exact) {
  const Inside inside(batch.occupancy, "Batch.vjp");
  const long n = batch.worlds(), nv = batch.scene().nv();
  const auto* worlds = data_of<std::uint8_t>(mask, "mask", n);
  const auto* weights = data_of<double>(w, "w", n * 2 * nv);
  auto* gradient = output<double>(x, "x", n * 2 * nv);
  auto* by_torque = output<double>(torque, "torque", n * nv);
  auto* flags = output<std::uint8_t>(exact, "exact", n);
  with_stiction_errors([&] {
    const AllowThreads free;
    derivatives_of(batch).vjp(worlds, weights, gradient, by_torque, flags);
  });
}

State state(const Holder& batch, int world) {
  const Inside inside(batch.occupancy, "Batch.state");
  return batch.state(world);
}
void set_state(Holder& batch, int world, const State& state) {
  const Inside inside(batch.occupancy, "Batch.set_state");
  before_reading(&state, "Batch.set_state");
  batch.set_state(world, state);
}
Control control(const Holder& batch, int world) {
  const Inside inside(batch.occupancy, "Batch.control");
  return batch.control(world);
}
bp::object commands(const Holder& batch, int world) {
  const Inside inside(batch.occupancy, "Batch.commands");
  const npy_intp shape[3] = {1 + batch.command_depth(world), 3, batch.scene().nv()};
  const bp::object out{bp::handle<>(PyArray_SimpleNew(3, shape, NPY_DOUBLE))};
  batch.commands(world, output<double>(out, "commands", shape[0] * shape[1] * shape[2]));
  return out;
}
void set_commands(Holder& batch, int world, const bp::object& commands) {
  const Inside inside(batch.occupancy, "Batch.set_commands");
  const long size = (1L + batch.command_depth(world)) * 3 * batch.scene().nv();
  batch.set_commands(world, data_of<double>(commands, "commands", size));
}
Parameters parameters(const Holder& batch, int world) {
  const Inside inside(batch.occupancy, "Batch.parameters");
  return batch.parameters(world);
}
void set_parameters(Holder& batch, int world, const Parameters& p) {
  const Inside inside(batch.occupancy, "Batch.set_parameters");
  batch.set_parameters(world, p);
}

bp::object contact_forces(const Holder& batch, const bp::list& geometries) {
  const Inside inside(batch.occupancy, "Batch.contact_forces");
  std::vector<int> numbers;
  for (bp::ssize_t k = 0; k < bp::len(geometries); ++k)
    numbers.push_back(geometry_from(batch.scene(), geometries[k], "geometries"));
  RowMatrix out(batch.worlds(), static_cast<Eigen::Index>(numbers.size()));
  batch.contact_forces(numbers.data(), static_cast<int>(numbers.size()), out.data());
  return to_array(out);
}

WorldField field_from(const std::string& name) {
  std::string names;
  for (int f = 0; f < kWorldFields; ++f) {
    if (name == world_fields()[f]) return static_cast<WorldField>(f);
    names += (f == 0 ? "" : ", ") + std::string(world_fields()[f]);
  }
  throw std::invalid_argument("field \"" + name + "\" is unknown; there are: " + names);
}

int field_size(const Holder& batch, const std::string& name) {
  return world_field_size(field_from(name), batch.scene());
}

void assign_field(Holder& batch,
                  const std::string& name,
                  const bp::object& values,
                  const bp::object& mask) {
  const Inside inside(batch.occupancy, "Batch.assign");
  const WorldField field = field_from(name);
  const long size = world_field_size(field, batch.scene());
  const auto* numbers = data_of<double>(values, "values", batch.worlds() * size);
  const auto* worlds = data_of<std::uint8_t>(mask, "mask", batch.worlds());
  with_stiction_errors([&] {
    const AllowThreads free;
    batch.assign(field, numbers, worlds);
  });
}

bp::object values_of(const Holder& batch, const std::string& name) {
  const Inside inside(batch.occupancy, "Batch.values");
  const WorldField field = field_from(name);
  RowMatrix out(batch.worlds(), world_field_size(field, batch.scene()));
  batch.read(field, out.data());
  return to_array(out);
}

std::shared_ptr<SceneHolder> scene(const Holder& batch) { return batch.shown; }
SettingsHolder settings(const Holder& batch) {
  SettingsHolder shown(batch.settings());
  shown.fixed = true;
  return shown;
}
std::string why_not(const Holder& batch) { return batch.why_not_lanes(); }
bool lanes(const Holder& batch) { return batch.why_not_lanes().empty(); }

bp::list words() {
  bp::list out;
  for (const char* word : Batch::lane_exits()) out.append(word);
  return out;
}
bp::list fields() {
  bp::list out;
  for (const char* name : world_fields()) out.append(name);
  return out;
}

std::string repr(const Holder& batch) {
  return "Batch(\"" + batch.scene().name + "\", num_worlds=" + std::to_string(batch.worlds()) +
         ", threads=" + std::to_string(batch.threads()) +
         (lanes(batch) ? ", width=" + std::to_string(batch.width()) : ", lanes=False") + ")";
}

using Class = bp::class_<Holder, std::shared_ptr<Holder>, boost::noncopyable>;

void expose_arrays(Class& c) {
  c.add_property("q",
                 &written<&BatchArrays::q>,
                 &set_q,
                 "(N, nq) configurations in Pinocchio's layout, a writable view of the batch's own "
                 "memory. What is written holds from the next step on; warm starts stay.")
      .add_property("v",
                    &written<&BatchArrays::v>,
                    &set_v,
                    "(N, nv) velocities, likewise: of free-flyers in the body frame [m/s, rad/s].")
      .add_property("torque",
                    &written<&BatchArrays::torque>,
                    &set_torque,
                    "(N, nv) added to the servos' [N m or N], a writable view; held until written.")
      .add_property("position_target",
                    &written<&BatchArrays::position_target>,
                    &set_position_target,
                    "(N, nv) of the servos [rad or m], likewise; at first they hold the start.")
      .add_property("velocity_target",
                    &written<&BatchArrays::velocity_target>,
                    &set_velocity_target,
                    "(N, nv) of the servos [rad/s or m/s], likewise.")
      .add_property("time", &told<&BatchArrays::time>, "(N,) [s], a view to be read.")
      .add_property("status",
                    &told<&BatchArrays::status>,
                    "(N,) uint8, a view to be read: index in Batch.STATUSES of the worst step of a "
                    "world's last call of step(). 0: all were solved.")
      .add_property("certificate",
                    &told<&BatchArrays::certificate>,
                    "(N,) a view to be read: the largest relative residual of these steps, as "
                    "StepReport.residuals.relative.")
      .add_property("contacts",
                    &told<&BatchArrays::contacts>,
                    "(N,) int32, a view to be read: points of contact of the last step.")
      .add_property("scalar_steps",
                    &told<&BatchArrays::scalar_steps>,
                    "(N,) int32, a view to be read: steps of the last call that left the lanes and "
                    "were a Simulator's; 0 without lanes.")
      .add_property("lane_exit",
                    &told<&BatchArrays::lane_exit>,
                    "(N,) uint8, a view to be read: index in Batch.LANE_EXITS of the reason of the "
                    "last of these; 0: none left.");
}

}  // namespace

void expose_batch() {
  using bp::arg;
  const bp::object none;
  Class c("Batch", "See stiction.Batch.", bp::no_init);
  c.def("__init__",
        bp::make_constructor(&make_batch,
                             bp::default_call_policies(),
                             (arg("scene"),
                              arg("num_worlds"),
                              arg("settings"),
                              arg("threads"),
                              arg("width"),
                              arg("lanes"),
                              arg("configuration"),
                              arg("parameters"))))
      .add_property("scene", &scene, "A copy of the Scene it was made from, fixed.")
      .add_property("settings", &settings, "A copy of its SimulatorSettings, fixed.")
      .add_property("num_worlds", &Holder::worlds, "N.")
      .add_property("threads", &Holder::threads, "Threads that have worlds.")
      .add_property("width", &Holder::width, "Worlds of a pack; 1 without lanes.")
      .add_property("lanes", &lanes, "Whether the worlds are stepped on lanes.")
      .add_property("why_not", &why_not, "Why not, in words; \"\" with lanes.")
      .def("_step", &step, (arg("self"), arg("substeps"), arg("mask")))
      .def("_step_async", &step_async, (arg("self"), arg("substeps"), arg("mask")))
      .def("_wait", &wait, arg("self"))
      .def("_wrench", &wrench, (arg("self"), arg("at")))
      .def("_reset", &reset, (arg("self"), arg("mask"), arg("q"), arg("v")))
      .def("_jacobians", &jacobians, (arg("self"), arg("mask"), arg("A"), arg("B"), arg("exact")))
      .def(
          "_vjp", &vjp, (arg("self"), arg("mask"), arg("w"), arg("x"), arg("torque"), arg("exact")))
      .def("_state", &state, (arg("self"), arg("world")))
      .def("_set_state", &set_state, (arg("self"), arg("world"), arg("state")))
      .def("_control", &control, (arg("self"), arg("world")))
      .def("_commands", &commands, (arg("self"), arg("world")))
      .def("_set_commands", &set_commands, (arg("self"), arg("world"), arg("commands")))
      .def("_parameters", &parameters, (arg("self"), arg("world")))
      .def("_set_parameters", &set_parameters, (arg("self"), arg("world"), arg("parameters")))
      .def("_contact_forces", &contact_forces, (arg("self"), arg("geometries")))
      .def("_field_size", &field_size, (arg("self"), arg("name")))
      .def("_assign", &assign_field, (arg("self"), arg("name"), arg("values"), arg("mask")))
      .def("_values", &values_of, (arg("self"), arg("name")))
      .def("__repr__", &repr);
  expose_arrays(c);
  expose_observer();
  bp::def("_lane_exits", &words);
  bp::def("_world_fields", &fields);
}

}  // namespace stiction::python
