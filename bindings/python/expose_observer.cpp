#include "stiction/batch/observer.hpp"

#include "batch_holder.hpp"

// Kernels of Batch.observe and Batch.roll. Arguments are checked by stiction/observations.py; here
// what would leave memory.

namespace stiction::python {
namespace {

/// Kept by its batch, in Python: it must not keep the batch in turn.
struct HeldObserver {
  HeldObserver(BatchHolder& of, const ObserverSettings& settings)
      : batch(of), observer(of, settings) {}

  BatchHolder& batch;
  Observer observer;
};

/// By name, or of a body by name or number; None is the world's.
BodyFrame frame_from(const Scene& scene, const bp::object& x, const char* field) {
  if (x.is_none()) return {};
  const bp::extract<std::string> name(x);
  if (!name.check()) return {body_from(scene, x, field)};
  const auto [body, X_BF] = scene.frame(name());
  if (body < 0)
    throw std::invalid_argument(std::string(field) + " = \"" + name() + "\": it does not move");
  return {body, X_BF};
}

std::vector<int> geometries_from(const Scene& scene, const bp::list& x, const char* field) {
  std::vector<int> out;
  for (bp::ssize_t k = 0; k < bp::len(x); ++k) out.push_back(geometry_from(scene, x[k], field));
  return out;
}

std::shared_ptr<HeldObserver> make_observer(BatchHolder& batch, const bp::dict& given) {
  const Inside inside(batch.occupancy, "Batch.observe");
  const Scene& scene = batch.scene();
  ObserverSettings s;
  const bp::object names = given["names"], frames = given["frames"];
  s.names.assign(bp::stl_input_iterator<std::string>(names), bp::stl_input_iterator<std::string>());
  s.feet = geometries_from(scene, bp::list(given["feet"]), "feet");
  for (bp::ssize_t k = 0; k < bp::len(frames); ++k)
    s.frames.push_back(frame_from(scene, frames[k], "frames"));
  s.reference = frame_from(scene, given["reference"], "reference");
  s.imu = frame_from(scene, given["imu"], "imu");
  if (const bp::object scan = given["scan"]; !scan.is_none()) {
    const RowMatrix points = matrix_from(scan["points"], "scan.points", -1, 2);
    s.scan.points.assign(points.data(), points.data() + points.size());
    s.scan.frame = frame_from(scene, scan["frame"], "scan.frame");
    s.scan.above = bp::extract<double>(scan["above"]);
    s.scan.miss = bp::extract<double>(scan["miss"]);
    s.scan.ground = geometries_from(scene, bp::list(scan["ground"]), "scan.ground");
  }
  return std::make_shared<HeldObserver>(batch, s);
}

int columns(const HeldObserver& x) { return x.observer.columns(); }

template <class Real>
void observe_as(const HeldObserver& x, PyArrayObject* out) {
  const auto stride = PyArray_STRIDE(out, 0) / static_cast<npy_intp>(sizeof(Real));
  auto* to = static_cast<Real*>(PyArray_DATA(out));
  with_stiction_errors([&] {
    const AllowThreads free;
    x.observer.observe(to, stride);
  });
}

void observe(const HeldObserver& x, const bp::object& out) {
  const Inside inside(x.batch.occupancy, "Batch.observe");
  auto* array = reinterpret_cast<PyArrayObject*>(out.ptr());
  const bool fits = PyArray_Check(out.ptr()) && PyArray_ISBEHAVED(array) &&
                    PyArray_NDIM(array) == 2 && PyArray_DIM(array, 0) == x.batch.worlds() &&
                    PyArray_DIM(array, 1) == x.observer.columns();
  const int type = fits ? PyArray_TYPE(array) : NPY_NOTYPE;
  if (type == NPY_DOUBLE) return observe_as<double>(x, array);
  if (type == NPY_FLOAT) return observe_as<float>(x, array);
  throw std::invalid_argument("out: not as observations.py makes it");
}

template <class Real>
void roll_as(BatchHolder& batch,
             PyArrayObject* history,
             const bp::object& newest,
             const std::uint8_t* begun) {
  const npy_intp length = PyArray_DIM(history, 1), m = PyArray_DIM(history, 2);
  const auto* now = data_of<Real>(newest, "newest", batch.worlds() * m);
  auto* rows = static_cast<Real*>(PyArray_DATA(history));
  with_stiction_errors([&] {
    const AllowThreads free;
    roll_history(batch, static_cast<int>(length), static_cast<int>(m), now, begun, rows);
  });
}

void roll(BatchHolder& batch,
          const bp::object& history,
          const bp::object& newest,
          const bp::object& begun) {
  const Inside inside(batch.occupancy, "Batch.roll");
  auto* array = reinterpret_cast<PyArrayObject*>(history.ptr());
  const auto* worlds = data_of<std::uint8_t>(begun, "begun", batch.worlds());
  const bool fits = PyArray_Check(history.ptr()) && PyArray_ISCARRAY(array) &&
                    PyArray_NDIM(array) == 3 && PyArray_DIM(array, 0) == batch.worlds() &&
                    PyArray_DIM(array, 1) > 0;
  const int type = fits ? PyArray_TYPE(array) : NPY_NOTYPE;
  if (type == NPY_DOUBLE) return roll_as<double>(batch, array, newest, worlds);
  if (type == NPY_FLOAT) return roll_as<float>(batch, array, newest, worlds);
  throw std::invalid_argument("history: not as observations.py makes it");
}

}  // namespace

void expose_observer() {
  using bp::arg;
  bp::class_<HeldObserver, std::shared_ptr<HeldObserver>, boost::noncopyable>(
      "_Observer", "Kernels of Batch.observe.", bp::no_init)
      .def("__init__",
           bp::make_constructor(
               &make_observer, bp::default_call_policies(), (arg("batch"), arg("settings"))))
      .add_property("columns", &columns)
      .def("observe", &observe, (arg("self"), arg("out")));
  bp::def("_roll", &roll, (arg("batch"), arg("history"), arg("newest"), arg("begun")));
}

}  // namespace stiction::python
