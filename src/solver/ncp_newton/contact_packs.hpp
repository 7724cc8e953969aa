#pragma once

#include "solver/common/buffer.hpp"
#include "solver/common/island.hpp"
#include "solver/ncp_newton/packed_sweep.hpp"

#include <cstdint>

namespace stiction {

/// The contacts of an island of loose bodies, eight a pack in structure of arrays. No body is twice
/// in a pack, so that a projected sweep over the packs is Gauss-Seidel in their order, whatever the
/// width of the registers. Motions are in units in which every body has the inertia 1,
///
///   u = m^-1/2 Z lambda,   c = (m^-1/2 Z)^T u + R lambda + g.
class ContactPacks {
 public:
  /// False if the island has other sets than contacts of three rows and of one.
  bool prepare(const Island& island, PackedSweep sweep = widest_sweep());
  /// Room for problems of so many sets on so many trees.
  void reserve(int sets, int trees);

  int num_packs() const { return packs_; }
  int num_impulses() const { return packs_ * contact_pack::kPackImpulses; }
  int num_motions() const { return ContactSpace::Side::kLooseRow * (bodies_ + 1); }
  /// First row of the problem, and a body's place in u (0: the world), of a lane; -1: no contact.
  int row(int pack, int lane) const {
    const int slot = pack * contact_pack::kLanes + lane;
    return dim_[slot] > 0 ? row_[slot] : -1;
  }
  int body(int pack, int side, int lane) const {
    return body_[(2 * pack + side) * contact_pack::kLanes + lane];
  }
  /// Impulses of the island, by row, into packs; those of lanes without contact and of rows that a
  /// contact lacks are zero.
  void pack(const double* lambda, double* packed) const;
  void unpack(const double* packed, double* lambda) const;
  /// u [bodies x 8] of packed impulses.
  void find_motion(const double* packed, double* u) const;
  /// A projected sweep (pgs_kernel.hpp): impulses and u; change: what it adds to the impulses.
  void sweep(double* packed, double* change, double* u) const;

 private:
  static constexpr int kWords = 4;  // a contact looks for a place in 64 packs of each

  int body_of(int tree);
  int find_pack(int a, int b);
  void fill(int set, double floor);

  const ContactProblem* problem_ = nullptr;
  PackedSweep sweep_ = nullptr;
  int packs_ = 0, bodies_ = 0, window_ = 0;
  std::uint64_t full_[kWords] = {};
  Buffer<double> rows_;       ///< [packs][body][row][coordinate][lane]
  Buffer<double> constants_;  ///< [packs][ConeStep, mu, g, R][lane]
  Buffer<int> body_;          ///< [packs][body][lane] start in u
  Buffer<int> row_, dim_;     ///< [packs][lane] of the problem; dim 0: no contact
  Buffer<int> body_of_tree_;
  Buffer<double> root_;          ///< [bodies][8] inertia^-1/2
  Buffer<std::uint64_t> taken_;  ///< [bodies][kWords] packs that a body is in, from window_ on
  Buffer<int> used_;             ///< [packs] lanes
};

}  // namespace stiction
