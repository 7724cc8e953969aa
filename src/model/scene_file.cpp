#include "stiction/model/scene_io.hpp"

#include "model/text_file.hpp"

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>

namespace stiction {
namespace {

constexpr std::size_t kLargestSceneFile = std::size_t{4} << 30;

}  // namespace

void save_scene(const Scene& scene, const std::string& path) {
  namespace fs = std::filesystem;
  const std::string bytes = scene_to_bytes(scene);
  const std::string part = path + ".part";
  std::error_code failed;
  {
    std::ofstream out(part, std::ios::binary | std::ios::trunc);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    out.close();
    if (!out) failed = std::make_error_code(std::errc::io_error);
  }
  if (!failed) fs::rename(part, path, failed);
  if (!failed) return;
  std::error_code ignored;
  fs::remove(part, ignored);
  throw std::runtime_error(path + ": cannot be written (" + failed.message() +
                           "); is its folder there, and may it be written to?");
}

Scene load_scene(const std::string& path) {
  const std::string bytes = read_text_file(path, kLargestSceneFile);
  try {
    return scene_from_bytes(bytes, path);
  } catch (const std::invalid_argument& error) {
    throw std::runtime_error(error.what());
  }
}

}  // namespace stiction
