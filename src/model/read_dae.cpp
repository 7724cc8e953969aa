#include "stiction/math/constants.hpp"

#include "math/elementary.hpp"
#include "model/mesh_file.hpp"

#include <cmath>
#include <cstring>
#include <map>
#include <stdexcept>
#include <tinyxml2.h>

// COLLADA 1.4 and 1.5: the triangles of the geometries that the visual scene shows, each where its
// nodes put it. Not read: the unit and the up axis of <asset> (Coal and Pinocchio pass over them as
// well, and published robots rely on it), skins, curves, physics.

namespace stiction {
namespace {

using Element = tinyxml2::XMLElement;

// A column-major affine map: x -> A x + b. Node transforms may scale and shear.
struct Affine {
  Vec3d c0{1, 0, 0}, c1{0, 1, 0}, c2{0, 0, 1}, b{0, 0, 0};
  Vec3d linear(const Vec3d& x) const { return c0 * x.x + c1 * x.y + c2 * x.z; }
  Vec3d operator()(const Vec3d& x) const { return linear(x) + b; }
  Affine operator*(const Affine& o) const {
    return {linear(o.c0), linear(o.c1), linear(o.c2), (*this)(o.b)};
  }
};

[[noreturn]] void fail(const Element& e, const std::string& text) {
  fail_at(e.GetLineNum(), std::string("<") + e.Name() + ">: " + text);
}

std::vector<double> numbers(const Element& e) {
  std::vector<double> values;
  std::string_view text = e.GetText() ? e.GetText() : "";
  for (std::string_view word = next_word(text); !word.empty(); word = next_word(text)) {
    double value = 0.0;
    if (!parse_number(word, value)) fail(e, shown(word) + " is not a finite number");
    values.push_back(value);
  }
  return values;
}

std::vector<std::size_t> indices(const Element& e) {
  std::vector<std::size_t> values;
  std::string_view text = e.GetText() ? e.GetText() : "";
  for (std::string_view word = next_word(text); !word.empty(); word = next_word(text)) {
    long long value = 0;
    if (!parse_integer(word, value) || value < 0 || value > 0x7fffffff) {
      fail(e, shown(word) + " is no index");
    }
    values.push_back(static_cast<std::size_t>(value));
  }
  return values;
}

/// A number in an attribute that counts something.
std::size_t count_in(const Element& e, const char* attribute, long long otherwise) {
  const char* text = e.Attribute(attribute);
  long long value = otherwise;
  if ((text && !parse_integer(text, value)) || value < 0 || value > 0x7fffffff) {
    fail(e, std::string(attribute) + "=" + shown(text ? text : "") + " is no count");
  }
  return static_cast<std::size_t>(value);
}

bool is(const Element& e, const char* name) { return std::strcmp(e.Name(), name) == 0; }

const Element& child(const Element& e, const char* name) {
  const Element* found = e.FirstChildElement(name);
  if (!found) fail(e, std::string("has no <") + name + ">");
  return *found;
}

/// "#id" -> "id".
std::string reference(const Element& e, const char* attribute) {
  const char* text = e.Attribute(attribute);
  if (!text || text[0] != '#') fail(e, std::string(attribute) + " names no element of this file");
  return text + 1;
}

class DaeReader {
 public:
  DaeReader(const tinyxml2::XMLDocument& document, TriangleSoup& soup)
      : root_(*document.RootElement()), soup_(soup) {}

  void read() {
    collect("library_geometries", "geometry", geometries_);
    collect("library_nodes", "node", nodes_);
    collect("library_visual_scenes", "visual_scene", scenes_);
    const Element* scene = root_.FirstChildElement("scene");
    const Element* shown_scene =
        scene ? scene->FirstChildElement("instance_visual_scene") : nullptr;
    if (!shown_scene) fail(root_, "shows no scene: it has no <instance_visual_scene>");
    const auto found = scenes_.find(reference(*shown_scene, "url"));
    if (found == scenes_.end()) fail(*shown_scene, "its scene does not exist");
    visit_children(*found->second, Affine{}, 0);
  }

 private:
  using Library = std::map<std::string, const Element*>;

