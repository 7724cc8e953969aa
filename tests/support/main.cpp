#define BOOST_TEST_MODULE stiction
#include <boost/test/unit_test.hpp>
