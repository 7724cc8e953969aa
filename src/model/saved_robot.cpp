#include "model/saved_robot.hpp"

#include "model/joint.hpp"

#include <cmath>
#include <stdexcept>

namespace stiction {
namespace {

const std::vector<std::string>& joint_type_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (int k = 0; k <= static_cast<int>(JointType::kPrismatic); ++k)
      all.emplace_back(joint_facts(static_cast<JointType>(k)).name);
    return all;
  }();
  return names;
}

const std::vector<std::string> kMessageKinds{"unused", "warning", "mesh", "overlap"};

template <class T>
void get_finite(ByteReader& in, const char* field, T& x) {
  in.get(x);
  double numbers[sizeof(T) / sizeof(double)];
  std::memcpy(numbers, &x, sizeof(T));
  for (const double number : numbers) {
    if (!std::isfinite(number)) in.refuse(field, "must be finite");
  }
}

void put_body(ByteWriter& out, const BodyDescription& b) {
  out.put_text(b.name, "body name");
  out.put_text(b.joint_name, "joint name");
  out.put(b.parent);
  put_joint(out, b.joint);
  out.put(b.axis);
  put_transform(out, b.placement);
  out.put(b.mass);
  out.put(b.com);
  out.put(b.inertia);
}

BodyDescription get_body(ByteReader& in, std::size_t number) {
  BodyDescription b;
  b.name = in.text("name");
  b.joint_name = in.text("joint_name");
  b.parent = in.index("parent", -1, number);
  b.joint = get_joint(in);
  get_finite(in, "axis", b.axis);
  if (!(std::abs(norm(b.axis) - 1.0) <= 1e-6)) in.refuse("axis", "must be a unit vector");
  b.placement = get_transform(in, "placement");
  get_finite(in, "mass", b.mass);
  get_finite(in, "com", b.com);
  get_finite(in, "inertia", b.inertia);
  return b;
}

DofDescription get_dof(ByteReader& in) {
  DofDescription d;
  in.get(d);
  for (const double x : {d.lower, d.upper, d.effort_limit, d.velocity_limit}) {
    if (std::isnan(x)) in.refuse("limits", "must be numbers");
  }
  for (const double x : {d.damping, d.dry_friction, d.armature}) {
    if (!std::isfinite(x)) in.refuse("damping, dry_friction, armature", "must be finite");
  }
  return d;
}

void put_geometry(ByteWriter& out, const GeometryDescription& g, const ShapeWriter& shapes) {
  out.put_text(g.name, "geometry name");
  out.put_text(g.link, "link name");
  out.put(g.body);
  shapes.put(out, g.shape);
  put_transform(out, g.placement);
  out.put(g.material);
}

GeometryDescription get_geometry(ByteReader& in, std::size_t bodies, const ShapeReader& shapes) {
  GeometryDescription g;
  g.name = in.text("name");
  g.link = in.text("link");
  g.body = in.index("body", -1, bodies);
  g.shape = shapes.get(in);
  g.placement = get_transform(in, "placement");
  in.get(g.material);
  return g;
}

/// fill(entry number) for each entry of a list, which errors call "what.list[3]".
template <class Fill>
void each_entry(ByteReader& in, const std::string& what, const char* list, Fill&& fill) {
  in.what = what + "." + list;
  const std::size_t count = in.count(1);
  for (std::size_t i = 0; i < count; ++i) {
    in.what = what + "." + list + "[" + std::to_string(i) + "]";
    fill(i);
  }
  in.what = what;
}

}  // namespace

void put_messages(ByteWriter& out, const std::vector<LoadMessage>& messages) {
  out.put_count(messages.size());
  for (const LoadMessage& m : messages) {
    out.put_text(kMessageKinds[static_cast<std::size_t>(m.kind)], "kind");
    out.put_text(m.file, "message.file");
    out.put(m.line);
    out.put_text(m.text, "message.text");
  }
}

std::vector<LoadMessage> get_messages(ByteReader& in) {
  std::vector<LoadMessage> messages(in.count(sizeof(int)));
  for (LoadMessage& m : messages) {
    m.kind = static_cast<LoadMessage::Kind>(in.choice("messages.kind", kMessageKinds));
    m.file = in.text("messages.file");
    in.get(m.line);
    m.text = in.text("messages.text");
  }
  return messages;
}

void put_configurations(ByteWriter& out, const Configurations& configurations) {
  out.put_count(configurations.size());
  for (const auto& [name, q] : configurations) {
    out.put_text(name, "configuration name");
    out.put_list(q);
  }
}

