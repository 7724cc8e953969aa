#include "solver/ncp_newton/contact_packs.hpp"

#include "solver/common/pgs_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace stiction {
namespace {

using namespace contact_pack;
constexpr int kRow = ContactSpace::Side::kLooseRow, kBits = 64;

}  // namespace

void ContactPacks::reserve(int sets, int trees) {
  const std::size_t packs = sets;  // every contact may need one of its own
  rows_.grow(packs * kPackRows);
  constants_.grow(packs * kPackConstants);
  grow(packs * kLanes, row_, dim_);
  body_.grow(packs * 2 * kLanes);
  used_.grow(packs);
  body_of_tree_.grow(trees);
  root_.grow(kRow * (trees + 1));
  taken_.grow(kWords * (trees + 1));
}

int ContactPacks::body_of(int tree) {
  int& body = body_of_tree_[tree];
  if (body == 0) {
    body = ++bodies_;
    for (int k = 0; k < kRow; ++k)
      root_[kRow * body + k] = std::sqrt(problem_->space.inverse[kRow * tree + k]);
    std::fill_n(taken_ + kWords * body, kWords, 0);
  }
  return body;
}

/// The first pack with a free lane and neither body in it. Body 0 is the world.
int ContactPacks::find_pack(int a, int b) {
  const auto bits = [&](int body, int word) -> std::uint64_t& {
    return taken_[kWords * body + word % kWords];
  };
  int pack = -1;
  for (int w = window_; pack < 0 && w < window_ + kWords; ++w) {
    const std::uint64_t free = ~(bits(a, w) | bits(b, w) | full_[w % kWords]);
    if (free != 0) pack = kBits * w + __builtin_ctzll(free);
  }
  if (pack < 0) {
    const int next = window_++ % kWords;
    for (int body = 0; body <= bodies_; ++body) taken_[kWords * body + next] = 0;
    full_[next] = 0;
    pack = packs_;
  }
  const std::uint64_t bit = std::uint64_t{1} << pack % kBits;
  for (int body : {a, b}) {
    if (body > 0) bits(body, pack / kBits) |= bit;
  }
  if (pack == packs_) {
    used_[packs_++] = 0;
    std::fill_n(rows_ + static_cast<std::size_t>(pack) * kPackRows, kPackRows, 0.0);
    std::fill_n(constants_ + static_cast<std::size_t>(pack) * kPackConstants, kPackConstants, 0.0);
    std::fill_n(dim_ + pack * kLanes, kLanes, 0);
    std::fill_n(body_ + pack * 2 * kLanes, 2 * kLanes, 0);
  }
  if (++used_[pack] == kLanes) full_[pack / kBits % kWords] |= bit;
  return pack;
}

bool ContactPacks::prepare(const Island& island, PackedSweep sweep) {
  const ContactProblem& p = island.problem;
  const ContactSpace& space = p.space;
  for (int i = island.first; i < island.last; ++i) {
    const ConstraintSet& set = p.sets[i];
    if (!(set.is_cone() && set.dim == 3) && set.kind != SetKind::kNonNegative) return false;
  }
  problem_ = &p;
  sweep_ = sweep;
  packs_ = bodies_ = window_ = 0;
  reserve(island.last - island.first, space.num_trees());
  std::fill_n(taken_.data(), kWords, 0);
  std::fill_n(full_, kWords, 0);
  for (int s = space.side_start[island.first]; s < space.side_start[island.last]; ++s)
    body_of_tree_[space.sides[s].tree] = 0;
  const double floor = rigid_floor(island);
  for (int i = island.first; i < island.last; ++i) fill(i, floor);
  return true;
}

void ContactPacks::fill(int set, double floor) {
  const ContactProblem& p = *problem_;
  const ContactSpace& space = p.space;
  const ConstraintSet& s = p.sets[set];
  const int start = space.side_start[set], sides = space.side_start[set + 1] - start;
  int body[2] = {};
  for (int k = 0; k < sides; ++k) body[k] = body_of(space.sides[start + k].tree);
  const int pack = find_pack(body[0], body[1]), lane = used_[pack] - 1;
  const int skip = kRows - s.dim;  // a single row stands where the normal does
  for (int k = 0; k < sides; ++k) {
    body_[(2 * pack + k) * kLanes + lane] = kRow * body[k];
    const double *z = space.z.data() + space.sides[start + k].z, *root = root_ + kRow * body[k];
    double* out = rows_ + static_cast<std::size_t>(pack) * kPackRows +
                  kLanes * kCoordinates * (k * kRows + skip) + lane;
    for (int r = 0; r < s.dim; ++r) {
      for (int m = 0; m < kCoordinates; ++m)
        out[kLanes * (kCoordinates * r + m)] = root[m] * z[kRow * r + m];
    }
  }
  row_[pack * kLanes + lane] = s.offset;
  dim_[pack * kLanes + lane] = s.dim;
  double values[kPackConstants / kLanes] = {};
  if (s.dim == 1) {
    values[5] = values[6] = safe_inverse(p.diagonal_entry(set, 0), floor);
  } else {
    const double *b = p.block(set), block[6] = {b[0], b[1], b[2], b[5], b[6], b[10]};
    const ConeStep<double> step = cone_step(block, floor);
    std::memcpy(values, &step, sizeof step);
    values[kFriction] = s.friction.slope();
  }
  for (int r = 0; r < s.dim; ++r) {
    values[kFreeVelocity + skip + r] = p.g[s.offset + r];
    values[kCompliance + skip + r] = p.compliance[s.offset + r];
  }
  double* out = constants_ + static_cast<std::size_t>(pack) * kPackConstants + lane;
  for (int k = 0; k < kPackConstants / kLanes; ++k) out[kLanes * k] = values[k];
}

void ContactPacks::pack(const double* lambda, double* packed) const {
  std::fill_n(packed, num_impulses(), 0.0);
  for (int k = 0; k < packs_ * kLanes; ++k) {
    double* out = packed + k / kLanes * kPackImpulses + k % kLanes;
    for (int r = 0; r < dim_[k]; ++r) out[kLanes * (kRows - dim_[k] + r)] = lambda[row_[k] + r];
  }
}

void ContactPacks::unpack(const double* packed, double* lambda) const {
  for (int k = 0; k < packs_ * kLanes; ++k) {
    const double* in = packed + k / kLanes * kPackImpulses + k % kLanes;
    for (int r = 0; r < dim_[k]; ++r) lambda[row_[k] + r] = in[kLanes * (kRows - dim_[k] + r)];
  }
}

void ContactPacks::find_motion(const double* packed, double* u) const {
  std::fill_n(u, num_motions(), 0.0);
  for (int k = 0; k < packs_ * kLanes; ++k) {
    const int pack = k / kLanes, lane = k % kLanes;
    const double* l = packed + pack * kPackImpulses + lane;
    for (int side = 0; side < 2; ++side) {
      const double* z = rows_ + static_cast<std::size_t>(pack) * kPackRows +
                        kLanes * kCoordinates * kRows * side + lane;
      double* out = u + body_[(2 * pack + side) * kLanes + lane];
      for (int r = 0; r < kRows; ++r) {
        for (int m = 0; m < kCoordinates; ++m)
          out[m] += z[kLanes * (kCoordinates * r + m)] * l[kLanes * r];
      }
    }
  }
}

void ContactPacks::sweep(double* packed, double* change, double* u) const {
  sweep_(packs_, rows_, constants_, body_, packed, change, u);
}

}  // namespace stiction
