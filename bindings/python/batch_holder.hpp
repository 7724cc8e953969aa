#pragma once

#include "stiction/batch/batch.hpp"
#include "stiction/batch/batch_derivatives.hpp"

#include "common.hpp"
#include "inside.hpp"
#include "scene_holder.hpp"
#include "simulator_holder.hpp"
#include <eigenpy/numpy.hpp>

namespace stiction::python {

void expose_observer();  ///< with the batch

/// The batch as Python holds it.
struct BatchHolder : Batch {
  BatchHolder(const SceneHolder& scene,
              int worlds,
              const SettingsHolder& settings,
              const BatchOptions& options)
      : Batch(scene, worlds, settings, options),
        origin(scene),
        shown(std::make_shared<SceneHolder>(scene)) {
    shown->fixed = true;
    set_interrupt(occupancy.signals.interrupt());
  }

  SceneOrigin origin;
  std::shared_ptr<SceneHolder> shown;
  std::unique_ptr<BatchDerivatives> derivatives;  ///< made when it is asked for
  mutable Occupancy occupancy;
  std::unique_ptr<Inside> pending;  ///< step_async() is under way
};
template <class T>
constexpr int numpy_type() {
  if constexpr (std::is_same_v<T, double>) return NPY_DOUBLE;
  if constexpr (std::is_same_v<T, std::int32_t>) return NPY_INT32;
  return NPY_UINT8;
}

/// Rows of the batch, `columns` 0: one number each.
template <class T>
inline bp::object rows(const bp::object& self, const T* data, int columns, bool writable) {
  npy_intp shape[2] = {static_cast<BatchHolder&>(bp::extract<BatchHolder&>(self)).worlds(),
                       columns};
  static double nothing = 0.0;  // numpy refuses a null pointer even for an empty array
  void* memory = data == nullptr ? static_cast<void*>(&nothing) : const_cast<T*>(data);
  PyObject* array = PyArray_New(&PyArray_Type,
                                columns == 0 ? 1 : 2,
                                shape,
                                numpy_type<T>(),
                                nullptr,
                                memory,
                                0,
                                NPY_ARRAY_CARRAY_RO | (writable ? NPY_ARRAY_WRITEABLE : 0),
                                nullptr);
  const bp::object out{bp::handle<>(array)};
  Py_INCREF(self.ptr());
  if (PyArray_SetBaseObject(reinterpret_cast<PyArrayObject*>(array), self.ptr()) < 0)
    bp::throw_error_already_set();
  return out;
}

/// Contiguous T of a shape that stiction/batch.py made so; null of None.
template <class T>
const T* data_of(const bp::object& x, const char* field, long size) {
  if (x.is_none()) return nullptr;
  auto* array = reinterpret_cast<PyArrayObject*>(x.ptr());
  const bool fits = PyArray_Check(x.ptr()) && PyArray_ISCARRAY_RO(array) &&
                    PyArray_ITEMSIZE(array) == sizeof(T) && PyArray_SIZE(array) == size;
  if (!fits) throw std::invalid_argument(std::string(field) + ": not as batch.py makes it");
  return static_cast<const T*>(PyArray_DATA(array));
}

/// Into arrays that stiction/batch.py made.
template <class T>
T* output(const bp::object& x, const char* field, long size) {
  return const_cast<T*>(data_of<T>(x, field, size));
}

}  // namespace stiction::python
