#include "math/spring_damper.hpp"

#include <algorithm>

namespace stiction {
namespace {

/// Rate times length of a motion, beyond which a matrix exponential is cheaper than the series: 12
/// spans of 4.
constexpr double kShort = 48.0;

}  // namespace

void SpringMotion::resize(const SpringRows& rows) {
  for (std::vector<double>* a : {&x, &v, &u, &U1, &U2}) a->resize(rows.size);
  g.resize(rows.lags.size());
}

void SpringMotion::take(const SpringRows& rows, const SpringStart& start) {
  t = 0.0;
  x = start.x;
  v = start.v;
  g = start.g;
  u.resize(rows.size);
  for (int i = 0; i < rows.size; ++i) u[i] = -rows.K[i] * x[i] - rows.B[i] * v[i];
  U1.assign(rows.size, 0.0);
  U2.assign(rows.size, 0.0);
}

void SpringDamper::prepare() {
  modal_ = modes_.find(rows);
  if (!modal_) rate_ = fastest_rate(rows);
}

void SpringDamper::begin() {
  sampled_ = 0;
  if (modal_) return modes_.start(start);
  if (nodes_.empty()) nodes_.resize(1);
  nodes_[0].take(rows, start);
}

bool SpringDamper::is_short(double t) const { return rate_ * t <= kShort; }

const SpringMotion* SpringDamper::sample(double t, int count) {
  if (static_cast<int>(nodes_.size()) <= count) nodes_.resize(count + 1);
  for (int k = 1; k <= count; ++k) nodes_[k].resize(rows);
  sampled_ = 0;
  if (modal_) {
    modes_.sample(t, count, nodes_.data() + 1);
  } else if (!is_short(t)) {
    sample_by_exponential(rows, start, t, count, exponential_, nodes_.data() + 1);
  } else {
    for (int k = 1; k <= count; ++k, sampled_ = k - 1) {
      nodes_[k] = nodes_[k - 1];
      advance_by_series(rows, start, rate_, k * (t / count) - nodes_[k].t, series_, nodes_[k]);
      nodes_[k].t = k * (t / count);
    }
  }
  return nodes_.data() + 1;
}

/// The series from the last node before t.
void SpringDamper::at(double t, SpringMotion& motion) {
  motion.resize(rows);
  if (modal_) return modes_.sample(t, 1, &motion);
  if (!is_short(t)) return sample_by_exponential(rows, start, t, 1, exponential_, &motion);
  int last = sampled_;
  while (last > 0 && nodes_[last].t > t) --last;
  motion = nodes_[last];
  advance_by_series(rows, start, rate_, t - motion.t, series_, motion);
  motion.t = t;
}

}  // namespace stiction
