#pragma once

#include "stiction/model/robot.hpp"

#include "model/text_file.hpp"

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <tinyxml2.h>
#include <vector>

namespace stiction {

using XmlElement = tinyxml2::XMLElement;

/// XML with line numbers and strict numbers; remembers what nobody read. Errors are
/// std::runtime_error of the form "file:line: text".
class XmlFile {
 public:
  XmlFile(const std::string& text, const std::string& name);

  const XmlElement& root() const { return *document_.RootElement(); }
  const std::string& name() const { return name_; }
  std::vector<LoadMessage> take_messages();

  [[noreturn]] void fail(int line, const std::string& text) const;
  [[noreturn]] void fail(const XmlElement& e, const std::string& text) const {
    fail(e.GetLineNum(), text);
  }
  void warn(int line, const std::string& text);
  /// A message of kind kMesh.
  void note_mesh(int line, const std::string& text);

  /// Reports attributes and children that are not in the lists, and stray text.
  void expect(const XmlElement& e,
              std::initializer_list<std::string_view> attributes,
              std::initializer_list<std::string_view> children);
  /// One message per kind of unused thing, with all its lines.
  void unused(int line, const std::string& what);

  bool has(const XmlElement& e, const char* attribute) const { return e.Attribute(attribute); }
  std::string required(const XmlElement& e, const char* attribute) const;
  double number(const XmlElement& e, const char* attribute) const;
  double number(const XmlElement& e, const char* attribute, double otherwise) const;
  Vec3d vector3(const XmlElement& e, const char* attribute, const Vec3d& otherwise) const;
  std::vector<double> numbers(const XmlElement& e, const char* attribute) const;
  /// The only child of that tag, nullptr if there is none; a second one is an error.
  const XmlElement* only_child(const XmlElement& e, const char* tag) const;

 private:
  struct Unused {
    int order;
    std::vector<int> lines;
  };
  tinyxml2::XMLDocument document_;
  std::string name_;
  std::vector<LoadMessage> warnings_;
  std::map<std::string, Unused> unused_;
};

/// Value as it is written in messages: shortest text that reads back.
std::string format_number(double value);

}  // namespace stiction
