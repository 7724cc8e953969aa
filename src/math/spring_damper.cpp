#include "math/spring_damper.hpp"

#include <algorithm>

namespace stiction {

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
  if (!modal_) series_.prepare(rows);
}

void SpringDamper::begin() {
  if (modal_) return modes_.start(start);
  series_.begin();
}

double SpringDamper::work_to_prepare() const {
  constexpr double kEigen = 15.0;
  const double n = rows.size;
  return rows.symmetric ? kEigen * n * n * n : n * n;
}

double SpringDamper::work(double t) const {
  constexpr double kVectors = 4.0, kTerms = 20.0, kPerTurn = 4.0, kProducts = 16.0;
  const double n = rows.size;
  if (modal_) return kVectors * n * n;
  if (is_short(t)) return (kTerms + kPerTurn * series_.rate() * t) * n * n;
  const double size = 2.0 * n + static_cast<double>(rows.lags.size()) + 5.0;
  return kProducts * size * size * size;
}

bool SpringDamper::is_short(double t) const { return series_.rate() * t <= SpringSeries::kLongest; }

const SpringMotion* SpringDamper::sample(double t, int count) {
  if (static_cast<int>(nodes_.size()) < count) nodes_.resize(count);
  for (int k = 0; k < count; ++k) nodes_[k].resize(rows);
  if (modal_) {
    modes_.sample(t, count, nodes_.data());
  } else if (!is_short(t)) {
    sample_by_exponential(rows, start, t, count, exponential_, nodes_.data());
  } else {
    series_.expand_up_to(rows, start, t);
    for (int k = 0; k < count; ++k) series_.at(rows, start, (k + 1) * (t / count), nodes_[k]);
  }
  return nodes_.data();
}

void SpringDamper::at(double t, SpringMotion& motion) {
  motion.resize(rows);
  if (modal_) return modes_.sample(t, 1, &motion);
  if (!is_short(t)) return sample_by_exponential(rows, start, t, 1, exponential_, &motion);
  series_.at(rows, start, t, motion);
}

}  // namespace stiction
