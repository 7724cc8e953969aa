#include "model/near_names.hpp"
#include "model/physical_inertia.hpp"
#include "model/urdf_document.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <vector>

namespace stiction {
namespace {

// Joints from the root to a link at most: urdfdom and Pinocchio read a chain by recursion, and a
// thread's stack ends (2.6 kB a joint were measured).
constexpr int kDeepest = 1000;

using LinkIndex = std::map<std::string, const UrdfLink*>;
using ParentJoint = std::map<std::string, const UrdfJoint*>;

LinkIndex index_links(const UrdfDocument& document, XmlFile& file) {
  LinkIndex links;
  for (const UrdfLink& link : document.links) {
    const auto [it, fresh] = links.try_emplace(link.name, &link);
    if (!fresh) {
      file.fail(link.line,
                "link '" + link.name + "' is defined twice (first at line " +
                    std::to_string(it->second->line) + ")");
    }
  }
  return links;
}

ParentJoint index_joints(const UrdfDocument& document, const LinkIndex& links, XmlFile& file) {
  std::vector<std::string> names;
  for (const UrdfLink& link : document.links) names.push_back(link.name);
  std::map<std::string, int> lines;
  ParentJoint parents;
  for (const UrdfJoint& joint : document.joints) {
    const auto [named, fresh_name] = lines.try_emplace(joint.name, joint.line);
    if (!fresh_name) {
      file.fail(joint.line,
                "joint '" + joint.name + "' is defined twice (first at line " +
                    std::to_string(named->second) + ")");
    }
    for (const auto& [role, link] : {std::pair{"parent", joint.parent}, {"child", joint.child}}) {
      if (links.count(link)) continue;
      file.fail(joint.line,
                "joint '" + joint.name + "': " + role + " link '" + link + "' does not exist" +
                    near_names(link, names));
    }
    const auto [it, fresh] = parents.try_emplace(joint.child, &joint);
    if (!fresh) {
      file.fail(joint.line,
                "link '" + joint.child + "' is the child of two joints, '" + it->second->name +
                    "' and '" + joint.name + "': close loops in the scene, not in the URDF");
    }
  }
  return parents;
}

const UrdfLink* find_root(const UrdfDocument& document,
                          const LinkIndex& links,
                          const ParentJoint& parents,
                          XmlFile& file) {
  const UrdfLink* root = nullptr;
  for (const UrdfLink& link : document.links) {
    if (parents.count(link.name)) continue;
    if (root) {
      file.fail(link.line,
                "links '" + root->name + "' and '" + link.name +
                    "' both have no parent joint: a robot has one root");
    }
    root = &link;
  }
  if (!root) file.fail(document.links.front().line, "the joints form a loop: no root link");
  // Each link is passed once: the walk up ends at one whose depth is known.
  std::map<const UrdfLink*, int> depth = {{root, 0}};
  for (const UrdfLink& link : document.links) {
    std::vector<const UrdfLink*> path;
    std::set<const UrdfLink*> seen;
    const UrdfLink* l = &link;
    for (; !depth.count(l); l = links.at(parents.at(l->name)->parent)) {
      if (!seen.insert(l).second) {
        file.fail(link.line, "the joints above link '" + link.name + "' form a loop");
      }
      path.push_back(l);
    }
    int above = depth.at(l);
    for (auto it = path.rbegin(); it != path.rend(); ++it) depth[*it] = ++above;
    if (above > kDeepest) {
      file.fail(link.line,
                "link '" + link.name + "' is the end of a chain of more than " +
                    std::to_string(kDeepest) + " joints");
    }
  }
  return root;
}

void check_mimics(const UrdfDocument& document, XmlFile& file) {
  std::map<std::string, const UrdfJoint*> joints;
  std::vector<std::string> names;
  for (const UrdfJoint& joint : document.joints) {
    joints[joint.name] = &joint;
    names.push_back(joint.name);
  }
  for (const UrdfJoint& joint : document.joints) {
    if (!joint.mimic) continue;
    const std::string& driver = joint.mimic->joint;
    const std::string head = "joint '" + joint.name + "': <mimic joint='" + driver + "'> ";
    if (!joints.count(driver)) {
      file.fail(joint.mimic->line, head + "does not exist" + near_names(driver, names));
    }
    if (driver == joint.name) file.fail(joint.mimic->line, head + "is the joint itself");
    for (const std::string& type : {joint.type, joints.at(driver)->type}) {
      if (type == "revolute" || type == "prismatic" || type == "continuous") continue;
      file.fail(joint.mimic->line,
                head + "needs two joints with one degree of freedom, one is " + type);
    }
  }
}

void check_inertia(const UrdfLink& link,
                   bool moves_alone,
                   XmlFile& file,
                   const LoadOptions& options) {
  const InertiaDefect defect = inertia_defect(link.mass, link.inertia);
  if (defect == InertiaDefect::kNone) return;
  std::string text = "link '" + link.name + "': " + describe(defect, link.inertia);
  // A light part welded to a heavy one may be badly rounded without harm: the sum is checked later.
  // Violated triangle inequalities are common in published files and keep the dynamics well posed.
  if (options.strict || (defect == InertiaDefect::kNotPositive && moves_alone)) {
    file.fail(*link.inertial_line, text);
  }
  if (options.balance_inertia && defect == InertiaDefect::kTriangle) {
    text += "; it is replaced by their mean";
  }
  file.warn(*link.inertial_line, text);
}

// "floating" stands for a free base that hangs on a link of the world.
void check_floating(const UrdfJoint& joint,
                    const UrdfDocument& document,
                    XmlFile& file,
                    const LoadOptions& options) {
  const std::string head = "joint '" + joint.name + "' is floating: only the root may be free; ";
  if (joint.parent != document.root->name) {
    file.fail(joint.line, head + "load its subtree as a robot of its own");
  }
  if (options.free_flyer) {
    file.fail(joint.line,
              head + "load with free_flyer = false if '" + joint.parent + "' is the world");
  }
}

}  // namespace

void audit_urdf(UrdfDocument& document, XmlFile& file, const LoadOptions& options) {
  const LinkIndex links = index_links(document, file);
  const ParentJoint parents = index_joints(document, links, file);
  document.root = find_root(document, links, parents, file);
  check_mimics(document, file);
  for (const UrdfLink& link : document.links) {
    const auto joint = parents.find(link.name);
    const bool is_root = joint == parents.end();
    const bool moves = is_root ? options.free_flyer : joint->second->type != "fixed";
    if (link.inertial_line) {
      check_inertia(link, moves, file, options);
    } else if (moves && !is_root) {
      file.warn(link.line, "link '" + link.name + "' moves but has no <inertial>: it is massless");
    }
    if (!is_root && joint->second->type == "floating") {
      check_floating(*joint->second, document, file, options);
    }
  }
}

}  // namespace stiction
