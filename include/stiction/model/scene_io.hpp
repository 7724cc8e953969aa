#pragma once

#include "stiction/model/scene.hpp"

#include <string>

namespace stiction {

/// All of the scene as bytes: "STICSCEN", version, size, names and numbers (little endian, without
/// alignment), checksum. A simulator of the scene that is read back has the same fingerprint and
/// steps with the same bits. Not kept: Robot::model, which is built again where it is asked for.
/// Throws std::invalid_argument naming what no simulator would take: a number out of range, text
/// that is not UTF-8.
std::string scene_to_bytes(const Scene& scene);

/// Throws std::invalid_argument: `name`, and what is wrong: not a saved scene, a newer version,
/// truncated, damaged, or which field does not fit. Nothing of the bytes is trusted.
Scene scene_from_bytes(const std::string& bytes, const std::string& name = "saved scene");

/// scene_to_bytes() in a file, "*.stiction" by custom: written beside it and moved there, so that
/// what was there stays whole if this fails. Throws std::runtime_error naming the file if it cannot
/// be written.
void save_scene(const Scene& scene, const std::string& path);

/// Throws std::runtime_error naming the file: it cannot be read, or what scene_from_bytes() says.
Scene load_scene(const std::string& path);

}  // namespace stiction
