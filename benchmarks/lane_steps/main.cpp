#include "batch/lane_batch.hpp"
#include "collision_peers/json.hpp"
#include "scenes/scenes.hpp"

#include <algorithm>
#include <ctime>
#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

// lane_steps SCENE key=value...: steps worlds of a built-in scene on lanes, or one after the other
// by a Simulator (width=0). Keys: worlds, width, steps (of a period), targets (a file of doubles,
// periods x worlds x servos: offsets from the configuration held), kp, kd (0: the scene's),
// configuration. Each line on standard input is a period; its answer is one JSON document.

using namespace stiction;
using namespace stiction::bench;

namespace {

using Keys = std::map<std::string, std::string>;

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

std::vector<int> servos(const Scene& scene) {
  std::vector<int> dofs;
  for (int k = 0; k < scene.nv(); ++k) {
    if (scene.parameters.kp[k] > 0.0) dofs.push_back(k);
  }
  return dofs;
}

Scene scene_of(const std::string& name, const Keys& keys) {
  Scene scene = make_scene(name);
  const double kp = std::stod(keys.at("kp")), kd = std::stod(keys.at("kd"));
  if (kp > 0.0) {
    for (const int dof : servos(scene)) scene.set_gains(dof, kp, kd);
  }
  return scene;
}

/// What a period did.
struct Tally {
  double seconds = 0.0, worst = 0.0;
  std::int64_t contacts = 0, resets = 0, not_ok = 0;

  void add(double relative, int points, StepStatus status) {
    if (relative <= 1.0) worst = std::max(worst, relative);
    contacts += points;
    not_ok += status != StepStatus::kOk;
  }
};

class Worlds {
 public:
  Worlds(const std::string& name, const Keys& keys)
      : scene_(scene_of(name, keys)),
        sim_(scene_),
        dofs_(servos(scene_)),
        start_(sim_.initial_state(keys.at("configuration"))),
        held_(sim_.hold(keys.at("configuration"))),
        control_(held_),
        worlds_(std::stoi(keys.at("worlds"))),
        steps_(std::stoi(keys.at("steps"))),
        file_(keys.at("targets"), std::ios::binary) {
    const int width = std::stoi(keys.at("width"));
    if (width > 0)
      batch_ = std::make_unique<LaneBatch>(scene_, SimulatorSettings{}, worlds_, width);
    states_.assign(worlds_, start_);
    for (int w = 0; w < worlds_ && batch_; ++w) {
      batch_->set_state(w, start_);
      batch_->set_control(w, held_);
    }
  }

  std::string period() {
    Tally tally;
    read_targets();
    tally.resets = reset_fallen();
    batch_ ? step_lanes(tally) : step_one_by_one(tally);
    const double steps = static_cast<double>(worlds_) * steps_;
    Array exits;
    for (int e = 0; e < kLaneExits && batch_; ++e) exits.add(std::to_string(batch_->counts()[e]));
    return Object()
        .add("us", 1e6 * tally.seconds / steps)
        .add("worst", tally.worst)
        .add("contacts", static_cast<double>(tally.contacts) / steps)
        .add("not_ok", static_cast<double>(tally.not_ok))
        .add("resets", static_cast<double>(tally.resets))
        .add("exits", exits.text())
        .text();
  }

 private:
  void read_targets() {
    std::vector<double> row(dofs_.size());
    targets_.resize(worlds_, held_.position_target);
    for (int w = 0; w < worlds_; ++w) {
      file_.read(reinterpret_cast<char*>(row.data()),
                 static_cast<std::streamsize>(row.size() * sizeof(double)));
      if (!file_) throw std::invalid_argument("targets: the file has no further period");
      targets_[w] = held_.position_target;
      for (std::size_t k = 0; k < row.size(); ++k) targets_[w][dofs_[k]] += row[k];
      if (batch_) batch_->set_position_target(w, targets_[w].data());
    }
  }

  /// Worlds whose root has lost half its height begin anew.
  int reset_fallen() {
    int count = 0;
    for (int w = 0; w < worlds_; ++w) {
      if (batch_) batch_->get_state(w, states_[w]);
      if (states_[w].q[2] > 0.5 * start_.q[2]) continue;
      ++count;
      states_[w] = start_;
      if (batch_) batch_->set_state(w, start_);
    }
    return count;
  }

  void step_lanes(Tally& tally) {
    batch_->reset_counts();
    for (int k = 0; k < steps_; ++k) {
      const double begin = cpu_seconds();
      batch_->step();
      tally.seconds += cpu_seconds() - begin;
      for (int w = 0; w < worlds_; ++w) {
        const LaneReport& r = batch_->report(w);
        tally.add(r.relative, r.contacts, r.status);
      }
    }
  }

  void step_one_by_one(Tally& tally) {
    for (int w = 0; w < worlds_; ++w) {
      control_.position_target = targets_[w];
      const double begin = cpu_seconds();
      for (int k = 0; k < steps_; ++k) {
        const StepReport& r = sim_.step(states_[w], control_);
        tally.add(r.residuals.relative, r.num_contacts, r.status);
      }
      tally.seconds += cpu_seconds() - begin;
    }
  }

  Scene scene_;
  Simulator sim_;
  std::vector<int> dofs_;
  State start_;
  Control held_, control_;
  int worlds_, steps_;
  std::ifstream file_;
  std::unique_ptr<LaneBatch> batch_;
  std::vector<State> states_;
  std::vector<Eigen::VectorXd> targets_;
};

}  // namespace

int main(int count, char** arguments) {
  try {
    if (count < 2) throw std::invalid_argument("usage: lane_steps SCENE key=value...");
    Keys keys{{"worlds", "256"},
              {"width", "1"},
              {"steps", "20"},
              {"targets", ""},
              {"kp", "0"},
              {"kd", "0"},
              {"configuration", "default"}};
    for (int i = 2; i < count; ++i) {
      const std::string word = arguments[i];
      const std::size_t equal = word.find('=');
      if (equal == std::string::npos || !keys.contains(word.substr(0, equal)))
        throw std::invalid_argument("unknown argument " + word);
      keys[word.substr(0, equal)] = word.substr(equal + 1);
    }
    Worlds worlds(arguments[1], keys);
    std::string line;
    while (std::getline(std::cin, line)) std::cout << worlds.period() << std::endl;
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "lane_steps: " << error.what() << std::endl;
    return 1;
  }
}
