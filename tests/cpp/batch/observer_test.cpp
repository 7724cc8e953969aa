#include "stiction/batch/observer.hpp"

#include "batch_sample.hpp"
#include "scenes/scenes.hpp"
#include "support/allocation_guard.hpp"
#include <boost/test/unit_test.hpp>

#include <cstring>

using namespace stiction;
using namespace stiction::test;

// Numbers against references: tests/python/test_batch_sensors.py.

namespace {

ObserverSettings everything(const Scene& scene) {
  ObserverSettings s;
  s.names = observation_names();
  for (const char* foot : {"FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"})
    s.feet.push_back(scene.geometry(foot));
  s.frames = {{scene.num_bodies() - 1}, {3, {Mat3d::identity(), {0.1, 0.0, -0.2}}}};
  s.reference = {0};
  s.imu = {0, {Mat3d::identity(), {0.05, 0.02, 0.01}}};
  s.scan.frame = {0};
  for (int i = -2; i <= 2; ++i) {
    for (int j = -1; j <= 1; ++j) s.scan.points.insert(s.scan.points.end(), {0.2 * i, 0.3 * j});
  }
  return s;
}

template <class Real>
std::vector<Real> observed(const Observer& observer, int worlds) {
  std::vector<Real> out(static_cast<std::size_t>(worlds) * observer.columns());
  observer.observe(out.data(), observer.columns());
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(observer_test)

// On lanes and not, flat and rough: rows of a world alone, among others and on threads.
BOOST_AUTO_TEST_CASE(rows_depend_on_the_world_alone) {
  constexpr int kWorlds = 13;
  for (const char* name : {"solo12", "solo12-rough"}) {
    const Scene scene = make_scene(name);
    const ObserverSettings settings = everything(scene);
    for (const bool lanes : {true, false}) {
      std::vector<double> expected;
      for (int w = 0; w < kWorlds; ++w) {
        Batch batch(scene, 1, {}, {.width = 1, .lanes = lanes});
        const Observer observer(batch, settings);
        fill(batch, w, "standing");
        batch.step(30);
        const std::vector<double> row = observed<double>(observer, 1);
        expected.insert(expected.end(), row.begin(), row.end());
      }
      for (const int threads : {1, 2, 3, 4}) {
        Batch batch(scene, kWorlds, {}, {.threads = threads, .lanes = lanes});
        const Observer observer(batch, settings);
        fill(batch, 0, "standing");
        batch.step(30);
        BOOST_TEST((observed<double>(observer, kWorlds) == expected), name << " " << threads);
        const std::vector<float> rounded(expected.begin(), expected.end());
        BOOST_TEST((observed<float>(observer, kWorlds) == rounded));
      }
      BOOST_TEST(
          std::all_of(expected.begin(), expected.end(), [](double x) { return std::isfinite(x); }));
    }
  }
}

// Being looked at changes no step.
BOOST_AUTO_TEST_CASE(steps_do_not_know_of_observers) {
  const Scene scene = make_scene("solo12");
  for (const bool lanes : {true, false}) {
    Batch plain(scene, 9, {}, {.lanes = lanes}), seen(scene, 9, {}, {.lanes = lanes});
    const Observer observer(seen, everything(scene));
    fill(plain, 0);
    fill(seen, 0);
    for (int k = 0; k < 6; ++k) {
      plain.step(5);
      seen.step(5);
      observed<float>(observer, 9);
    }
    for (int w = 0; w < 9; ++w) BOOST_TEST(same_world(plain.state(w), seen.state(w)));
  }
}

BOOST_AUTO_TEST_CASE(observing_and_observed_steps_allocate_nothing) {
  for (const char* name : {"solo12", "solo12-rough"}) {
    const Scene scene = make_scene(name);
    for (const bool lanes : {true, false}) {
      Batch batch(scene, 6, {}, {.threads = 2, .lanes = lanes, .configuration = "standing"});
      const Observer observer(batch, everything(scene));
      std::vector<float> out(6 * static_cast<std::size_t>(observer.columns()));
      std::vector<float> history(5 * out.size());
      const auto run = [&] {
        batch.reset();
        const long before = allocation_count();
        for (int k = 0; k < 20; ++k) {
          batch.step(4);
          observer.observe(out.data(), observer.columns());
          roll_history(batch, 5, observer.columns(), out.data(), nullptr, history.data());
        }
        return allocation_count() - before;
      };
      run();
      BOOST_TEST(run() == 0, name << " lanes " << lanes);
    }
  }
}

// Compliant worlds keep what their contacts carried.
BOOST_AUTO_TEST_CASE(contacts_of_compliant_steps_allocate_nothing) {
  Scene scene = make_scene("solo12");
  for (Material& m : scene.parameters.material) m.stiffness = 2e4, m.damping = 100.0;
  SimulatorSettings settings;
  settings.integrator = "implicit-euler";
  Batch batch(scene, 3, settings, {.threads = 2, .configuration = "standing"});
  const Observer observer(batch, everything(scene));
  std::vector<double> out(3 * static_cast<std::size_t>(observer.columns()));
  const auto run = [&] {
    batch.reset();
    const long before = allocation_count();
    for (int k = 0; k < 20; ++k) {
      batch.step(4);
      observer.observe(out.data(), observer.columns());
    }
    return allocation_count() - before;
  };
  run();
  BOOST_TEST(run() == 0);
}

BOOST_AUTO_TEST_CASE(places_are_in_order) {
  const Scene scene = make_scene("solo12");
  Batch batch(scene, 2);
  ObserverSettings settings = everything(scene);
  settings.names = {"height", "contact", "heights", "q"};
  const Observer observer(batch, settings);
  BOOST_TEST((observer.places() == std::vector<int>{0, 1, 5, 20, 39}));
  BOOST_TEST(observer.columns() == 39);
}

BOOST_AUTO_TEST_CASE(wrong_settings_are_named) {
  const Scene scene = make_scene("solo12");
  Batch batch(scene, 2);
  const auto refused = [&](auto change, const std::vector<std::string>& words) {
    ObserverSettings settings = everything(scene);
    change(settings);
    BOOST_CHECK_EXCEPTION(Observer(batch, settings), std::invalid_argument, says(words));
  };
  using S = ObserverSettings;
  refused([](S& s) { s.names = {"speed"}; }, {"'speed' is no observation", "heights"});
  refused([](S& s) { s.names = {"q", "q"}; }, {"'q' is given twice"});
  refused([](S& s) { s.imu = {}; }, {"'imu' needs imu"});
  refused([](S& s) { s.imu.body = 99; }, {"imu = 99"});
  refused([](S& s) { s.frames[0].body = -1; }, {"frames = -1"});
  refused([](S& s) { s.frames[0].X_BF.p.x = kInfinity; },
          {"frames: a number", "inf: must be finite"});
  refused([](S& s) { s.scan.points.pop_back(); }, {"scan.points: must be pairs"});
  refused([](S& s) { s.scan.points[3] = kInfinity; }, {"scan.points[1, 1]"});
  refused([](S& s) { s.scan.above = -1.0; }, {"scan.above = -1"});
  refused([&](S& s) { s.scan.ground = {s.feet[0]}; }, {"is none of the world"});
  refused([](S& s) { s.feet.push_back(s.feet[0]); }, {"given twice"});
}

BOOST_AUTO_TEST_SUITE_END()
