#include "stiction/collision/distance_derivatives.hpp"
#include "stiction/math/constants.hpp"

#include "distance_query.hpp"

#include <algorithm>
#include <ctime>
#include <limits>
#include <vector>

namespace stiction::python {
namespace {

bp::list methods() { return to_list(derivative_methods()); }

/// Takes a setting that is given; refuses one that the method does not read.
class Given {
 public:
  explicit Given(const std::string& method) : method_(method) {}
  void take(const bp::object& value, const char* field, double& out, const char* reader) {
    if (!is_given(value, field, reader)) return;
    const bp::extract<double> number(value);
    if (!number.check()) raise_type_error(std::string(field) + ": must be a number");
    out = number();
  }
  template <class Integer>
  void take_integer(const bp::object& value,
                    const char* field,
                    Integer& out,
                    const std::string& readers) {
    if (!is_given(value, field, readers)) return;
    out = static_cast<Integer>(integer_from(value, field, 0, std::numeric_limits<int>::max()));
  }

 private:
  bool is_given(const bp::object& value, const std::string& field, const std::string& readers) {
    if (value.is_none()) return false;
    if ((" " + readers + " ").find(" " + method_ + " ") == std::string::npos)
      throw std::invalid_argument(field + ": method \"" + method_ +
                                  "\" does not read it (read by: " + readers + ")");
    return true;
  }
  std::string method_;
};

DerivativeSettings settings_from(const std::string& method,
                                 const bp::object& step,
                                 const bp::object& spread_linear,
                                 const bp::object& spread_angular,
                                 const bp::object& spread_direction,
                                 const bp::object& samples,
                                 const bp::object& seed,
                                 const bp::object& level,
                                 const bp::object& temperature) {
  DerivativeSettings s;
  s.method = derivative_method(method);
  Given given(method);
  given.take(step, "step", s.step, "finite-differences");
  given.take(spread_linear, "spread_linear", s.spread_linear, "gaussian-0");
  given.take(spread_angular, "spread_angular", s.spread_angular, "gaussian-0");
  given.take(spread_direction, "spread_direction", s.spread_direction, "gaussian-1");
  given.take_integer(samples, "samples", s.samples, "gaussian-0 gaussian-1");
  given.take_integer(seed, "seed", s.seed, "gaussian-0 gaussian-1");
  given.take_integer(level, "level", s.level, "gumbel");
  given.take(temperature, "temperature", s.temperature, "gumbel");
  return s;
}

void require_same(const Transform& X, const Transform& of_answer, const char* field) {
  double apart = norm(X.p - of_answer.p);
  for (int k = 0; k < 3; ++k) apart += norm(X.R.column(k) - of_answer.R.column(k));
  if (apart > 1e-12 * (1.0 + norm(X.p)))
    throw std::invalid_argument("at: is the answer of another placement: " + std::string(field) +
                                " differs by " + number(apart));
}

DistanceDerivatives derivatives(const Shape& a,
                                const bp::object& X_WA,
                                const Shape& b,
                                const bp::object& X_WB,
                                const std::string& method,
                                const bp::object& at,
                                const bp::object& step,
                                const bp::object& spread_linear,
                                const bp::object& spread_angular,
                                const bp::object& spread_direction,
                                const bp::object& samples,
                                const bp::object& seed,
                                const bp::object& level,
                                const bp::object& temperature) {
  const DerivativeSettings s = settings_from(method,
                                             step,
                                             spread_linear,
                                             spread_angular,
                                             spread_direction,
                                             samples,
                                             seed,
                                             level,
                                             temperature);
  const Transform A = transform_from(X_WA, "X_WA"), B = transform_from(X_WB, "X_WB");
  Query found;
  if (at.is_none()) {
    found = query(a, X_WA, b, X_WB, 1e-10, 128, {}, "auto", "bounds", kInfinity);
  } else {
    const bp::extract<const Query&> known(at);
    if (!known.check()) raise_type_error("at: must be a DistanceResult or None");
    found = known();
    require_same(A, found.X_WA, "X_WA");
    require_same(B, found.X_WB, "X_WB");
  }
  AllowThreads free;
  return distance_derivatives(a, A, b, B, found, s, &found.warm_start);
}

/// The shape or the shapes of one side, and `keep`, which holds them.
std::vector<const Shape*> shapes_from(const bp::object& x, const char* field, bp::list& keep) {
  const bp::extract<const Shape&> one(x);
  if (one.check()) return {&one()};
  if (!PySequence_Check(x.ptr()))
    raise_type_error(std::string(field) + ": must be a Shape or a sequence of them");
  std::vector<const Shape*> shapes;
  for (bp::stl_input_iterator<bp::object> i(x), end; i != end; ++i) {
    const bp::object item = *i;
    const bp::extract<const Shape&> shape(item);
    if (!shape.check())
      raise_type_error(std::string(field) + "[" + std::to_string(shapes.size()) +
                       "]: must be a Shape");
    keep.append(item);
    shapes.push_back(&shape());
  }
  return shapes;
}

/// Arrays are as long as each other, or 1.
class Length {
 public:
  void take(std::size_t size, const char* field) {
    if (size == 1 || size == count_) return;
    if (name_ != nullptr)
      throw std::invalid_argument(std::string(field) + ": has " + std::to_string(size) +
                                  " entries, " + name_ + " has " + std::to_string(count_));
    count_ = size;
    name_ = field;
  }
  std::size_t count() const { return count_; }

