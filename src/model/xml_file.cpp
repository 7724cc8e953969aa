#include "model/xml_file.hpp"

#include "model/xml_encoding.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace stiction {
namespace {

bool contains(std::initializer_list<std::string_view> list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> result;
  std::size_t i = 0;
  while (i < text.size()) {
    const bool space = std::isspace(static_cast<unsigned char>(text[i]));
    std::size_t end = i + 1;
    while (!space && end < text.size() && !std::isspace(static_cast<unsigned char>(text[end]))) {
      ++end;
    }
    if (!space) result.push_back(text.substr(i, end - i));
    i = end;
  }
  return result;
}

int attribute_line(const XmlElement& e, const char* attribute) {
  const tinyxml2::XMLAttribute* a = e.FindAttribute(attribute);
  return a ? a->GetLineNum() : e.GetLineNum();
}

}  // namespace

std::string format_number(double value) {
  char text[32];
  const auto result = std::to_chars(text, text + sizeof text, value);
  return std::string(text, result.ptr);
}

XmlFile::XmlFile(const std::string& text, const std::string& name) : name_(name) {
  if (text.find('\0') != std::string::npos) fail(1, "malformed XML: it contains a zero byte");
  std::string utf8;
  try {
    utf8 = to_utf8(text);
  } catch (const EncodingError& e) {
    fail(e.line, e.text);
  }
  document_.Parse(utf8.c_str(), utf8.size());
  if (document_.Error()) {
    // tinyxml2's own text repeats the file line; the error's name is enough.
    fail(std::max(1, document_.ErrorLineNum()),
         std::string("malformed XML: ") + document_.ErrorName());
  }
  if (!document_.RootElement()) fail(1, "malformed XML: no element");
}

void XmlFile::fail(int line, const std::string& text) const {
  throw std::runtime_error(name_ + ":" + std::to_string(line) + ": " + one_line(text));
}

void XmlFile::warn(int line, const std::string& text) {
  warnings_.push_back({LoadMessage::Kind::kWarning, name_, line, one_line(text)});
}

void XmlFile::note_mesh(int line, const std::string& text) {
  warnings_.push_back({LoadMessage::Kind::kMesh, name_, line, one_line(text)});
}

void XmlFile::unused(int line, const std::string& what) {
  auto [it, fresh] = unused_.try_emplace(what);
  if (fresh) it->second.order = static_cast<int>(unused_.size());
  it->second.lines.push_back(line);
}

std::vector<LoadMessage> XmlFile::take_messages() {
  std::vector<LoadMessage> result = std::move(warnings_);
  for (const auto& [what, found] : unused_) {
    std::string text = what + " is not used";
    if (found.lines.size() > 1) {
      text += " (" + std::to_string(found.lines.size()) + " times, lines";
      for (std::size_t i = 0; i < found.lines.size(); ++i) {
        text += (i ? ", " : " ") + std::to_string(found.lines[i]);
      }
      text += ")";
    }
    result.push_back({LoadMessage::Kind::kUnused, name_, found.lines.front(), text});
  }
  std::stable_sort(result.begin(), result.end(), [](const LoadMessage& a, const LoadMessage& b) {
    return a.line < b.line;
  });
  warnings_.clear();
  unused_.clear();
  return result;
}

void XmlFile::expect(const XmlElement& e,
                     std::initializer_list<std::string_view> attributes,
                     std::initializer_list<std::string_view> children) {
  const std::string inside = std::string("<") + e.Name() + ">";
  for (const tinyxml2::XMLAttribute* a = e.FirstAttribute(); a; a = a->Next()) {
    if (contains(attributes, a->Name()) || std::string_view(a->Name()).starts_with("xmlns")) {
      continue;
    }
    unused(a->GetLineNum(), std::string("attribute '") + a->Name() + "' of " + inside);
  }
  for (const tinyxml2::XMLNode* node = e.FirstChild(); node; node = node->NextSibling()) {
    if (const XmlElement* child = node->ToElement()) {
      if (contains(children, child->Name())) continue;
      unused(child->GetLineNum(), std::string("<") + child->Name() + "> in " + inside);
    } else if (node->ToText()) {
      unused(node->GetLineNum(), "text in " + inside);
    }
  }
}

std::string XmlFile::required(const XmlElement& e, const char* attribute) const {
  const char* text = e.Attribute(attribute);
  if (!text) fail(e, std::string("<") + e.Name() + "> has no attribute '" + attribute + "'");
  if (!*text) fail(e, std::string("<") + e.Name() + "> has an empty attribute '" + attribute + "'");
  return text;
}

std::vector<double> XmlFile::numbers(const XmlElement& e, const char* attribute) const {
  const std::string text = required(e, attribute);
  std::vector<double> values;
  for (const std::string_view word : words(text)) {
    double value = 0.0;
    if (!parse_number(word, value)) {
      fail(attribute_line(e, attribute),
           std::string("<") + e.Name() + "> " + attribute + "='" + text + "': '" +
               std::string(word) + "' is not a finite number");
    }
    values.push_back(value);
  }
  return values;
}

double XmlFile::number(const XmlElement& e, const char* attribute) const {
  const std::vector<double> values = numbers(e, attribute);
  if (values.size() != 1) {
    fail(attribute_line(e, attribute),
         std::string("<") + e.Name() + "> " + attribute + "='" + e.Attribute(attribute) +
             "': one number is expected");
  }
  return values[0];
}

double XmlFile::number(const XmlElement& e, const char* attribute, double otherwise) const {
  return has(e, attribute) ? number(e, attribute) : otherwise;
}

Vec3d XmlFile::vector3(const XmlElement& e, const char* attribute, const Vec3d& otherwise) const {
  if (!has(e, attribute)) return otherwise;
  const std::vector<double> values = numbers(e, attribute);
  if (values.size() != 3) {
    fail(attribute_line(e, attribute),
         std::string("<") + e.Name() + "> " + attribute + "='" + e.Attribute(attribute) +
             "': three numbers are expected");
  }
  return {values[0], values[1], values[2]};
}

const XmlElement* XmlFile::only_child(const XmlElement& e, const char* tag) const {
  const XmlElement* first = e.FirstChildElement(tag);
  if (const XmlElement* second = first ? first->NextSiblingElement(tag) : nullptr) {
    fail(*second, std::string("<") + e.Name() + "> has a second <" + tag + ">");
  }
  return first;
}

}  // namespace stiction
