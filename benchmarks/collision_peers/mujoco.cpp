#include "engine.hpp"

#include <cmath>
#include <mujoco/mujoco.h>
#include <sstream>
#include <stdexcept>

// mj_geomDistance with native ccd. Vertices are stored in single precision there; the shapes of
// this benchmark are rounded to single precision first. A mesh is moved to its centre of mass and
// main axes when it is compiled, which rounds again: about 1e-8 m on objects of this size.

namespace stiction::bench {
namespace {

struct Model {
  explicit Model(const Shapes& shapes);
  ~Model() {
    mj_deleteData(data);
    mj_deleteModel(model);
  }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  mjModel* model = nullptr;
  mjData* data = nullptr;
};

// Two bodies per shape, so that a shape can meet itself: geoms k and k + n.
std::string xml_of(const Shapes& shapes) {
  std::ostringstream xml;
  xml.precision(9);
  xml << "<mujoco><size memory='64M'/><asset>";
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    xml << "<mesh name='m" << k << "' inertia='convex' vertex='";
    for (const Vec3d& p : shapes[k].mesh->vertices) xml << p.x << ' ' << p.y << ' ' << p.z << ' ';
    xml << "'/>";
  }
  xml << "</asset><worldbody>";
  for (std::size_t k = 0; k < 2 * shapes.size(); ++k) {
    xml << "<body><freejoint align='false'/><geom type='mesh' mesh='m" << k % shapes.size()
        << "'/></body>";
  }
  xml << "</worldbody></mujoco>";
  return xml.str();
}

Model::Model(const Shapes& shapes) {
  char error[1000] = "";
  mjSpec* spec = mj_parseXMLString(xml_of(shapes).c_str(), nullptr, error, sizeof(error));
  if (spec == nullptr) throw std::runtime_error(std::string("MuJoCo reads no model: ") + error);
  model = mj_compile(spec, nullptr);
  mj_deleteSpec(spec);
  if (model == nullptr) throw std::runtime_error("MuJoCo compiles no model");
  data = mj_makeData(model);
  mj_forward(model, data);
}

Transform geom_in_body(const mjModel& m, int g) {
  const mjtNum* q = m.geom_quat + 4 * g;
  const double xyzw[4] = {q[1], q[2], q[3], q[0]};
  const mjtNum* p = m.geom_pos + 3 * g;
  return {rotation_from_quaternion(xyzw), {p[0], p[1], p[2]}};
}

void write_pose(const Transform& X, mjtNum* position, mjtNum* matrix) {
  for (int i = 0; i < 3; ++i) {
    position[i] = X.p[i];
    for (int j = 0; j < 3; ++j) matrix[3 * i + j] = X.R.column(j)[i];
  }
}

class Mujoco : public Engine {
 public:
  Mujoco(std::string name, std::shared_ptr<Model> model, double tolerance)
      : Engine(std::move(name)), shared_(std::move(model)), tolerance_(tolerance) {}

  void load(const std::vector<Query>& queries) override {
    const mjModel& m = *shared_->model;
    const int count = int(m.ngeom) / 2;
    queries_.clear();
    for (const Query& q : queries) {
      Posed p{q.a, q.b + count, {}, {}, {}, {}};
      write_pose(q.X_WA * geom_in_body(m, p.a), p.position_a, p.matrix_a);
      write_pose(q.X_WB * geom_in_body(m, p.b), p.position_b, p.matrix_b);
      queries_.push_back(p);
    }
  }
  void select(int query) override {
    const Posed& p = queries_[query];
    a_ = p.a;
    b_ = p.b;
    mjData* d = shared_->data;
    mju_copy(d->geom_xpos + 3 * a_, p.position_a, 3);
    mju_copy(d->geom_xmat + 9 * a_, p.matrix_a, 9);
    mju_copy(d->geom_xpos + 3 * b_, p.position_b, 3);
    mju_copy(d->geom_xmat + 9 * b_, p.matrix_b, 9);
    shared_->model->opt.ccd_tolerance = tolerance_;
  }
  void distance(Answer& answer) override {
    mjtNum segment[6];
    answer.distance = mj_geomDistance(shared_->model, shared_->data, a_, b_, kFarthest, segment);
    answer.witness_a = {segment[0], segment[1], segment[2]};
    answer.witness_b = {segment[3], segment[4], segment[5]};
    const Vec3d n = answer.witness_b - answer.witness_a;
    answer.normal = n * (1.0 / std::copysign(norm(n), answer.distance));
  }
  // There is no boolean query; a bound of 0 lets it stop at the first separating plane.
  bool overlap() override {
    return mj_geomDistance(shared_->model, shared_->data, a_, b_, 0.0, nullptr) < 0.0;
  }

 private:
  static constexpr double kFarthest = 10.0;  // [m]
  struct Posed {
    int a, b;
    mjtNum position_a[3], matrix_a[9], position_b[3], matrix_b[9];
  };
  std::shared_ptr<Model> shared_;
  double tolerance_;
  std::vector<Posed> queries_;
  int a_ = 0, b_ = 0;
};

}  // namespace

Engines mujoco_engines(const Shapes& shapes) {
  auto model = std::make_shared<Model>(shapes);
  const double standard = model->model->opt.ccd_tolerance;
  Engines engines;
  engines.push_back(std::make_unique<Mujoco>("mujoco", model, standard));
  engines.push_back(std::make_unique<Mujoco>("mujoco-1e-9", model, 1e-9));
  return engines;
}

}  // namespace stiction::bench
