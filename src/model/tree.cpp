#include "stiction/model/tree.hpp"

#include "model/joint.hpp"

#include <cmath>
#include <stdexcept>

namespace stiction {
namespace {

/// Of one tree: Tree::common_length has the square of it.
constexpr int kMostBodies = 1 << 14;

std::int8_t axis_code(const Vec3d& a) {
  // Exactly a coordinate axis: the rotation then mixes two columns only.
  if (a.x == 1.0 && a.y == 0.0 && a.z == 0.0) return 0;
  if (a.x == 0.0 && a.y == 1.0 && a.z == 0.0) return 1;
  if (a.x == 0.0 && a.y == 0.0 && a.z == 1.0) return 2;
  return 3;
}

void append_body(Tree& tree, const BodyDescription& body, int parent) {
  const int v = tree.nv;
  tree.parent.push_back(parent);
  tree.joint.push_back(body.joint);
  tree.axis_code.push_back(axis_code(body.axis));
  tree.q_index.push_back(tree.nq);
  tree.v_index.push_back(v);
  tree.nq += joint_nq(body.joint);
  int previous = parent < 0 ? -1 : tree.last_dof[parent];
  for (int k = 0; k < joint_nv(body.joint); ++k) {
    const int dof = v + k;
    const int start = static_cast<int>(tree.chain.size());
    tree.row.push_back(start);
    tree.joint_of_dof.push_back(tree.num_bodies);
    if (previous >= 0) {
      const int length = tree.depth[previous] + 1;
      for (int m = 0; m < length; ++m) tree.chain.push_back(tree.chain[tree.row[previous] + m]);
      tree.depth.push_back(length);
    } else {
      tree.depth.push_back(0);
    }
    tree.chain.push_back(dof);
    previous = dof;
  }
  tree.nv += joint_nv(body.joint);
  tree.last_dof.push_back(tree.nv - 1);
  ++tree.num_bodies;
}

/// The chain of a body is that of its parent and its own dofs, which no body before it has.
void fill_common_lengths(Tree& tree) {
  const int n = tree.num_bodies;
  tree.common_length.assign(static_cast<std::size_t>(n) * n, 0);
  int* const common = tree.common_length.data();
  for (int b = 0; b < n; ++b) {
    const int parent = tree.parent[b];
    for (int a = 0; a < b; ++a)
      common[a * n + b] = common[b * n + a] = parent < 0 ? 0 : common[a * n + parent];
    common[b * n + b] = tree.depth[tree.last_dof[b]] + 1;
  }
}

}  // namespace

Tree Tree::build(const std::vector<BodyDescription>& bodies, int first, int last) {
  Tree tree;
  if (last - first > kMostBodies) {
    throw std::invalid_argument("a tree of " + std::to_string(last - first) +
                                " bodies: there may be " + std::to_string(kMostBodies));
  }
  for (int i = first; i < last; ++i) {
    const int parent = bodies[i].parent < 0 ? -1 : bodies[i].parent - first;
    const auto fail = [&](const char* why) {
      throw std::invalid_argument("bodies[" + std::to_string(i) + "] \"" + bodies[i].name +
                                  "\": " + why);
    };
    if (parent >= i - first) fail("parent must come before its child");
    if (i == first && parent >= 0) fail("the first body of a tree must hang on the base");
    if (i > first && parent < 0) fail("two bodies of one tree hang on the base");
    if (joint_facts(bodies[i].joint).free && i != first)
      fail("a free-flyer must be the root of its tree");
    append_body(tree, bodies[i], parent);
  }
  tree.free_root = joint_facts(tree.joint.front()).free;
  fill_common_lengths(tree);
  return tree;
}

bool Tree::consistent() const {
  const auto sized = [](const auto& v, int n) { return static_cast<int>(v.size()) == n; };
  bool ok = sized(parent, num_bodies) && sized(joint, num_bodies) && sized(axis_code, num_bodies) &&
            sized(q_index, num_bodies) && sized(v_index, num_bodies) &&
            sized(last_dof, num_bodies) && sized(common_length, num_bodies * num_bodies) &&
            sized(depth, nv) && sized(row, nv) && sized(joint_of_dof, nv) && num_bodies > 0;
  int q = 0, v = 0, packed = 0;
  for (int b = 0; ok && b < num_bodies; ++b) {
    ok = parent[b] >= -1 && parent[b] < b && (parent[b] >= 0) == (b > 0) && q_index[b] == q &&
         v_index[b] == v && joint_facts(joint[b]).free == (free_root && b == 0);
    q += joint_nq(joint[b]);
    v += joint_nv(joint[b]);
    ok = ok && last_dof[b] == v - 1 && v <= nv;
    int before = b > 0 && ok ? last_dof[parent[b]] : -1;  // the dof whose chain goes on
    for (int k = v_index[b]; ok && k < v; before = k++) {
      ok = joint_of_dof[k] == b && row[k] == packed &&
           depth[k] == (before < 0 ? 0 : depth[before] + 1);
      packed += depth[k] + 1;
      ok = ok && packed <= static_cast<int>(chain.size()) && chain[packed - 1] == k;
      for (int m = 0; ok && m < depth[k]; ++m) ok = chain[row[k] + m] == chain[row[before] + m];
    }
  }
  return ok && q == nq && v == nv && sized(chain, packed);
}

TreeView Tree::view() const {
  return {num_bodies,
          nq,
          nv,
          static_cast<int>(chain.size()),
          free_root,
          parent.data(),
          joint.data(),
          axis_code.data(),
          q_index.data(),
          v_index.data(),
          depth.data(),
          row.data(),
          chain.data()};
}

}  // namespace stiction
