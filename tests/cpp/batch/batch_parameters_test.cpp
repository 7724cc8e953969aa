#include "batch_sample.hpp"
#include "scenes/scenes.hpp"
#include <boost/test/unit_test.hpp>

#include <limits>

using namespace stiction;
using namespace stiction::test;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace

BOOST_AUTO_TEST_SUITE(batch_parameters_test)

// Fields that are assigned are whole parameters with these fields.
BOOST_AUTO_TEST_CASE(assigned_fields_are_parameters) {
  const Scene scene = make_scene("solo12");
  constexpr int kWorlds = 9;
  for (const bool lanes : {true, false}) {
    const BatchOptions options{.threads = 2, .lanes = lanes, .configuration = "standing"};
    Batch batch(scene, kWorlds, {}, options), whole(scene, kWorlds, {}, options);
    Rng rng(3);
    for (int f = 0; f < kParameterFields; ++f) {
      const auto field = static_cast<WorldField>(f);
      const int size = world_field_size(field, scene);
      std::vector<double> values(kWorlds * size), back(values.size());
      batch.read(field, values.data());
      for (int i = 0; i < static_cast<int>(values.size()); ++i) {
        const bool root = size == scene.nv() && i % size < 6;
        const bool bound = field == WorldField::kLower || field == WorldField::kUpper ||
                           field == WorldField::kEffortLimit;
        if (field == WorldField::kGravity)
          values[i] += rng.uniform(-0.1, 0.1);
        else if (field == WorldField::kRestitution)
          values[i] = 0.0;
        else if (!root && !bound)
          values[i] = values[i] * rng.uniform(0.9, 1.1) + (f > 4 ? 1e-3 : 0.0);
      }
      std::vector<std::uint8_t> mask(kWorlds, 1);
      mask[2] = 0;
      batch.assign(field, values.data(), mask.data());
      batch.read(field, back.data());
      for (int w = 0; w < kWorlds; ++w) {
        for (int k = 0; k < size; ++k)
          BOOST_TEST((back[w * size + k] == values[w * size + k] || w == 2),
                     world_fields()[f] << " " << w);
      }
    }
    for (int w = 0; w < kWorlds; ++w) {
      if (w != 2) whole.set_parameters(w, batch.parameters(w));
    }
    batch.step(40);
    whole.step(40);
    Batch plain(scene, 1, {}, options);
    plain.step(40);
    for (int w = 0; w < kWorlds; ++w) {
      BOOST_TEST(same_world(batch.state(w), whole.state(w)), "world " << w);
      BOOST_TEST(same_world(batch.state(w), plain.state(0)) == (w == 2), "world " << w);
    }
  }
}

BOOST_AUTO_TEST_CASE(mass_scale_is_of_mass_and_inertia_and_not_of_what_was_scaled) {
  const Scene scene = make_scene("solo12");
  Batch batch(scene, 2);
  std::vector<double> scale(2 * scene.num_bodies(), 1.5);
  batch.assign(WorldField::kMassScale, scale.data());
  batch.assign(WorldField::kMassScale, scale.data());
  const Parameters p = batch.parameters(1);
  BOOST_TEST(p.mass[3] == 1.5 * scene.parameters.mass[3]);
  BOOST_TEST(p.inertia[3].yy == 1.5 * scene.parameters.inertia[3].yy);
  Parameters heavy = scene.parameters;
  heavy.mass[3] *= 2.0;
  batch.set_parameters(1, heavy);
  BOOST_TEST(batch.parameters(1).mass[3] == heavy.mass[3]);
  BOOST_TEST(batch.parameters(0).mass[3] == p.mass[3]);
}

BOOST_AUTO_TEST_CASE(wrong_arguments_are_named) {
  const Scene scene = make_scene("solo12");
  const auto made = [&](int worlds, const BatchOptions& o) { Batch batch(scene, worlds, {}, o); };
  const auto refused = [&](auto call, std::vector<std::string> words) {
    BOOST_CHECK_EXCEPTION(call(), std::invalid_argument, says(words));
  };
  refused([&] { made(0, {}); }, {"num_worlds = 0"});
  refused([&] { made(2, {.threads = -1}); }, {"threads = -1"});
  refused([&] { made(2, {.width = 3}); }, {"width = 3", "0, 1, 2"});
  refused([&] { made(2, {.configuration = "upside down"}); }, {"upside down", "standing"});
  SimulatorSettings settings;
  settings.dt = -1.0;
  refused([&] { Batch(scene, 2, settings); }, {"dt"});

  Batch batch(scene, 5, {}, {.threads = 2});
  batch.step(3);
  const State before = batch.state(0);
  batch.arrays().position_target[3 * 18 + 8] = kNaN;
  refused([&] { batch.step(); }, {"position_target[3, 8] = nan", "finite"});
  BOOST_TEST(same_world(batch.state(0), before));
  std::vector<std::uint8_t> mask(5, 1);
  mask[3] = 0;
  BOOST_TEST(batch.step(1, mask.data()));  // a world that does not move may have any control
  batch.arrays().position_target[3 * 18 + 8] = 0.0;
  batch.arrays().torque[18] = -kInfinity;
  refused([&] { batch.step(); }, {"torque[1, 0] = -inf"});
  batch.arrays().torque[18] = 0.0;
  batch.arrays().q[4 * 19 + 4] += 0.1;
  refused([&] { batch.step(); }, {"q[4, 3:7]", "must be 1"});
  batch.reset();
  refused([&] { batch.step(0); }, {"substeps = 0"});
  refused([&] { batch.state(5); }, {"world = 5", "[0, 4]"});
  refused([&] { batch.set_state(-1, before); }, {"world = -1"});
  State other = before;
  other.v[2] = kNaN;
  refused([&] { batch.set_state(0, other); }, {"state.v[2] = nan"});
  other = before;
  other.scene = 17;
  refused([&] { batch.set_state(0, other); }, {"another scene"});

  std::vector<double> q(5 * 19, 0.0);
  for (int w = 0; w < 5; ++w) std::copy_n(scene.default_q().begin(), 19, q.begin() + 19 * w);
  q[2 * 19 + 9] = kNaN;
  batch.step(2);
  refused([&] { batch.reset(nullptr, q.data()); }, {"world 2", "q[9] = nan"});
  BOOST_TEST(batch.arrays().time[0] == 2e-3);
  mask = {1, 1, 0, 1, 1};
  batch.reset(mask.data(), q.data());

  std::vector<double> values(5 * scene.geometries().size(), 0.5);
  values[scene.geometries().size() + 1] = -0.5;
  refused([&] { batch.assign(WorldField::kFriction, values.data()); },
          {"world 1", "friction", "-0.5"});
  BOOST_TEST(batch.parameters(0).material[0].friction == scene.parameters.material[0].friction);
  std::vector<double> scale(5 * scene.num_bodies(), 1.0);
  scale[2] = 0.0;
  refused([&] { batch.assign(WorldField::kMassScale, scale.data()); },
          {"world 0", "mass_scale[2] = 0"});
  scale[2] = kNaN;
  refused([&] { batch.assign(WorldField::kMassScale, scale.data()); }, {"mass_scale[2] = nan"});
  std::vector<double> gains(5 * scene.nv(), 20.0);
  refused([&] { batch.assign(WorldField::kKp, gains.data()); }, {"world 0", "kp[0]"});
  Parameters wrong = scene.parameters;
  wrong.mass[1] = -1.0;
  refused([&] { batch.set_parameters(2, wrong); }, {"mass[1] = -1"});
}

BOOST_AUTO_TEST_SUITE_END()