  void collect(const char* library, const char* item, Library& found) {
    for (const Element* l = root_.FirstChildElement(library); l;
         l = l->NextSiblingElement(library)) {
      for (const Element* e = l->FirstChildElement(item); e; e = e->NextSiblingElement(item)) {
        if (const char* id = e->Attribute("id")) found[id] = e;
      }
    }
  }

  void visit_children(const Element& e, const Affine& X, int depth) {
    // Bounds for files whose nodes refer to one another, in a circle or twice each.
    if (depth > 100) fail(e, "nodes are nested more than 100 deep");
    if (++visited_ > 100000) fail(e, "more than 100000 nodes are shown");
    for (const Element* c = e.FirstChildElement(); c; c = c->NextSiblingElement()) {
      if (is(*c, "node")) visit(*c, X, depth + 1);
      if (is(*c, "instance_geometry")) add_geometry(*c, X);
      if (!is(*c, "instance_node")) continue;
      const auto found = nodes_.find(reference(*c, "url"));
      if (found == nodes_.end()) fail(*c, "its node does not exist");
      visit(*found->second, X, depth + 1);
    }
  }

  void visit(const Element& node, Affine X, int depth) {
    for (const Element* c = node.FirstChildElement(); c; c = c->NextSiblingElement()) {
      X = X * transform(*c);
    }
    visit_children(node, X, depth);
  }

  static Affine transform(const Element& e);
  void add_geometry(const Element& instance, const Affine& X);
  void add_mesh(const Element& mesh, const Affine& X);
  void add_primitive(const Element& e, const std::vector<Vec3d>& points);
  std::vector<Vec3d> positions(const Element& mesh, const Affine& X) const;

