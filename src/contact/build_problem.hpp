#pragma once

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/contact_settings.hpp"
#include "stiction/model/state.hpp"

#include "collision/scene/collide.hpp"
#include "dynamics/forest.hpp"
#include "math/disjoint_sets.hpp"

#include <cstdint>
#include <vector>

namespace stiction {

enum class RowSource : std::uint8_t {
  kContact,
  kLowerLimit,
  kUpperLimit,
  kLimitRecovery,  ///< what brings a joint back within its limit, see recovery.cpp
  kDryFriction,
  kClosure,
  kGear
};

/// Which rule gave a row's reference velocity c*; of a contact that of its normal.
enum class ReferenceKind : std::uint8_t {
  kNone,         ///< dry friction, c* = 0; a limit beside its kLimitRecovery
  kSpeculative,  ///< -gap / dt of what is open
  kRecovery,     ///< a share of a position error
  kCapped,       ///< the same, cut to the recovery speeds
  kDrift,        ///< a closure's error that its motion makes in a step
  kRestitution,
  kSpring,
  kCurvature,  ///< of a closed loop's path, under project_closures
  kImmovable,  ///< nothing moves along the row, and nothing is asked for
};
const char* to_string(RowSource source);
const char* to_string(ReferenceKind kind);

/// One body of a constraint: its chain of dofs and where its rows of J are stored.
struct RowSide {
  int tree, body;  ///< body local to the tree
  int last_dof;    ///< local
  int length;      ///< dofs of the chain
  int start;       ///< in ConstraintRows::jacobian, of block after block of rows (tree_block)
};

/// A set of the problem before it is numbered: what it is, on whom it acts, what it asks for.
struct ConstraintRow {
  RowSource source = RowSource::kContact;
  ReferenceKind kind = ReferenceKind::kNone;
  int index = 0;  ///< contact, dof, closure or gear
  ConstraintSet set;
  int num_sides = 0;
  RowSide sides[2];
  double velocity[6] = {};   ///< J v at the start of the step
  double reference[6] = {};  ///< c*
  double compliance[6] = {};
  /// A contact's dt/2 kappa along t1, t2, n: what its velocity changes in half a step.
  Vec3d curvature{0, 0, 0};
  bool carried = false;         ///< of a contact, in the last step
  bool curves = false;          ///< c has its curvature, which may be zero now
  bool alone = false;           ///< of the contacts of its bodies it alone carried
  Vec3d slides{0, 0, 0};        ///< HalfStep's of the one that did, world axes
  double velocity_floor = 0.0;  ///< rounding of J v and c* [m/s; of limits and gears rad/s]
  /// kRestitution: c*_N and rule of the gap alone.
  double gap_reference = 0.0;
  ReferenceKind gap_kind = ReferenceKind::kNone;
  bool loose = false;  ///< of an island of loose bodies (contact/loose_rows.hpp)
};

/// Whether it is the row of a joint that both limits, which are one, lock.
inline bool locks(const ConstraintRow& row) {
  const bool limit = row.source == RowSource::kLowerLimit || row.source == RowSource::kUpperLimit;
  return limit && row.set.kind == SetKind::kBox;
}

/// Whether c* corrects a position error.
inline bool recovers(const ConstraintRow& row) {
  return row.kind == ReferenceKind::kRecovery || row.kind == ReferenceKind::kCapped ||
         row.kind == ReferenceKind::kDrift;
}

/// The same of an error that was there before, not of one that the step's own motion makes.
inline bool corrects(const ConstraintRow& row) {
  return recovers(row) && row.kind != ReferenceKind::kDrift;
}

/// The part of ConstraintRow::curvature in row r of its set: couples and other rows have none.
inline double curvature_in_row(const ConstraintRow& row, int r) {
  if (row.source != RowSource::kContact) return 0.0;
  if (r == row.set.dim - 1) return row.curvature.z;
  return r < 2 ? row.curvature[r] : 0.0;
}

/// Rows dense by dof, where one tree carries them all (src/contact/rows_by_dof.hpp).
struct RowsByDof {
  int tree = -1;                      ///< -1: more than one
  int width = 0;                      ///< rows, rounded up
  std::vector<double> y;              ///< [dofs x width] D^-1/2 L^-T J^T
  std::vector<std::uint8_t> touched;  ///< [dofs x width / 8] whether eight rows have an entry
  std::vector<double> root;           ///< [dofs] D^-1/2
};

/// A loose body's coordinates in ContactSpace.
struct LooseBody {
  bool free = false;   ///< its mass matrix is that of the body alone
  bool known = false;  ///< the axes, of `of`
  Sym3<double> of{};
  Vec3d com, axes[3];  ///< body frame
  double inertia[6];   ///< mass three times, principal moments
  double inverse[6];   ///< 1 / inertia
};

/// Z = L^-T J^T of the rows that are not loose, G = Z^T D^-1 Z, in one of two layouts. Filled by
/// assemble_rows(), read through velocity_change() and its neighbours in
/// src/contact/whitened_rows.cpp.
class WhitenedRows {
 public:
  /// Where one tree carries all sets; else null.
  const RowsByDof* by_dof() const { return by_dof_.tree >= 0 ? &by_dof_ : nullptr; }
  /// Else Z and D^-1 Z, laid out like J.
  const std::vector<double>& z() const { return z_; }
  const std::vector<double>& scaled() const { return scaled_; }

