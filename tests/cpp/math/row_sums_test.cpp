#include "math/row_sums.hpp"

#include "support/random.hpp"
#include <boost/test/unit_test.hpp>

#include <vector>

using namespace stiction;
using stiction::test::Rng;

BOOST_AUTO_TEST_SUITE(row_sums_test)

/// Of every width, with and without an index; what is beside the width stays.
BOOST_AUTO_TEST_CASE(sums_one_after_the_other) {
  Rng rng(1);
  for (int width = 0; width <= 88; width += kLaneColumns) {
    for (int count = 0; count < 12; ++count) {
      const int stride = width + kLaneColumns * rng.below(3), rows = count + 3;
      std::vector<double> x(static_cast<std::size_t>(rows) * stride), out(stride), factors(count);
      std::vector<int> index(count);
      for (std::vector<double>* all : {&x, &out, &factors}) {
        for (double& value : *all) value = rng.uniform(-1.0, 1.0);
      }
      for (int& i : index) i = rng.below(rows);
      for (const bool indexed : {false, true}) {
        std::vector<double> expected = out, sums = out;
        for (int k = 0; k < count; ++k) {
          for (int c = 0; c < width; ++c)
            expected[c] +=
                factors[k] * x[static_cast<std::size_t>(indexed ? index[k] : k) * stride + c];
        }
        add_rows(factors.data(),
                 indexed ? index.data() : nullptr,
                 count,
                 x.data(),
                 stride,
                 width,
                 sums.data());
        BOOST_TEST(sums == expected);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
