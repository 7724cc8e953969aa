#include "common.hpp"

#include <Eigen/LU>
#include <eigenpy/numpy.hpp>
#include <pinocchio/spatial/se3.hpp>

#include <cmath>
#include <stdexcept>

namespace stiction::python {
namespace {

using Shape = std::initializer_list<long>;

bp::object steal(PyObject* p) { return bp::object(bp::handle<>(p)); }

[[noreturn]] void fail(const std::string& text) { throw std::invalid_argument(text); }

PyArrayObject* as_array(const bp::object& x) { return reinterpret_cast<PyArrayObject*>(x.ptr()); }

std::string shape_text(PyArrayObject* array) {
  std::string text = "(";
  for (int k = 0; k < PyArray_NDIM(array); ++k) {
    text += std::to_string(PyArray_DIM(array, k)) + (k + 1 < PyArray_NDIM(array) ? ", " : "");
  }
  return text + (PyArray_NDIM(array) == 1 ? ",)" : ")");
}

std::string wanted_text(const std::vector<long>& shape) {
  std::string text = "(";
  for (std::size_t k = 0; k < shape.size(); ++k) {
    text += (k ? ", " : "") + (shape[k] < 0 ? std::string("any") : std::to_string(shape[k]));
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

std::string short_repr(const bp::object& x) {
  std::string text = bp::extract<std::string>(bp::str(steal(PyObject_Repr(x.ptr()))));
  return text.size() > 60 ? text.substr(0, 57) + "..." : text;
}

/// x as a row-major float64 array of any shape.
bp::object numbers_from(const bp::object& x, const std::string& field, const std::string& shape) {
  if (x.is_none()) fail(field + " = None: must be an array of shape " + shape);
  PyObject* p = PyArray_FromAny(
      x.ptr(), PyArray_DescrFromType(NPY_DOUBLE), 0, 0, NPY_ARRAY_CARRAY_RO, nullptr);
  if (p != nullptr) return steal(p);
  PyErr_Clear();
  fail(field + " = " + short_repr(x) + ": must be an array of numbers of shape " + shape);
}

/// The same of the wanted shape (-1: any).
bp::object array_from(const bp::object& x,
                      const std::string& field,
                      const std::vector<long>& shape) {
  const bp::object array = numbers_from(x, field, wanted_text(shape));
  bool ok = PyArray_NDIM(as_array(array)) == static_cast<int>(shape.size());
  for (std::size_t k = 0; ok && k < shape.size(); ++k) {
    ok = shape[k] < 0 || PyArray_DIM(as_array(array), static_cast<int>(k)) == shape[k];
  }
  if (!ok) {
    fail(field + " has shape " + shape_text(as_array(array)) + ": must be " + wanted_text(shape));
  }
  return array;
}

const double* data_of(const bp::object& array) {
  return static_cast<const double*>(PyArray_DATA(as_array(array)));
}

/// 4 x 4, row by row. `field()` makes its name.
template <class Field>
Transform transform_from(const double* entries, Field&& field) {
  const Eigen::Map<const Eigen::Matrix<double, 4, 4, Eigen::RowMajor>> m(entries);
  const Eigen::Matrix3d R = m.topLeftCorner<3, 3>();
  if (!m.allFinite()) fail(field() + ": has an entry that is not finite");
  const double defect = (R.transpose() * R - Eigen::Matrix3d::Identity()).cwiseAbs().maxCoeff();
  if (defect > 1e-6) {
    fail(field() + ": its rotation is not orthonormal (defect " + number(defect) +
         "): orthonormalise it, or take a scale out");
  }
  if (R.determinant() < 0.0) {
    fail(field() + ": its rotation has determinant -1, a reflection: turn one axis round");
  }
  if (m(3, 0) != 0.0 || m(3, 1) != 0.0 || m(3, 2) != 0.0 || m(3, 3) != 1.0) {
    fail(field() + ": its last row must be 0 0 0 1");
  }
  return {{{R(0, 0), R(1, 0), R(2, 0)}, {R(0, 1), R(1, 1), R(2, 1)}, {R(0, 2), R(1, 2), R(2, 2)}},
          {m(0, 3), m(1, 3), m(2, 3)}};
}

std::vector<npy_intp> dimensions(Shape shape) { return {shape.begin(), shape.end()}; }

}  // namespace

bp::object array_copy(const double* data, Shape shape) {
  std::vector<npy_intp> dims = dimensions(shape);
  const bp::object out =
      steal(PyArray_SimpleNew(static_cast<int>(dims.size()), dims.data(), NPY_DOUBLE));
  const npy_intp count = PyArray_SIZE(as_array(out));
  std::copy(data, data + count, static_cast<double*>(PyArray_DATA(as_array(out))));
  return out;
}

bp::object array_view(
    const bp::object& owner, double* data, Shape shape, long stride, bool writable) {
  std::vector<npy_intp> dims = dimensions(shape), strides(dims.size());
  npy_intp bytes = sizeof(double);
  for (std::size_t k = dims.size(); k-- > 0;) {
    strides[k] = bytes;
    bytes *= dims[k];
  }
  if (stride != 0) strides[0] = stride;
  static double nothing = 0.0;  // numpy refuses a null pointer even for an empty array
  if (data == nullptr) data = &nothing;
  const bp::object out = steal(PyArray_New(&PyArray_Type,
                                           static_cast<int>(dims.size()),
                                           dims.data(),
                                           NPY_DOUBLE,
                                           strides.data(),
                                           data,
                                           0,
                                           NPY_ARRAY_ALIGNED | (writable ? NPY_ARRAY_WRITEABLE : 0),
                                           nullptr));
  Py_INCREF(owner.ptr());
  if (PyArray_SetBaseObject(as_array(out), owner.ptr()) < 0) bp::throw_error_already_set();
  if (writable) return out;
  const bp::object type = bp::import("stiction.fixed_array").attr("FixedArray");
  return out.attr("view")(type);
}

bp::object to_array(const Vec3d& v) { return array_copy(&v.x, {3}); }

bp::object to_array(const Mat3d& m) {
  const double rows[9] = {m.c0.x, m.c1.x, m.c2.x, m.c0.y, m.c1.y, m.c2.y, m.c0.z, m.c1.z, m.c2.z};
  return array_copy(rows, {3, 3});
}

bp::object to_array(const std::vector<double>& v) {
  return array_copy(v.data(), {static_cast<long>(v.size())});
}

bp::object to_array(const Eigen::VectorXd& v) { return array_copy(v.data(), {v.size()}); }

bp::object to_array(const RowMatrix& m) { return array_copy(m.data(), {m.rows(), m.cols()}); }

bp::object to_array(const std::vector<Vec3d>& v) {
  return array_copy(reinterpret_cast<const double*>(v.data()), {static_cast<long>(v.size()), 3});
}

bp::object to_bytes(const std::string& data) {
  return bp::object(
      bp::handle<>(PyBytes_FromStringAndSize(data.data(), static_cast<Py_ssize_t>(data.size()))));
}

std::string bytes_from(const bp::object& x, const std::string& must) {
  char* data = nullptr;
  Py_ssize_t size = 0;
  if (!PyBytes_Check(x.ptr()) || PyBytes_AsStringAndSize(x.ptr(), &data, &size) < 0)
    throw std::invalid_argument(must);
  return std::string(data, static_cast<std::size_t>(size));
}

bp::object to_se3(const Transform& X) {
  pinocchio::SE3 out;
  out.rotation() << X.R.c0.x, X.R.c1.x, X.R.c2.x, X.R.c0.y, X.R.c1.y, X.R.c2.y, X.R.c0.z, X.R.c1.z,
      X.R.c2.z;
  out.translation() << X.p.x, X.p.y, X.p.z;
  return bp::object(out);
}

Eigen::VectorXd vector_from(const bp::object& x, const std::string& field, long size) {
  const bp::object array = array_from(x, field, {size});
  return Eigen::Map<const Eigen::VectorXd>(data_of(array), PyArray_DIM(as_array(array), 0));
}

Eigen::VectorXd finite_vector_from(const bp::object& x, const std::string& field, long size) {
  const Eigen::VectorXd out = vector_from(x, field, size);
  for (Eigen::Index i = 0; i < out.size(); ++i) {
    if (!std::isfinite(out[i]))
      fail(field + "[" + std::to_string(i) + "] = " + number(out[i]) + ": must be finite");
  }
  return out;
}

RowMatrix matrix_from(const bp::object& x, const std::string& field, long rows, long cols) {
  const bp::object array = array_from(x, field, {rows, cols});
  return Eigen::Map<const RowMatrix>(
      data_of(array), PyArray_DIM(as_array(array), 0), PyArray_DIM(as_array(array), 1));
}

Vec3d vec3_from(const bp::object& x, const std::string& field) {
  const bp::object array = array_from(x, field, {3});
  const double* v = data_of(array);
  for (int k = 0; k < 3; ++k) {
    if (!std::isfinite(v[k]))
      fail(field + "[" + std::to_string(k) + "] = " + number(v[k]) + ": must be finite");
  }
  return {v[0], v[1], v[2]};
}

std::vector<Vec3d> points_from(const bp::object& x, const std::string& field) {
  const RowMatrix m = matrix_from(x, field, -1, 3);
  std::vector<Vec3d> points;
  for (long i = 0; i < m.rows(); ++i) points.push_back({m(i, 0), m(i, 1), m(i, 2)});
  return points;
}

Transform transform_from(const bp::object& x, const std::string& field) {
  if (x.is_none()) return Transform::identity();
  const bool se3 = PyObject_HasAttrString(x.ptr(), "homogeneous");
  const RowMatrix m = matrix_from(se3 ? bp::object(x.attr("homogeneous")) : x, field, 4, 4);
  return transform_from(m.data(), [&] { return field; });
}

std::vector<Transform> transforms_from(const bp::object& x, const std::string& field) {
  const bool one = x.is_none() || PyObject_HasAttrString(x.ptr(), "homogeneous");
  if (one) return {transform_from(x, field)};
  const bp::object array = numbers_from(x, field, "(n, 4, 4)");
  PyArrayObject* shape = as_array(array);
  if (PyArray_NDIM(shape) == 2) return {transform_from(x, field)};
  if (PyArray_NDIM(shape) != 3 || PyArray_DIM(shape, 1) != 4 || PyArray_DIM(shape, 2) != 4)
    fail(field + " has shape " + shape_text(shape) + ": must be (4, 4) or (n, 4, 4)");
  std::vector<Transform> out;
  for (long i = 0; i < PyArray_DIM(shape, 0); ++i) {
    out.push_back(transform_from(data_of(array) + 16 * i,
                                 [&] { return field + "[" + std::to_string(i) + "]"; }));
  }
  return out;
}

void write_into(const bp::object& view, const bp::object& x, const std::string& field) {
  const std::string wanted = shape_text(as_array(view));
  const bp::object array = numbers_from(x, field, wanted);
  if (PyArray_CopyInto(as_array(view), as_array(array)) == 0) return;
  PyErr_Clear();
  fail(field + " has shape " + shape_text(as_array(array)) + ": must be " + wanted +
       ", or one number for all");
}

void assign(const bp::object& x, const std::string& field, double* data, long size) {
  const Eigen::VectorXd v = vector_from(x, field, size);
  std::copy(v.data(), v.data() + size, data);
}

std::string number(double x) { return bp::extract<std::string>(bp::str(bp::object(x))); }

std::string vector_text(const Vec3d& v) {
  return "[" + number(v.x) + ", " + number(v.y) + ", " + number(v.z) + "]";
}

}  // namespace stiction::python