  RowsByDof& begin_by_dof(int tree) {
    by_dof_.tree = tree;
    return by_dof_;
  }
  void begin_trees(std::size_t size) {
    by_dof_.tree = -1;
    z_.resize(size);
    scaled_.resize(size);
  }
  double* z(int start) { return z_.data() + start; }
  double* scaled(int start) { return scaled_.data() + start; }

 private:
  std::vector<double> z_, scaled_;
  RowsByDof by_dof_;
};

/// Rows of the current step; sized by use, kept between steps for their capacity.
struct ConstraintRows {
  std::vector<ConstraintRow> rows;  ///< in the order of problem.sets
  std::vector<double> jacobian;  ///< J, by side: entry (dof m of the chain, r) of a block of d rows
                                 ///< at [d m + r]
  WhitenedRows whitened;
  std::vector<LooseBody> loose_bodies;  ///< [trees]

  void clear() {
    rows.clear();
    jacobian.clear();
  }
};

/// Two bodies and those of their contacts that carried in the last step.
struct TouchingBodies {
  std::uint64_t bodies;  ///< a number for the two
  int points;
  bool meet;     ///< at some of them they meet in this step, faster than restitution's threshold
  Vec3d slides;  ///< HalfStep's of a single one
};

/// Scratch of what makes and multiplies rows: nothing in it has a meaning after the call.
struct RowScratch {
  std::vector<double> by_row;   ///< [RowsByDof::width]
  std::vector<double> by_dof;   ///< [nv]
  std::vector<double> carried;  ///< [bodies, kg] carried_masses()
  std::vector<double> motion;   ///< of a contact: rows of its point, then of its body's turning
  std::vector<int> dofs;        ///< of a set
  std::vector<TouchingBodies> touching;
  std::vector<ConstraintRow> sorted;
  DisjointSets joined;              ///< trees that rows join
  std::vector<int> island_of_tree;  ///< by the tree that stands for its island
  std::vector<int> island_of_row;
  std::vector<int> tree_start, tree_sets;  ///< sets by tree
  std::vector<int> next;                   ///< where the next one of each kind goes
  std::vector<int> neighbours;             ///< sets that share a tree with a row
  std::vector<Motion<double>> body_speed;  ///< [bodies]
};

/// Extension of a point's tangential spring after a step of dt with the impulse lambda of its row,
/// contact frame [m]; 0 where there is none, or where the point is open.
Vec3d next_extension(const Contact& contact,
                     const ConstraintRow& row,
                     double dt,
                     const double* lambda);

/// Energy in a point's springs at the start of the step [J]; 0 for a rigid pair.
double elastic_energy(const Contact& contact,
                      const ConstraintRow& row,
                      const ContactSettings& settings,
                      double dt);

/// How far a closure or gear is open. A gear's error counts as linear where its dof slides.
struct ClosureError {
  RowSource source;  ///< kClosure or kGear
  int index;
  double linear, angular;  ///< [m], [rad] >= 0
};
/// Of all closures, then of all gears, at a state. Allocates.
std::vector<ClosureError> closure_errors(const Scene& scene,
                                         const Parameters& parameters,
                                         const State& state);

/// What a row that recovers() gives [J] at the impulses and velocities [dim] of its set: lambda . J
/// v, of J v what is between 0 and c*.
double recovery_energy(const ConstraintRow& row, const double* lambda, const double* velocity);
/// Of one row that asks for c*, with its impulse and velocity less c*.
double recovery_energy(double asked, double lambda, double velocity);
/// The sum over all of them, from impulses and velocities [rows] of a solution. The impulses do the
/// work lambda^T J (v_free + v) / 2 <= lambda^T J v: friction takes, a speculative row takes, a row
/// that restores nothing gives nothing, and a corrected one gives lambda . c*, less if it is at the
/// bound of its impulse or in conflict with others, and slower. So this is the most that the
/// corrections have added to the energy of the step; a bilateral row that is pushed back while it
/// pulls counts below zero.
double recovery_energy(const ConstraintRows& rows,
                       const std::vector<double>& impulse,
                       const std::vector<double>& velocity);

/// Stores the impulses in the state for the next warm start, and the extensions of springs.
void store_impulses(const Scene& scene,
                    const ContactSet& contacts,
                    const DynamicsWorkspace& dynamics,
                    const ConstraintRows& rows,
                    const std::vector<double>& impulse,
                    double dt,
                    State& state);

/// out [nv] <- L^-1 D^-1 (w + Z lambda): what impulses and a free motion w (null: none) do to v.
void velocity_change(const Scene& scene,
                     const DynamicsWorkspace& dynamics,
                     const ConstraintRows& rows,
                     const double* w,
                     const std::vector<double>& impulse,
                     RowScratch& scratch,
                     double* out);

}  // namespace stiction
