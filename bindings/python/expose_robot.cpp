#include "stiction/model/on_ground.hpp"

#include "common.hpp"
#include "model/joint.hpp"
#include "model/pinocchio_robot.hpp"
#include "path_argument.hpp"
#include "scene_holder.hpp"

namespace stiction::python {
namespace {

Material material_or_default(const bp::object& material) {
  return material_from(material, "material");
}

std::string message_kind(const LoadMessage& m) {
  switch (m.kind) {
    case LoadMessage::Kind::kUnused:
      return "unused";
    case LoadMessage::Kind::kMesh:
      return "mesh";
    case LoadMessage::Kind::kOverlap:
      return "overlap";
    case LoadMessage::Kind::kWarning:
      break;
  }
  return "warning";
}

std::shared_ptr<LoadMessage> make_message(const std::string& kind,
                                          const std::string& text,
                                          const std::string& file,
                                          int line) {
  using Kind = LoadMessage::Kind;
  for (const Kind k : {Kind::kUnused, Kind::kWarning, Kind::kMesh, Kind::kOverlap}) {
    auto message = std::make_shared<LoadMessage>(LoadMessage{k, file, line, text});
    if (message_kind(*message) == kind) return message;
  }
  throw std::invalid_argument("LoadMessage: kind = \"" + kind +
                              "\": must be \"unused\", \"warning\", \"mesh\" or \"overlap\"");
}

std::string message_text(const LoadMessage& m) {
  const std::string line = m.line > 0 ? ":" + std::to_string(m.line) : "";
  return (m.file.empty() ? "" : m.file + line + ": ") + m.text;
}

bp::list messages(const Robot& r) { return to_list(r.messages); }

bp::list body_names(const Robot& r) {
  bp::list names;
  for (const BodyDescription& b : r.bodies) names.append(b.name);
  return names;
}

bp::list joint_names(const Robot& r) {
  bp::list names;
  for (const BodyDescription& b : r.bodies) names.append(b.joint_name);
  return names;
}

bp::list frame_names(const Robot& r) {
  bp::list names;
  for (const FrameDescription& f : r.frames) names.append(f.name);
  return names;
}

bp::list geometry_names(const Robot& r) {
  bp::list names;
  for (const GeometryDescription& g : r.geometries) names.append(g.name);
  return names;
}

bp::dict configurations(const Robot& r) {
  bp::dict out;
  for (const auto& [name, q] : r.configurations) out[name] = to_array(q);
  return out;
}

bp::object neutral(const Robot& r) { return to_array(r.neutral); }
std::string path(const Robot& r) { return r.path; }
std::string robot_repr(const Robot& r) {
  return "Robot(\"" + r.name + "\", nq=" + std::to_string(r.nq()) +
         ", nv=" + std::to_string(r.nv()) + ", bodies=" + std::to_string(r.bodies.size()) +
         ", geometries=" + std::to_string(r.geometries.size()) + ")";
}
CollisionMeshes meshes_from(const std::string& name) {
  if (name == "hull") return CollisionMeshes::kHull;
  if (name == "exact") return CollisionMeshes::kExact;
  if (name == "decompose") return CollisionMeshes::kDecompose;
  throw std::invalid_argument("collision_meshes = \"" + name +
                              "\": must be \"hull\", \"exact\" or \"decompose\"");
}

/// A Python function (vertices (n, 3), triangles (m, 3)) -> list of (k, 3) point clouds.
std::vector<std::vector<Vec3d>> call_decompose(const bp::object& function,
                                               const std::vector<Vec3d>& vertices,
                                               const std::vector<int>& triangles) {
  const std::vector<double> numbers(triangles.begin(), triangles.end());
  const bp::object corners = array_copy(numbers.data(), {static_cast<long>(numbers.size()) / 3, 3});
  std::vector<std::vector<Vec3d>> parts;
  const bp::object found = function(to_array(vertices), corners.attr("astype")("int32"));
  for (bp::stl_input_iterator<bp::object> it(found), end; it != end; ++it) {
    parts.push_back(points_from(*it, "decompose()[]"));
  }
  return parts;
}

std::shared_ptr<LoadOptions> load_options(bool free_flyer,
                                          bool collision_geometry,
                                          bool self_collision,
                                          const bp::object& srdf,
                                          const bp::object& package_dirs,
                                          const bp::object& material,
                                          bool strict,
                                          bool balance_inertia,
                                          const std::string& collision_meshes,
                                          const bp::object& decompose,
                                          bool keep_overlapping_pairs) {
  auto options = std::make_shared<LoadOptions>();
  LoadOptions& o = *options;
  o.free_flyer = free_flyer;
  o.collision_geometry = collision_geometry;
  o.self_collision = self_collision;
  o.keep_overlapping_pairs = keep_overlapping_pairs;
  if (!srdf.is_none()) o.srdf = path_from(srdf);
  for (bp::stl_input_iterator<bp::object> it(package_dirs), end; it != end; ++it) {
    o.package_dirs.push_back(path_from(*it));
  }
  o.material = material_or_default(material);
  o.strict = strict;
  o.balance_inertia = balance_inertia;
  o.collision_meshes = meshes_from(collision_meshes);
  if (!decompose.is_none()) {
    o.decompose = [decompose](const std::vector<Vec3d>& v, const std::vector<int>& t) {
      return call_decompose(decompose, v, t);
    };
  }
  return options;
}

Robot urdf(const bp::object& path, const LoadOptions& options) {
  const std::string file = path_from(path);
  return with_stiction_errors([&] { return load_urdf(file, options); });
}

Robot urdf_string(const std::string& xml, const std::string& name, const LoadOptions& options) {
  return with_stiction_errors([&] { return load_urdf_string(xml, name, options); });
}

bp::object placement(const bp::object& X, const std::string& field) {
  return to_se3(transform_from(X, field));
}
bp::object placed_on_ground(const Robot& robot) { return to_se3(on_ground(robot)); }

bp::tuple mesh_from_file(const bp::object& path, const bp::object& scale) {
  const std::string file = path_from(path);
  const Vec3d s = scale.is_none() ? Vec3d{1, 1, 1} : vec3_from(scale, "scale");
  const MeshFile mesh = with_stiction_errors([&] { return load_mesh(file, s); });
  const std::vector<double> numbers(mesh.triangles.begin(), mesh.triangles.end());
  const long count = static_cast<long>(numbers.size()) / 3;
  return bp::make_tuple(to_array(mesh.vertices),
                        array_copy(numbers.data(), {count, 3}).attr("astype")("int32"));
}

/// The model of a robot with the numbers it has in the scene: base, placements, masses, armature,
/// gravity. Joint j is body j - 1 (src/model/pinocchio_robot.cpp).
void take_numbers(const Scene& scene,
                  const Parameters& p,
                  const RobotSlice& slice,
                  pinocchio::Model& model) {
  namespace pin = pinocchio;
  const auto se3 = [](const Transform& X) {
    Eigen::Matrix3d R;
    R << X.R.c0.x, X.R.c1.x, X.R.c2.x, X.R.c0.y, X.R.c1.y, X.R.c2.y, X.R.c0.z, X.R.c1.z, X.R.c2.z;
    return pin::SE3(R, Eigen::Vector3d(X.p.x, X.p.y, X.p.z));
  };
  model.gravity.linear() << p.gravity.x, p.gravity.y, p.gravity.z;
  pin::SE3 base = pin::SE3::Identity();
  for (int b = 0; b < slice.num_bodies && b + 1 < model.njoints; ++b) {
    const int body = slice.body_offset + b, tree = scene.tree_of_body(body);
    const bool root = model.parents[b + 1] == 0;
    if (root && !scene.trees()[tree].free_root) base = se3(p.base[tree]);
    const pin::SE3 placed = se3(p.placement[body]);
    model.jointPlacements[b + 1] = root ? base * placed : placed;
    const Sym3d& i = p.inertia[body];
    Eigen::Matrix3d I;
    I << i.xx, i.xy, i.xz, i.xy, i.yy, i.yz, i.xz, i.yz, i.zz;
    const Vec3d& c = p.com[body];
    model.inertias[b + 1] = pin::Inertia(p.mass[body], Eigen::Vector3d(c.x, c.y, c.z), I);
  }
  for (auto& frame : model.frames) {
    if (frame.parentJoint == 0) frame.placement = base * frame.placement;
  }
  if (model.armature.size() == slice.nv)
    model.armature =
        Eigen::Map<const Eigen::VectorXd>(p.armature.data() + slice.v_offset, slice.nv);
}

pinocchio::Model model(const SceneHolder& scene,
                       const bp::object& robot,
                       const bp::object& parameters) {
  const bp::extract<std::string> name(robot);
  const int i = name.check() ? scene.robot(name()) : bp::extract<int>(robot)();
  if (i < 0 || i >= static_cast<int>(scene.robots().size())) {
    throw std::invalid_argument("robot = " + std::to_string(i) + ": the scene has " +
                                std::to_string(scene.robots().size()) + " robots");
  }
  const Parameters& p = parameters_from(scene, parameters);
  if (p.mass.size() != scene.parameters.mass.size() ||
      p.base.size() != scene.parameters.base.size() ||
      p.armature.size() != scene.parameters.armature.size())
    throw std::invalid_argument("parameters: belong to another scene");
  pinocchio::Model out = pinocchio_model_of(scene.robots()[i].description);
  take_numbers(scene, p, scene.robots()[i], out);
  return out;
}

}  // namespace

Robot robot_from_objects(const bp::object& model,
                         const bp::object& geometry,
                         const bp::object& material,
                         const std::string& name,
                         bool keep_overlapping_pairs) {
  const bp::extract<const pinocchio::Model&> m(model);
  if (!m.check()) throw std::invalid_argument("model: must be a pinocchio.Model");
  const pinocchio::GeometryModel* g = nullptr;
  if (!geometry.is_none()) {
    const bp::extract<const pinocchio::GeometryModel&> e(geometry);
    if (!e.check())
      throw std::invalid_argument("geometry_model: must be a pinocchio.GeometryModel or None");
    g = &e();
  }
  Robot robot = with_stiction_errors([&] {
    return robot_from_pinocchio(m(), g, material_or_default(material), keep_overlapping_pairs);
  });
  if (!name.empty()) robot.name = name;
  // No Python frame of ours stands between: level 2 is the caller's line.
  bp::import("stiction.loading").attr("_warn")(robot.name, messages(robot), 2);
  return robot;
}

void expose_robot() {
  using bp::arg;
  const bp::object none;
  bp::class_<LoadMessage, std::shared_ptr<LoadMessage>>(
      "LoadMessage", "What a loader says about a file.", bp::no_init)
      .def("__init__",
           bp::make_constructor(&make_message,
                                bp::default_call_policies(),
                                (arg("kind"), arg("text"), arg("file") = "", arg("line") = 0)))
      .add_property(
          "kind",
          &message_kind,
          "\"unused\", \"warning\", \"mesh\" (stood for by something else) or \"overlap\" (links "
          "that overlap at the start; their pairs are disabled).")
      .def_readonly("file", &LoadMessage::file)
      .def_readonly("line", &LoadMessage::line, "1-based; 0: no line.")
      .def_readonly("text", &LoadMessage::text)
      .def("__str__", &message_text)
      .def("__repr__", &message_text);
  bp::class_<Robot>(
      "Robot", "A robot before it is placed in a scene; see Scene.add_robot.", bp::no_init)
      .def_readwrite("name", &Robot::name)
      .add_property("nq", &Robot::nq)
      .add_property("nv", &Robot::nv)
      .add_property("body_names", &body_names)
      .add_property("joint_names", &joint_names)
      .add_property("frame_names", &frame_names)
      .add_property("geometry_names", &geometry_names)
      .add_property("neutral", &neutral, "(nq,)")
      .add_property("configurations", &configurations, "dict of name -> (nq,).")
      .add_property("messages", &messages, "list of LoadMessage.")
      .add_property("path", &path, "File it came from; \"\" if built in memory.")
      .def("__repr__", &robot_repr);
  bp::def("robot_from_pinocchio",
          &robot_from_objects,
          (arg("model"),
           arg("geometry_model") = none,
           arg("material") = none,
           arg("name") = "",
           arg("keep_overlapping_pairs") = false),
          "Robot with the q and v layout of a pinocchio.Model; objects of the "
          "pinocchio.GeometryModel become "
          "convex geometries. Pairs that overlap in the neutral configuration are disabled and "
          "listed in a LoadWarning, unless kept. Raises ValueError naming what cannot be "
          "represented.");
  bp::class_<LoadOptions, std::shared_ptr<LoadOptions>>(
      "LoadOptions", "How a URDF is read; see stiction.load_urdf.", bp::no_init)
      .def("__init__",
           bp::make_constructor(&load_options,
                                bp::default_call_policies(),
                                (arg("free_flyer") = true,
                                 arg("collision_geometry") = true,
                                 arg("self_collision") = true,
                                 arg("srdf") = none,
                                 arg("package_dirs") = bp::tuple(),
                                 arg("material") = none,
                                 arg("strict") = false,
                                 arg("balance_inertia") = false,
                                 arg("collision_meshes") = "hull",
                                 arg("decompose") = none,
                                 arg("keep_overlapping_pairs") = false)));
  bp::def("load_urdf",
          &urdf,
          (arg("path"), arg("options")),
          "Robot of a URDF file. Raises StictionError.");
  bp::def("load_urdf_string",
          &urdf_string,
          (arg("xml"), arg("name"), arg("options")),
          "The same from a string; `name` stands for the file in messages.");
  bp::def("_on_ground", &placed_on_ground, arg("robot"));
  bp::def("_placement", &placement, (arg("X"), arg("field")));
  bp::def("load_mesh",
          &mesh_from_file,
          (arg("path"), arg("scale") = none),
          "(vertices (n, 3) [m], triangles (m, 3) int32) of an STL, DAE or OBJ file. Raises "
          "StictionError.");
  bp::def(
      "pinocchio_model",
      &model,
      (arg("scene"), arg("robot"), arg("parameters") = none),
      "pinocchio.Model of a robot of the scene, by name or number; its q and v are slices of "
      "the state's. It has the numbers of `parameters`, those of the scene if None: the base of "
      "a fixed robot in the world, placements, masses, armature, gravity. For what was changed "
      "at run time: pinocchio_model(sim.scene, robot, sim.parameters). A robot of a saved scene "
      "gets a new model of its joints, inertias, limits and frames, which are numbered otherwise.");
}

}  // namespace stiction::python
