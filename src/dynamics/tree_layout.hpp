#pragma once

#include "dynamics/tree_data.hpp"
#include "math/assert.hpp"

#include <cstdint>
#include <type_traits>

// Arrays of one tree, one after another in memory of Reals: of one world or of a pack of worlds.

namespace stiction {
inline namespace STICTION_ISA {

/// Memory read as an array of T.
template <class T, class Real>
inline T* as_array(Real* memory) {
  static_assert(std::is_trivially_copyable_v<T> && std::is_standard_layout_v<T>);
  static_assert(sizeof(T) % sizeof(Real) == 0);
  STICTION_ASSERT(reinterpret_cast<std::uintptr_t>(memory) % alignof(T) == 0);
  return reinterpret_cast<T*>(memory);
}

/// T is so many Reals and nothing else.
template <class T, class Real>
constexpr int reals_in() {
  static_assert(alignof(T) == alignof(Real) && sizeof(T) % sizeof(Real) == 0);
  return static_cast<int>(sizeof(T) / sizeof(Real));
}

/// Hands out arrays of T.
template <class Real>
struct Arena {
  Real* cursor;
  template <class T>
  T* take(int count) {
    STICTION_ASSERT(count >= 0);
    T* start = as_array<T>(cursor);
    cursor += count * reals_in<T, Real>();
    return start;
  }
};

/// Reals of the arrays of TreeData.
template <class Real>
constexpr int tree_data_size(const TreeView& tree) {
  constexpr int kBody = reals_in<RigidTransform<Real>, Real>() +
                        2 * reals_in<Motion<Real>, Real>() + reals_in<Inertia<Real>, Real>() +
                        reals_in<Force<Real>, Real>();
  constexpr int kDof = reals_in<Motion<Real>, Real>() + 2;
  static_assert(kBody == 40 && kDof == 8);
  return tree.num_bodies * kBody + tree.nv * kDof + tree.packed_size;
}

template <class Real>
inline TreeData<Real> take_tree_data(const TreeView& tree, Arena<Real>& arena) {
  const Real* start = arena.cursor;
  TreeData<Real> data{};
  data.X_RB = arena.template take<RigidTransform<Real>>(tree.num_bodies);
  data.S = arena.template take<Motion<Real>>(tree.nv);
  data.V = arena.template take<Motion<Real>>(tree.num_bodies);
  data.A = arena.template take<Motion<Real>>(tree.num_bodies);
  data.inertia = arena.template take<Inertia<Real>>(tree.num_bodies);
  data.F = arena.template take<Force<Real>>(tree.num_bodies);
  data.bias = arena.template take<Real>(tree.nv);
  data.D_inverse = arena.template take<Real>(tree.nv);
  data.L = arena.template take<Real>(tree.packed_size);
  STICTION_ASSERT(arena.cursor - start == tree_data_size<Real>(tree));
  return data;
}

}  // namespace STICTION_ISA
}  // namespace stiction
