#pragma once

#include "common.hpp"
#include <eigenpy/numpy.hpp>

#include <type_traits>

// Arrays of an environment, looked at in every call.

namespace stiction::python {

template <class T>
constexpr char array_kind() {
  return std::is_floating_point_v<T> ? 'f' : std::is_same_v<T, std::int64_t> ? 'i' : 'b';
}

/// Numbers of a contiguous array of T of `rows` x `columns`, 0 columns: of one axis.
template <class T>
inline T* checked(
    const bp::object& x, const char* field, long rows, long columns, bool writable = true) {
  auto* array = reinterpret_cast<PyArrayObject*>(x.ptr());
  const bool fits =
      PyArray_Check(x.ptr()) && (writable ? PyArray_ISCARRAY(array) : PyArray_ISCARRAY_RO(array)) &&
      PyArray_DESCR(array)->kind == array_kind<T>() && PyArray_ITEMSIZE(array) == sizeof(T) &&
      PyArray_NDIM(array) == (columns == 0 ? 1 : 2) && PyArray_DIM(array, 0) == rows &&
      (columns == 0 || PyArray_DIM(array, 1) == columns);
  if (fits) return static_cast<T*>(PyArray_DATA(array));
  const std::string shape =
      std::to_string(rows) + (columns == 0 ? "," : ", " + std::to_string(columns));
  const std::string type = std::is_same_v<T, double>  ? "float64"
                           : std::is_same_v<T, float> ? "float32"
                           : array_kind<T>() == 'i'   ? "int64"
                                                      : "bool";
  throw std::invalid_argument(std::string(field) + ": must be a contiguous writable array (" +
                              shape + ") of " + type + "; write " + field +
                              "[:] = ... to keep the array that is there");
}

}  // namespace stiction::python
