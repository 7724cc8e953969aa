#include "stiction/math/setting.hpp"

#include <boost/test/unit_test.hpp>

#include <stdexcept>
#include <string>
#include <tuple>

using namespace stiction;

namespace {

struct Numbers {
  double share = 0.5;
  int count = 3;
  bool either = false;
  std::string word = "plain";
};

constexpr std::tuple kNumbers{
    Setting<Numbers, double>{"share", &Numbers::share, kInUnit, "m/s", "A share.", "a-*"},
    Setting<Numbers, int>{"count", &Numbers::count, kAtLeastOne, "", "A count."},
    Setting<Numbers, bool>{"either", &Numbers::either, kEither, "", "A switch.", "a-one b"},
    Setting<Numbers, std::string>{
        "word",
        &Numbers::word,
        {"\"plain\" or \"odd\"", [](const std::string& x) { return x == "plain" || x == "odd"; }},
        "",
        "A word.",
        "*-two"}};

template <class Call>
std::string message_of(Call&& call) {
  try {
    call();
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

std::string range(const Numbers& n) {
  return message_of([&] { check_ranges(n, kNumbers); });
}

std::string unread(const Numbers& n, const std::string& reader) {
  return message_of([&] { refuse_unread(n, Numbers{}, kNumbers, "solver", reader); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(setting_test)

BOOST_AUTO_TEST_CASE(what_is_out_of_range_is_named_with_value_rule_and_unit) {
  BOOST_TEST(range({}) == "");
  BOOST_TEST(range({.share = 2.0}) == "share = 2: must be in [0, 1] [m/s]");
  BOOST_TEST(range({.share = -1e-9}) == "share = -1e-09: must be in [0, 1] [m/s]");
  BOOST_TEST(range({.count = 0}) == "count = 0: must be >= 1");
  BOOST_TEST(range({.either = true}) == "");
  BOOST_TEST(range({.word = "green"}) == "word = \"green\": must be \"plain\" or \"odd\"");
}

BOOST_AUTO_TEST_CASE(what_nobody_reads_is_refused_unless_it_is_the_default) {
  for (const char* reader : {"a-one", "a-two", "b", "c", "a-", "xa-one"}) {
    const std::string name = reader;
    BOOST_TEST(unread({}, name) == "");
    BOOST_TEST(unread({.count = 7}, name) == "");
    BOOST_TEST((unread({.share = 0.1}, name) == "") == (name[0] == 'a'));
    BOOST_TEST((unread({.either = true}, name) == "") == (name == "a-one" || name == "b"));
    BOOST_TEST((unread({.word = "odd"}, name) == "") == (name == "a-two"));
  }
  BOOST_TEST(unread({.either = true}, "c") ==
             "either = True: solver \"c\" does not read it; of a-one b");
}

BOOST_AUTO_TEST_SUITE_END()
