#include "scenes/data_paths.hpp"

#include "scenes/scenes.hpp"

#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <stdexcept>

#ifndef STICTION_DATA_DIR
#define STICTION_DATA_DIR ""
#endif
#ifndef STICTION_ROBOTS_DIR
#define STICTION_ROBOTS_DIR ""
#endif

namespace stiction {
namespace {

struct Directories {
  std::mutex mutex;
  std::string data, robots;
};
Directories& directories() {
  static Directories instance;
  return instance;
}

// The first that is set wins, even if it does not hold the file: a user's choice is never passed
// by.
std::string folder(const std::string& chosen, const char* variable, const char* built_in) {
  if (!chosen.empty()) return chosen;
  const char* environment = std::getenv(variable);
  return environment && *environment ? environment : built_in;
}

std::string find_file(const std::string& directory,
                      const std::string& relative,
                      const std::string& advice) {
  const std::filesystem::path path = std::filesystem::path(directory) / relative;
  std::error_code ignored;
  if (!directory.empty() && std::filesystem::is_regular_file(path, ignored)) return path.string();
  const std::string where = directory.empty() ? "no folder is set" : "sought in " + directory;
  throw std::runtime_error(relative + " is missing (" + where + "): " + advice);
}

}  // namespace

void set_data_directory(const std::string& path) {
  const std::lock_guard<std::mutex> lock(directories().mutex);
  directories().data = path;
}

void set_robots_directory(const std::string& path) {
  const std::lock_guard<std::mutex> lock(directories().mutex);
  directories().robots = path;
}

std::string data_file(const std::string& relative) {
  const std::lock_guard<std::mutex> lock(directories().mutex);
  return find_file(folder(directories().data, "STICTION_DATA_DIR", STICTION_DATA_DIR),
                   relative,
                   "set STICTION_DATA_DIR to the folder that holds solo12 and ycb");
}

std::string robot_file(const std::string& relative) {
  const std::lock_guard<std::mutex> lock(directories().mutex);
  return find_file(folder(directories().robots, "STICTION_ROBOTS_DIR", STICTION_ROBOTS_DIR),
                   relative,
                   "pip install stiction[robots], or set STICTION_ROBOTS_DIR to the robots folder "
                   "of example-robot-data");
}

}  // namespace stiction