  const Element& root_;
  TriangleSoup& soup_;
  Library geometries_, nodes_, scenes_;
  int visited_ = 0;
};

Affine DaeReader::transform(const Element& e) {
  const auto values = [&](std::size_t count) {
    const std::vector<double> x = numbers(e);
    if (x.size() != count) fail(e, "must hold " + std::to_string(count) + " numbers");
    return x;
  };
  if (is(e, "matrix")) {
    const std::vector<double> m = values(16);
    return {{m[0], m[4], m[8]}, {m[1], m[5], m[9]}, {m[2], m[6], m[10]}, {m[3], m[7], m[11]}};
  }
  Affine X;
  if (is(e, "translate")) {
    const std::vector<double> x = values(3);
    X.b = {x[0], x[1], x[2]};
  } else if (is(e, "scale")) {
    const std::vector<double> x = values(3);
    X.c0.x = x[0];
    X.c1.y = x[1];
    X.c2.z = x[2];
  } else if (is(e, "rotate")) {
    const std::vector<double> x = values(4);  // axis, angle in degrees
    const Vec3d axis{x[0], x[1], x[2]};
    const double length = norm(axis), angle = x[3] * kPi / 180.0;
    if (!(length > 1e-12)) return X;
    const Vec3d u = axis * (1.0 / length);
    const double c = cosine(angle), s = sine(angle);
    const auto turned = [&](const Vec3d& v) {  // Rodrigues
      return v * c + cross(u, v) * s + u * (dot(u, v) * (1.0 - c));
    };
    X = {turned(X.c0), turned(X.c1), turned(X.c2), {0, 0, 0}};
  } else if (is(e, "lookat") || is(e, "skew")) {
    fail(e, "is not read; apply it to the mesh");
  }
  return X;
}

void DaeReader::add_geometry(const Element& instance, const Affine& X) {
  const auto found = geometries_.find(reference(instance, "url"));
  if (found == geometries_.end()) fail(instance, "its geometry does not exist");
  if (const Element* mesh = found->second->FirstChildElement("mesh")) add_mesh(*mesh, X);
}

/// The vertices of a mesh: <vertices> names a source, whose accessor says how its numbers are read.
std::vector<Vec3d> DaeReader::positions(const Element& mesh, const Affine& X) const {
  const Element* input = child(mesh, "vertices").FirstChildElement("input");
  while (input && !input->Attribute("semantic", "POSITION")) {
    input = input->NextSiblingElement("input");
  }
  if (!input) fail(mesh, "its <vertices> have no POSITION");
  const std::string id = reference(*input, "source");
  const Element* source = mesh.FirstChildElement("source");
  while (source && !source->Attribute("id", id.c_str())) {
    source = source->NextSiblingElement("source");
  }
  if (!source) fail(*input, "its source does not exist");
  const std::vector<double> x = numbers(child(*source, "float_array"));
  const Element& accessor = child(child(*source, "technique_common"), "accessor");
  const std::size_t count = count_in(accessor, "count", -1),
                    first = count_in(accessor, "offset", 0),
                    stride = count_in(accessor, "stride", 1);
  if (stride < 3 || first > x.size() || count > (x.size() - first) / stride) {
    fail(accessor, "reaches beyond the " + std::to_string(x.size()) + " numbers of its array");
  }
  std::vector<Vec3d> points;
  for (std::size_t i = 0; i < count; ++i) {
    const double* p = x.data() + first + i * stride;
    points.push_back(X({p[0], p[1], p[2]}));
  }
  return points;
}

void DaeReader::add_mesh(const Element& mesh, const Affine& X) {
  std::vector<Vec3d> points;
  for (const Element* e = mesh.FirstChildElement(); e; e = e->NextSiblingElement()) {
    const bool surface = is(*e, "triangles") || is(*e, "polylist") || is(*e, "polygons") ||
                         is(*e, "trifans") || is(*e, "tristrips");
    if (!surface) continue;
    if (points.empty()) points = positions(mesh, X);
    add_primitive(*e, points);
  }
}

// <p> lists the indices of each corner, one per input; that of the vertex is at its input's offset.
void DaeReader::add_primitive(const Element& e, const std::vector<Vec3d>& points) {
  std::size_t stride = 0, vertex = 0;
  bool found = false;
  for (const Element* i = e.FirstChildElement("input"); i; i = i->NextSiblingElement("input")) {
    const std::size_t offset = count_in(*i, "offset", 0);
    if (offset > 64) fail(*i, "offset is above 64");
    stride = std::max(stride, offset + 1);
    if (!i->Attribute("semantic", "VERTEX")) continue;
    vertex = offset;
    found = true;
  }
  const Element* p = e.FirstChildElement("p");
  if (!p) return;  // no faces: legal
  if (!found) fail(e, "has no VERTEX input");
  std::vector<std::size_t> sizes;
  if (is(e, "polylist")) sizes = indices(child(e, "vcount"));
  for (; p; p = p->NextSiblingElement("p")) {
    const std::vector<std::size_t> numbers = indices(*p);
    const std::size_t corners = numbers.size() / stride;
    if (numbers.size() % stride != 0) {
      fail(*p,
           std::to_string(numbers.size()) + " indices, " + std::to_string(stride) + " a corner");
    }
    if (is(e, "triangles")) sizes.assign(corners / 3, 3);
    if (!is(e, "triangles") && !is(e, "polylist")) sizes.assign(1, corners);
    std::size_t next = 0;
    const auto point = [&]() -> const Vec3d& {
      const std::size_t index = numbers[stride * next++ + vertex];
      if (index >= points.size()) {
        fail(*p,
             "vertex " + std::to_string(index) + " does not exist, there are " +
                 std::to_string(points.size()));
      }
      return points[index];
    };
    std::vector<Vec3d> face;
    for (const std::size_t size : sizes) {
      if (size > corners - next) fail(*p, "has too few indices for its faces");
      face.clear();
      while (face.size() < size) face.push_back(point());
      if (is(e, "tristrips")) {
        for (std::size_t i = 2; i < size; ++i) {
          soup_.add(face[i - 2 + i % 2], face[i - 1 - i % 2], face[i]);
        }
      } else if (is(e, "trifans")) {
        for (std::size_t i = 2; i < size; ++i) soup_.add(face[0], face[i - 1], face[i]);
      } else if (size >= 3) {
        soup_.add_polygon(face);
      }
    }
    if (next != corners) fail(*p, "has indices left over");
  }
}

}  // namespace

void read_dae(const std::string& text, TriangleSoup& soup) {
  tinyxml2::XMLDocument document;
  document.Parse(text.data(), text.size());
  if (document.Error()) {
    fail_at(std::max(1, document.ErrorLineNum()),
            std::string("malformed XML: ") + document.ErrorName());
  }
  if (!document.RootElement() || !is(*document.RootElement(), "COLLADA")) {
    throw std::runtime_error("the root element is not <COLLADA>");
  }
  DaeReader(document, soup).read();
}

}  // namespace stiction
