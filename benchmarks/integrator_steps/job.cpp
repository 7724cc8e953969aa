#include "job.hpp"

#include "stiction/model/state_io.hpp"

#include "scenes/scenes.hpp"

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <stdexcept>

namespace stiction::bench {
namespace {

using Texts = std::map<std::string, std::string>;

template <class T>
void read(std::ifstream& file, T* numbers, std::size_t count) {
  file.read(reinterpret_cast<char*>(numbers), static_cast<std::streamsize>(count * sizeof(T)));
}

/// Windows one after the other: size of the saved state (8 bytes), the state, nv doubles.
std::vector<Window> read_windows(const std::string& path, const Scene& scene) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::vector<Window> windows;
  for (std::uint64_t size = 0; read(file, &size, 1), file;) {
    std::string bytes(size, '\0');
    read(file, bytes.data(), size);
    Window window{restore_state(bytes), Eigen::VectorXd(scene.nv())};
    read(file, window.torque.data(), static_cast<std::size_t>(scene.nv()));
    if (!file) throw std::runtime_error(path + ": truncated");
    validate_whole_state(scene, window.state);
    windows.push_back(std::move(window));
  }
  if (windows.empty()) throw std::runtime_error(path + ": holds no window");
  return windows;
}

double positive(const Texts& texts, const std::string& key) {
  const auto found = texts.find(key);
  const double value = found == texts.end() ? 0.0 : std::atof(found->second.c_str());
  if (!(value > 0.0)) throw std::runtime_error(key + " must be given, above 0");
  return value;
}

std::string text(const Texts& texts, const std::string& key) {
  const auto found = texts.find(key);
  if (found == texts.end()) throw std::runtime_error(key + " must be given");
  return found->second;
}

Request parse_request(const std::string& argument) {
  const std::size_t colon = argument.find(':');
  Request request{argument.substr(0, colon)};
  if (colon != std::string::npos) request.steps = std::atoi(argument.c_str() + colon + 1);
  if (colon == std::string::npos || request.steps < 1)
    throw std::runtime_error("unknown argument " + argument + "; key=value or NAME:STEPS");
  return request;
}

}  // namespace

Scene Job::soft_scene() const {
  Scene soft = scene;
  for (Material& m : soft.parameters.material) {
    m.stiffness = 2.0 * stiffness;
    m.damping = 2.0 * damping;
  }
  return soft;
}

Job parse_job(int count, char** arguments) {
  if (count < 2)
    throw std::runtime_error("usage: integrator_steps SCENE key=value... NAME:STEPS...");
  Job job;
  Texts texts;
  for (int k = 2; k < count; ++k) {
    const std::string argument = arguments[k];
    const std::size_t equals = argument.find('=');
    if (equals == std::string::npos) {
      job.requests.push_back(parse_request(argument));
    } else {
      texts[argument.substr(0, equals)] = argument.substr(equals + 1);
    }
  }
  job.scene = make_scene(arguments[1]);
  Parameters& p = job.scene.parameters;
  for (std::vector<double>* losses : {&p.kp, &p.kd, &p.damping, &p.dry_friction})
    losses->assign(losses->size(), 0.0);
  p.lower.assign(p.lower.size(), -kInfinity);
  p.upper.assign(p.upper.size(), kInfinity);
  job.stiffness = positive(texts, "stiffness");
  job.damping = positive(texts, "damping");
  job.period = positive(texts, "period");
  job.repetitions = static_cast<int>(positive(texts, "repetitions"));
  job.soft = read_windows(text(texts, "soft"), job.scene);
  job.rigid = read_windows(text(texts, "rigid"), job.scene);
  return job;
}

}  // namespace stiction::bench
