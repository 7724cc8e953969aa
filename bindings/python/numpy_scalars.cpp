#include "common.hpp"
#include <eigenpy/numpy.hpp>

#include <new>

// Boost.Python takes Python's own int and float, and what derives from them: np.float64, but
// neither np.float32 nor np.int64. Here they become numbers wherever one is taken.

namespace stiction::python {
namespace {

using Stage1 = bp::converter::rvalue_from_python_stage1_data;

template <class T>
void put(T value, Stage1* data) {
  void* storage =
      reinterpret_cast<bp::converter::rvalue_from_python_storage<T>*>(data)->storage.bytes;
  data->convertible = new (storage) T(value);
}

void* real_scalar(PyObject* x) {
  return PyArray_IsScalar(x, Floating) || PyArray_IsScalar(x, Integer) ? x : nullptr;
}

void make_real(PyObject* x, Stage1* data) {
  const double value = PyFloat_AsDouble(x);
  if (value == -1.0 && PyErr_Occurred()) bp::throw_error_already_set();
  put(value, data);
}

void* integer_scalar(PyObject* x) { return PyArray_IsScalar(x, Integer) ? x : nullptr; }

/// The number as Python's, which Boost.Python converts with its check of the range.
template <class T>
void make_integer(PyObject* x, Stage1* data) {
  const bp::object number{bp::handle<>(PyNumber_Index(x))};
  put<T>(bp::extract<T>(number), data);
}

template <class T>
void take_integers() {
  bp::converter::registry::push_back(&integer_scalar, &make_integer<T>, bp::type_id<T>());
}

}  // namespace

void take_numpy_scalars() {
  bp::converter::registry::push_back(&real_scalar, &make_real, bp::type_id<double>());
  take_integers<int>();
  take_integers<long>();
  take_integers<unsigned long>();
}

}  // namespace stiction::python