 private:
  std::size_t count_ = 1;
  const char* name_ = nullptr;
};

/// (n, shape...) of what `get` gives of each.
template <class T, class Get>
bp::object gathered(const std::vector<T>& all, std::initializer_list<long> shape, Get get) {
  const long count = static_cast<long>(all.size());
  long size = 1;
  for (const long k : shape) size *= k;
  std::vector<double> numbers;
  numbers.reserve(all.size() * static_cast<std::size_t>(size));
  for (const T& one : all) {
    const double* first = get(one);
    numbers.insert(numbers.end(), first, first + size);
  }
  const long* k = shape.begin();
  if (shape.size() == 0) return array_copy(numbers.data(), {count});
  if (shape.size() == 1) return array_copy(numbers.data(), {count, k[0]});
  return array_copy(numbers.data(), {count, k[0], k[1]});
}

bp::dict arrays_of(const std::vector<DistanceResult>& at,
                   const std::vector<DistanceDerivatives>& d) {
  using R = DistanceResult;
  using D = DistanceDerivatives;
  bp::dict out;
  out["distance"] = gathered(at, {}, [](const R& r) { return &r.distance; });
  out["normal"] = gathered(at, {3}, [](const R& r) { return &r.normal.x; });
  out["witness_a"] = gathered(at, {3}, [](const R& r) { return &r.witness_a.x; });
  out["witness_b"] = gathered(at, {3}, [](const R& r) { return &r.witness_b.x; });
  out["distance_by_twist"] = gathered(d, {6}, [](const D& x) { return x.distance; });
  out["normal_by_twist"] = gathered(d, {3, 6}, [](const D& x) { return &x.normal[0][0]; });
  out["witness_a_by_twist"] = gathered(d, {3, 6}, [](const D& x) { return &x.witness_a[0][0]; });
  out["witness_b_by_twist"] = gathered(d, {3, 6}, [](const D& x) { return &x.witness_b[0][0]; });
  bp::list status;
  for (const D& x : d) status.append(to_string(x.status));
  out["status"] = status;
  return out;
}

bp::dict derivatives_of_pairs(const bp::object& a,
                              const bp::object& X_WA,
                              const bp::object& b,
                              const bp::object& X_WB,
                              const std::string& method,
                              const bp::object& step,
                              const bp::object& spread_linear,
                              const bp::object& spread_angular,
                              const bp::object& spread_direction,
                              const bp::object& samples,
                              const bp::object& seed,
                              const bp::object& level,
                              const bp::object& temperature) {
  const DerivativeSettings s = settings_from(method,
                                             step,
                                             spread_linear,
                                             spread_angular,
                                             spread_direction,
                                             samples,
                                             seed,
                                             level,
                                             temperature);
  bp::list keep;
  const std::vector<const Shape*> as = shapes_from(a, "a", keep), bs = shapes_from(b, "b", keep);
  const std::vector<Transform> A = transforms_from(X_WA, "X_WA"), B = transforms_from(X_WB, "X_WB");
  Length length;
  length.take(as.size(), "a");
  length.take(A.size(), "X_WA");
  length.take(bs.size(), "b");
  length.take(B.size(), "X_WB");
  const auto of = [](const auto& all, std::size_t i) -> const auto& {
    return all[all.size() == 1 ? 0 : i];
  };
  std::vector<PlacedPair> pairs;
  for (std::size_t i = 0; i < length.count(); ++i)
    pairs.push_back({of(as, i), of(A, i), of(bs, i), of(B, i)});
  std::vector<DistanceResult> at(pairs.size());
  std::vector<DistanceDerivatives> out(pairs.size());
  {
    AllowThreads free;
    distance_derivatives_of_pairs(
        pairs.data(), static_cast<int>(pairs.size()), s, at.data(), out.data());
  }
  return arrays_of(at, out);
}

double cpu_time() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Seconds a call, the best of five means over `repeats` calls in a row.
double time_one(const Shape& a,
                const Shape& b,
                const Transform& X_AB,
                const DerivativeSettings& settings,
                int repeats) {
  const Transform I = Transform::identity();
  DistanceCache cache;
  const DistanceResult at = distance(a, I, b, X_AB, {}, &cache);
  double best = kInfinity;
  for (int round = 0; round < 5; ++round) {
    const double start = cpu_time();
    for (int r = 0; r < repeats; ++r) distance_derivatives(a, I, b, X_AB, at, settings, &cache);
    best = std::min(best, (cpu_time() - start) / repeats);
  }
  return best;
}

bp::object time_derivatives(const Shape& a,
                            const Shape& b,
                            const bp::object& X_AB,
                            const std::string& method,
                            int samples,
                            int level,
                            int repeats) {
  if (repeats < 1)
    throw std::invalid_argument("repeats = " + std::to_string(repeats) + ": must be >= 1");
  DerivativeSettings s;
  s.method = derivative_method(method);
  s.samples = samples;
  s.level = level;
  return bp::object(time_one(a, b, transform_from(X_AB, "X_AB"), s, repeats));
}

using Rows = const double (&)[3][6];
bp::object rows(Rows m) { return array_copy(&m[0][0], {3, 6}); }
bp::object distance_of(const DistanceDerivatives& d) { return array_copy(d.distance, {6}); }
bp::object normal_of(const DistanceDerivatives& d) { return rows(d.normal); }
bp::object witness_a_of(const DistanceDerivatives& d) { return rows(d.witness_a); }
bp::object witness_b_of(const DistanceDerivatives& d) { return rows(d.witness_b); }
std::string status_of(const DistanceDerivatives& d) { return to_string(d.status); }
std::string repr(const DistanceDerivatives& d) {
  std::string text = "DistanceDerivatives(distance=[";
  for (int k = 0; k < 6; ++k) text += (k > 0 ? ", " : "") + number(d.distance[k]);
  return text + "], status=\"" + status_of(d) + "\")";
}

}  // namespace

void expose_distance_derivatives() {
  using bp::arg;
  const bp::object none;
  bp::class_<DistanceDerivatives>(
      "DistanceDerivatives",
      "First derivatives of a distance query by the twist of B relative to A: columns 0..2 the "
      "velocity [m/s] of the origin of B's frame, 3..5 the angular velocity [rad/s], in world "
      "axes, "
      "A at rest.",
      bp::no_init)
      .add_property("distance", &distance_of, "(6,) of the signed distance [m].")
      .add_property("normal", &normal_of, "(3, 6) of the unit normal from A to B.")
      .add_property("witness_a", &witness_a_of, "(3, 6) of the witness point on A [m].")
      .add_property("witness_b", &witness_b_of, "(3, 6) of the witness point on B [m].")
      .add_property("smooth",
                    &DistanceDerivatives::smooth,
                    "Whether they are exact derivatives of a point that is smooth.")
      .add_property(
          "status",
          &status_of,
          "\"smooth\"; \"kink\": one choice of several, as the features leave the points free or "
          "hold them twice (a face on a face) or end within 1e-6 of the size or rad (a ball over "
          "the edge of a box); \"sampled\"; \"smoothed\"; \"face\": the smoothed "
          "Hessians "
          "plus the distance are not positive definite, exact ones of the features instead.")
      .def("__repr__", &repr);
  bp::def(
      "distance_derivatives",
      &derivatives,
      (arg("a"),
       arg("X_WA"),
       arg("b"),
       arg("X_WB"),
       arg("method") = "exact",
       arg("at") = none,
       arg("step") = none,
       arg("spread_linear") = none,
       arg("spread_angular") = none,
       arg("spread_direction") = none,
       arg("samples") = none,
       arg("seed") = none,
       arg("level") = none,
       arg("temperature") = none),
      "DistanceDerivatives of distance(a, X_WA, b, X_WB), which is `at` if given. Methods, and "
      "the settings that each reads (others are refused):\n\n"
      "\"exact\": of the features that hold the witness points. \"finite-differences\": central, "
      "step = 1e-6 [m], [rad]. \"gaussian-0\": from samples = 50 queries of displaced placements, "
      "spread_linear = 1e-3 [m], spread_angular = 1e-2 [rad], seed = 0. \"gaussian-1\": second "
      "derivatives of the support functions from samples = 50 displaced normals, "
      "spread_direction = 0.1 [rad], seed = 0. \"gumbel\": those of the softmax over vertices up "
      "to level = 1 edges away, temperature [m]; 0, the default: by the edges at the vertex. The "
      "last three smooth the corners of hulls (Montaut et al., ICRA 2023).\n\nRaises ValueError "
      "for a setting out of range or not read, a placement that is not rigid, an `at` with status "
      "\"beyond\", or two half-spaces.");
  bp::def(
      "distance_derivatives_of_pairs",
      &derivatives_of_pairs,
      (arg("a"),
       arg("X_WA"),
       arg("b"),
       arg("X_WB"),
       arg("method") = "exact",
       arg("step") = none,
       arg("spread_linear") = none,
       arg("spread_angular") = none,
       arg("spread_direction") = none,
       arg("samples") = none,
       arg("seed") = none,
       arg("level") = none,
       arg("temperature") = none),
      "distance() and distance_derivatives() of n pairs in one call. a, b: a Shape or a sequence "
      "of n; X_WA, X_WB: a placement or an array (n, 4, 4); one stands for all n. Methods and "
      "settings as in distance_derivatives().\n\nReturns a dict of arrays: \"distance\" (n,) "
      "[m], \"normal\", \"witness_a\", \"witness_b\" (n, 3), \"distance_by_twist\" (n, 6), "
      "\"normal_by_twist\", \"witness_a_by_twist\", \"witness_b_by_twist\" (n, 3, 6), and "
      "\"status\", a list of n names.\n\nRaises ValueError as distance_derivatives() does, and "
      "for lengths that differ.");
  bp::def("time_distance_derivatives",
          &time_derivatives,
          (arg("a"),
           arg("b"),
           arg("X_AB"),
           arg("method") = "exact",
           arg("samples") = 50,
           arg("level") = 1,
           arg("repeats") = 100),
          "CPU time [s] of one call of distance_derivatives() after its query, in C++: the best of "
          "five means over `repeats` calls in a row. For `stiction study collision-derivatives`.");
  bp::def("distance_derivative_methods",
          &methods,
          "Names that distance_derivatives() takes as `method`.");
}

}  // namespace stiction::python
