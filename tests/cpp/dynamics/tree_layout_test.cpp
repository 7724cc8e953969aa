#include "dynamics/tree_layout.hpp"

#include "dynamics/forest.hpp"
#include "support/random_tree.hpp"
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <csignal>
#include <stdexcept>
#include <sys/wait.h>
#include <type_traits>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace stiction;
using namespace stiction::test;

namespace {

Tree tree_of(Rng& rng) {
  const std::vector<BodyDescription> bodies = random_tree(rng);
  return Tree::build(bodies, 0, static_cast<int>(bodies.size()));
}

/// The integer at `pick` among all that a tree's indices are, changed.
void corrupt(Tree& tree, Rng& rng) {
  std::vector<int>* tables[] = {&tree.parent,
                                &tree.q_index,
                                &tree.v_index,
                                &tree.depth,
                                &tree.row,
                                &tree.chain,
                                &tree.last_dof,
                                &tree.joint_of_dof};
  std::vector<int>& table = *tables[rng.below(8)];
  const int change = 1 + rng.below(3);
  table[rng.below(static_cast<int>(table.size()))] += rng.below(2) ? change : -change;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(tree_layout_test)

// A copy would go on pointing into the memory of the original.
static_assert(!std::is_copy_constructible_v<DynamicsWorkspace>);
static_assert(!std::is_copy_assignable_v<DynamicsWorkspace>);

// By definition: how far two chains agree.
BOOST_AUTO_TEST_CASE(common_lengths_count_the_shared_dofs) {
  Rng rng(8);
  for (int trial = 0; trial < 30; ++trial) {
    const Tree tree = tree_of(rng);
    const auto chain = [&](int body) {
      const int last = tree.last_dof[body], start = tree.row[last];
      const auto first = tree.chain.begin() + start;
      return std::vector<int>(first, first + tree.depth[last] + 1);
    };
    for (int a = 0; a < tree.num_bodies; ++a) {
      for (int b = 0; b < tree.num_bodies; ++b) {
        const std::vector<int> x = chain(a), y = chain(b);
        const std::size_t n = std::min(x.size(), y.size());
        std::size_t shared = 0;
        while (shared < n && x[shared] == y[shared]) ++shared;
        BOOST_TEST(tree.common(a, b) == static_cast<int>(shared));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_tree_has_at_most_16384_bodies) {
  std::vector<BodyDescription> bodies((1 << 14) + 1);
  BOOST_CHECK_THROW(Tree::build(bodies, 0, static_cast<int>(bodies.size())), std::invalid_argument);
}

// Each array of each tree lies in the workspace's own memory, without overlap, moved or not.
BOOST_AUTO_TEST_CASE(arrays_tile_the_memory) {
  Rng rng(3);
  for (int trial = 0; trial < 20; ++trial) {
    Scene scene;
    for (int r = 0; r <= rng.below(3); ++r) {
      Robot robot;
      robot.name = "r" + std::to_string(r);
      robot.bodies = random_tree(rng);
      robot.dofs.resize(robot.nv());
      robot.neutral.assign(robot.nq(), 0.0);
      scene.add_robot(robot);
    }
    DynamicsWorkspace first;
    first.resize(scene);
    const DynamicsWorkspace work = std::move(first);
    const double* at = work.memory.data();
    const auto next = [&at](const auto* array, int count) {
      BOOST_TEST(reinterpret_cast<const double*>(array) == at);
      at += count * static_cast<int>(sizeof(*array) / sizeof(double));
    };
    for (std::size_t t = 0; t < work.trees.size(); ++t) {
      const TreeView& view = work.views[t];
      const TreeData<double>& data = work.trees[t];
      next(data.X_RB, view.num_bodies);
      next(data.S, view.nv);
      next(data.V, view.num_bodies);
      next(data.A, view.num_bodies);
      next(data.inertia, view.num_bodies);
      next(data.F, view.num_bodies);
      next(data.bias, view.nv);
      next(data.D_inverse, view.nv);
      next(data.L, view.packed_size);
    }
    BOOST_TEST(at == work.memory.data() + work.memory.size());
  }
}

// consistent() accepts what build() makes and sees any one index that is changed.
BOOST_AUTO_TEST_CASE(one_wrong_index_is_seen) {
  Rng rng(4);
  for (int trial = 0; trial < 300; ++trial) {
    Tree tree = tree_of(rng);
    BOOST_TEST(tree.consistent());
    corrupt(tree, rng);
    BOOST_TEST(!tree.consistent());
  }
  Tree free = tree_of(rng);
  free.free_root = !free.free_root;
  BOOST_TEST(!free.consistent());
}

// On unless NDEBUG: a broken invariant ends the process there, and costs nothing in Release.
BOOST_AUTO_TEST_CASE(assertions_are_on_unless_ndebug) {
  const pid_t child = fork();
  BOOST_REQUIRE(child >= 0);
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);
    fclose(stderr);
    STICTION_ASSERT(1 + 1 == 3);
    _exit(0);
  }
  int status = 0;
  BOOST_REQUIRE(waitpid(child, &status, 0) == child);
#ifdef NDEBUG
  BOOST_TEST((WIFEXITED(status) && WEXITSTATUS(status) == 0));
#else
  BOOST_TEST((WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT));
#endif
}

BOOST_AUTO_TEST_SUITE_END()