std::vector<double> get_configuration(ByteReader& in, const char* field, int nq) {
  std::vector<double> q;
  in.get_list(q);
  if (q.size() != static_cast<std::size_t>(nq)) {
    in.refuse(field,
              "has " + std::to_string(q.size()) + " entries, must have nq = " + std::to_string(nq));
  }
  for (const double x : q) {
    if (!std::isfinite(x)) in.refuse(field, "must be finite");
  }
  return q;
}

Configurations get_configurations(ByteReader& in, int nq) {
  Configurations found;
  const std::size_t count = in.count(2 * sizeof(std::uint64_t));
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name = in.text("configurations");
    found[name] = get_configuration(in, "configurations", nq);
  }
  return found;
}

void put_transform(ByteWriter& out, const Transform& X) { out.put(X); }

Transform get_transform(ByteReader& in, const char* field) {
  Transform X;
  get_finite(in, field, X);
  if (!(std::abs(dot(cross(X.R.c0, X.R.c1), X.R.c2) - 1.0) < 1e-5))
    in.refuse(field, "its rotation has not the determinant 1");
  return X;
}

void put_joint(ByteWriter& out, JointType joint) { out.put_text(joint_facts(joint).name, "joint"); }

JointType get_joint(ByteReader& in) {
  return static_cast<JointType>(in.choice("joint", joint_type_names()));
}

void put_robot(ByteWriter& out, const Robot& robot, const ShapeWriter& shapes) {
  out.put_text(robot.name, "robot name");
  out.put_text(robot.path, "robot path");
  out.put_count(robot.bodies.size());
  for (const BodyDescription& b : robot.bodies) put_body(out, b);
  out.put_list(robot.dofs);
  out.put_count(robot.geometries.size());
  for (const GeometryDescription& g : robot.geometries) put_geometry(out, g, shapes);
  out.put_count(robot.frames.size());
  for (const FrameDescription& f : robot.frames) {
    out.put_text(f.name, "frame name");
    out.put(f.body);
    put_transform(out, f.placement);
    out.put(f.link);
  }
  out.put_count(robot.gears.size());
  for (const GearDescription& g : robot.gears) {
    out.put(g.dof);
    out.put(g.driver);
    out.put(g.ratio);
    out.put(g.offset);
  }
  out.put_count(robot.disabled_pairs.size());
  for (const auto& [a, b] : robot.disabled_pairs) {
    out.put(a);
    out.put(b);
  }
  out.put_list(robot.neutral);
  put_configurations(out, robot.configurations);
  put_messages(out, robot.messages);
}

Robot get_robot(ByteReader& in, const std::string& what, const ShapeReader& shapes) {
  Robot r;
  in.what = what;
  r.name = in.text("name");
  r.path = in.text("path");
  each_entry(in, what, "bodies", [&](std::size_t i) { r.bodies.push_back(get_body(in, i)); });
  each_entry(in, what, "dofs", [&](std::size_t) { r.dofs.push_back(get_dof(in)); });
  if (r.dofs.size() != static_cast<std::size_t>(r.nv()))
    in.refuse("dofs",
              "there are " + std::to_string(r.dofs.size()) + ", the joints have another number");
  const std::size_t bodies = r.bodies.size(), dofs = r.dofs.size();
  each_entry(in, what, "geometries", [&](std::size_t) {
    r.geometries.push_back(get_geometry(in, bodies, shapes));
  });
  each_entry(in, what, "frames", [&](std::size_t) {
    FrameDescription f;
    f.name = in.text("name");
    f.body = in.index("body", -1, bodies);
    f.placement = get_transform(in, "placement");
    f.link = in.flag("link");
    r.frames.push_back(f);
  });
  each_entry(in, what, "gears", [&](std::size_t) {
    GearDescription g;
    g.dof = in.index("dof", 0, dofs);
    g.driver = in.index("driver", 0, dofs);
    get_finite(in, "ratio", g.ratio);
    get_finite(in, "offset", g.offset);
    r.gears.push_back(g);
  });
  each_entry(in, what, "disabled_pairs", [&](std::size_t) {
    const int a = in.index("first", 0, r.geometries.size());
    r.disabled_pairs.emplace_back(a, in.index("second", 0, r.geometries.size()));
  });
  r.neutral = get_configuration(in, "neutral", r.nq());
  r.configurations = get_configurations(in, r.nq());
  r.messages = get_messages(in);
  return r;
}

}  // namespace stiction
