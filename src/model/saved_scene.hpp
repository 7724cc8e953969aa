#pragma once

#include <cstddef>
#include <cstdint>

// A saved scene: header, the parts in the order of SceneWriter's members, checksum.
//
//   "STICSCEN", version (u32), size of all of it in bytes (u64)
//   name
//   meshes and height fields            saved_shapes.cpp
//   trees: for each body name, joint name, parent in the tree, joint type, axis code
//   robots: first body, what the loader said   saved_robot.cpp
//   geometries, closures, gears, pairs, configurations, messages
//   parameters: for each array name, doubles per entry, numbers
//   since version 2: types and affinities of geometries, velocities of configurations, visuals
//   since version 3: of robots prefix and placement; the prefix of version 3 lacks add_robot()'s
//   since version 4: rules of friction of geometries
//   FNV-1a of all before (u64)
//
// Types of joints and shapes are names, not codes, and arrays of parameters are found by name: one
// that a file does not have keeps its default. What else changes raises the version; older ones are
// read, without what they did not have.

namespace stiction {

inline constexpr char kSceneMagic[] = "STICSCEN";
inline constexpr std::size_t kSceneMagicSize = sizeof(kSceneMagic) - 1;
inline constexpr std::uint32_t kSceneVersion = 4;
inline constexpr std::size_t kSceneHeaderSize =
    kSceneMagicSize + sizeof(std::uint32_t) + sizeof(std::uint64_t);

}  // namespace stiction
