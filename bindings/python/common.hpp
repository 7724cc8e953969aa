#pragma once

// numpy's function table lives in libeigenpy, filled when pinocchio is imported.
#define NO_IMPORT_ARRAY

#include "stiction/math/spatial.hpp"

#include <Eigen/Core>
#include <boost/python.hpp>
#include <boost/python/stl_iterator.hpp>

#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

// What every expose_<folder>.cpp needs: NumPy in and out, with errors that name the argument.

namespace stiction {
class Scene;
struct Material;
struct Parameters;
}  // namespace stiction

namespace stiction::python {

namespace bp = boost::python;
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

void expose_geometry();
void expose_model();
void expose_robot();
void expose_scene();
void expose_state();
void expose_collision();
void expose_contact();
void expose_solver();
void expose_solution_derivatives();
void expose_integrator();
void expose_simulator();
void expose_batch();
void expose_episodes();
void expose_velocity_task();
void expose_scenes();
void expose_study();

/// Lets other Python threads run while it lives.
class AllowThreads {
 public:
  AllowThreads() : saved_(PyEval_SaveThread()) {}
  ~AllowThreads() { PyEval_RestoreThread(saved_); }
  AllowThreads(const AllowThreads&) = delete;
  AllowThreads& operator=(const AllowThreads&) = delete;

 private:
  PyThreadState* saved_;
};

// --- C++ to Python ---

/// New float64 array, row-major.
bp::object array_copy(const double* data, std::initializer_list<long> shape);
/// Writable float64 array over `data`, which `owner` keeps alive. `stride`: bytes between rows of
/// the first axis, 0: dense. Not `writable`: a
/// stiction.fixed_array.FixedArray.
bp::object array_view(const bp::object& owner,
                      double* data,
                      std::initializer_list<long> shape,
                      long stride = 0,
                      bool writable = true);

bp::object to_array(const Vec3d& v);                ///< (3,)
bp::object to_array(const Mat3d& m);                ///< (3, 3)
bp::object to_array(const std::vector<double>& v);  ///< (n,)
bp::object to_array(const Eigen::VectorXd& v);      ///< (n,)
bp::object to_array(const RowMatrix& m);            ///< (rows, cols)
bp::object to_array(const std::vector<Vec3d>& v);   ///< (n, 3)
bp::object to_se3(const Transform& X);              ///< pinocchio.SE3
bp::object to_bytes(const std::string& data);       ///< bytes

template <class T>
bp::list to_list(const std::vector<T>& values) {
  bp::list out;
  for (const T& v : values) out.append(v);
  return out;
}

// --- Python to C++: anything numpy.asarray takes; std::invalid_argument names `field`. ---

Eigen::VectorXd vector_from(const bp::object& x, const std::string& field, long size = -1);
/// bytes alone; `must` ends the sentence of the error: "saved state: must be bytes from ...".
std::string bytes_from(const bp::object& x, const std::string& must);
/// The same of finite numbers.
Eigen::VectorXd finite_vector_from(const bp::object& x, const std::string& field, long size);
RowMatrix matrix_from(const bp::object& x,
                      const std::string& field,
                      long rows = -1,
                      long cols = -1);
Vec3d vec3_from(const bp::object& x, const std::string& field);
std::vector<Vec3d> points_from(const bp::object& x, const std::string& field);
/// pinocchio.SE3 or a 4 x 4 homogeneous matrix; None is the identity.
Transform transform_from(const bp::object& x, const std::string& field);
/// One of these, or an array (n, 4, 4).
std::vector<Transform> transforms_from(const bp::object& x, const std::string& field);
/// Writes x into a view, stretched to its shape as NumPy does.
void write_into(const bp::object& view, const bp::object& x, const std::string& field);
/// Writes x into the array of `size` doubles.
void assign(const bp::object& x, const std::string& field, double* data, long size);

/// The repr of a number as Python writes it.
std::string number(double x);
/// "[x, y, z]".
std::string vector_text(const Vec3d& v);

// --- errors ---

/// stiction.StictionError and stiction.SimulationError, created when the module is.
void create_exceptions();
[[noreturn]] void raise_stiction_error(const char* text);
/// call() with std::runtime_error as StictionError.
template <class Call>
auto with_stiction_errors(Call&& call) {
  try {
    return call();
  } catch (const std::runtime_error& e) {
    raise_stiction_error(e.what());
  }
}
/// Attributes of a SimulationError.
struct SimulationFailure {
  double time = 0.0;  ///< [s] of the start of the step
  long step = 0;
  std::string dof, body;  ///< the fastest, and the body it moves
  std::string contact;    ///< the pair that pushes most; empty: none
};
[[noreturn]] void raise_simulation_error(const std::string& text, const SimulationFailure& failure);

[[noreturn]] void raise_type_error(const std::string& text);
/// The repr of anything, cut short.
std::string shown(const bp::object& x);

// --- refusals in words, where Boost.Python would print C++ signatures or say nothing ---

/// An argument of a function, for `refusal`.
struct Argument {
  enum Kind { kNumber, kInteger, kText, kShape, kState, kScene, kAny };
  const char* name;
  Kind kind = kAny;
  bool required = true;
};
/// What stands before names; none: the callee's default. Raises TypeError for what is no text.
std::optional<std::string> prefix_from(const bp::object& prefix);
/// A method that fits all arguments and raises TypeError naming the first that is wrong. To be
/// defined *before* the true one: Boost.Python tries the last overload first.
bp::object refusal(const std::string& function, const std::vector<Argument>& arguments);
/// Setting an attribute that is not there raises AttributeError with near names. Subclasses made in
/// Python keep their freedom.
void forbid_new_attributes(const bp::object& type);

/// Calls that do not fit are explained, and functions tell their signatures. When all are exposed.
void explain_calls();
/// The same for the error of assigning `value`.
void explain_attribute(PyObject* self, PyObject* name, PyObject* value);

/// None: those of the scene. Not validated.
const Parameters& parameters_from(const Scene& scene, const bp::object& parameters);
/// None: the standard material.
const Material& material_from(const bp::object& material, const char* field);
/// A body where no scene is at hand to look up its name.
int index_of_body(const bp::object& body, const char* field);

/// An integer of Python in [low, high]. Raises TypeError for what is none.
int integer_from(const bp::object& x, const char* field, int low, int high);

// --- arguments given by name or number ---

int body_from(const Scene& scene, const bp::object& body, const char* field);
int joint_from(const Scene& scene, const bp::object& joint, const char* field);
int geometry_from(const Scene& scene, const bp::object& geometry, const char* field);
int dof_from(const Scene& scene, const bp::object& dof, const char* field);

}  // namespace stiction::python
