#include "model/srdf.hpp"

#include "stiction/math/lanes.hpp"

#include "model/joint.hpp"
#include "model/near_names.hpp"
#include "model/xml_file.hpp"

#include <cmath>
#include <map>

namespace stiction {
namespace {

// Geometries by the link they were written in.
using LinkGeometries = std::multimap<std::string, int>;

void disable_links(XmlFile& file,
                   const XmlElement& e,
                   const LinkGeometries& geometries,
                   Robot& robot) {
  file.expect(e, {"link1", "link2", "reason"}, {});
  const std::string link1 = file.required(e, "link1"), link2 = file.required(e, "link2");
  for (const std::string& link : {link1, link2}) {
    std::vector<std::string> names;
    bool known = false;
    for (const FrameDescription& f : robot.frames) {
      known |= f.name == link;
      names.push_back(f.name);
    }
    if (known) continue;
    file.warn(e.GetLineNum(), "link '" + link + "' does not exist" + near_names(link, names));
    return;
  }
  const auto [first1, last1] = geometries.equal_range(link1);
  const auto [first2, last2] = geometries.equal_range(link2);
  for (auto a = first1; a != last1; ++a) {
    for (auto b = first2; b != last2; ++b) {
      if (a->second != b->second) robot.disabled_pairs.push_back({a->second, b->second});
    }
  }
}

// Writes the values of one joint; SRDF gives a joint of one dof by its position.
void set_joint(XmlFile& file, const XmlElement& e, const BodyDescription& body, double* q) {
  const std::vector<double> values = file.numbers(e, "value");
  const JointFacts& facts = joint_facts(body.joint);
  if (facts.nv == 1 && values.size() == 1) return set_joint_position(body.joint, values[0], q);
  if (static_cast<int>(values.size()) != facts.nq) {
    file.fail(e,
              "joint '" + body.joint_name + "': value='" + e.Attribute("value") + "' has " +
                  std::to_string(values.size()) + " numbers, the joint has " +
                  std::to_string(facts.nq));
  }
  std::copy(values.begin(), values.end(), q);
  if (facts.unit_count != 4) return;
  double* quaternion = q + facts.unit_first;
  const double norm =
      length(length(quaternion[0], quaternion[1]), length(quaternion[2], quaternion[3]));
  if (!(norm > 1e-6)) file.fail(e, "joint '" + body.joint_name + "': the quaternion is zero");
  for (int k = 0; k < 4; ++k) quaternion[k] /= norm;
}

void read_state(XmlFile& file, const XmlElement& e, Robot& robot) {
  file.expect(e, {"name", "group"}, {"joint"});
  const std::string name = file.required(e, "name");
  // States of the same name belong to different groups: they complete one another.
  std::vector<double>& q = robot.configurations.try_emplace(name, robot.neutral).first->second;
  std::map<std::string, std::pair<int, int>> joints;  // name -> body, first q
  std::vector<std::string> names;
  int offset = 0;
  for (std::size_t i = 0; i < robot.bodies.size(); ++i) {
    joints[robot.bodies[i].joint_name] = {static_cast<int>(i), offset};
    names.push_back(robot.bodies[i].joint_name);
    offset += joint_nq(robot.bodies[i].joint);
  }
  for (const XmlElement* j = e.FirstChildElement("joint"); j; j = j->NextSiblingElement("joint")) {
    file.expect(*j, {"name", "value"}, {});
    const std::string joint = file.required(*j, "name");
    const auto found = joints.find(joint);
    if (found == joints.end()) {
      file.warn(j->GetLineNum(),
                "group_state '" + name + "': joint '" + joint +
                    "' is not a moving joint of the robot" + near_names(joint, names));
      continue;
    }
    const auto [body, first] = found->second;
    set_joint(file, *j, robot.bodies[body], q.data() + first);
  }
}

}  // namespace

void apply_srdf(const std::string& path, Robot& robot) {
  XmlFile file(read_text_file(path), path);
  const XmlElement& root = file.root();
  if (std::string(root.Name()) != "robot") {
    file.fail(root, std::string("the root element is <") + root.Name() + ">, not <robot>");
  }
  file.expect(root, {"name"}, {"disable_collisions", "group_state"});
  LinkGeometries geometries;
  for (std::size_t i = 0; i < robot.geometries.size(); ++i) {
    geometries.insert({robot.geometries[i].link, static_cast<int>(i)});
  }
  for (const XmlElement* e = root.FirstChildElement(); e; e = e->NextSiblingElement()) {
    const std::string tag = e->Name();
    if (tag == "disable_collisions") disable_links(file, *e, geometries, robot);
    if (tag == "group_state") read_state(file, *e, robot);
  }
  for (LoadMessage& m : file.take_messages()) robot.messages.push_back(std::move(m));
}

}  // namespace stiction
