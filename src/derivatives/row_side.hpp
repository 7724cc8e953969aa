#pragma once

#include "derivatives/moving_rows.hpp"

namespace stiction {

/// One side of a constraint at a point of its body, while the bodies of its tree move with given
/// velocities.
class MovingSide {
 public:
  MovingSide() = default;
  /// p: world; V: [bodies of the scene], root axes.
  MovingSide(const DerivativeInput& in,
             const RowSide& side,
             const Vec3d& p,
             const Motion<double>* V);

  int length() const { return side_->length; }
  int tree() const { return side_->tree; }
  int body() const { return tree_->body_offset + side_->body; }
  /// m-th dof of the chain, local to the tree.
  int dof(int m) const { return chain_[m]; }

  Motion<double> motion() const;  ///< of the body at the point, world axes
  /// What moves with dof j: the point and its body; world axes.
  RowColumn column(int j) const;
  /// Change of motion() at a point held in space, S_j x (V - V of the parent of j's joint).
  Motion<double> change(int j) const;
  /// Adds an impulse and a couple at the point, world axes.
  void add_impulse(const Vec3d& impulse,
                   const Vec3d& couple,
                   std::vector<Force<double>>& out) const;

 private:
  const RowSide* side_ = nullptr;
  const Tree* tree_ = nullptr;
  const TreeData<double>* data_ = nullptr;
  const Motion<double>* V_ = nullptr;  ///< [bodies of the tree]
  const int* chain_ = nullptr;
  Vec3d p_, v_;  ///< the point and its velocity, root axes
};

/// Both sides; A, if it moves, before B.
struct MovingSides {
  int count = 0;
  MovingSide at[2];
  double sign[2] = {-1.0, 1.0};

  MovingSides(const DerivativeInput& in,
              const ConstraintRow& row,
              int body_a,
              const Vec3d& p_A,
              const Vec3d& p_B,
              const Motion<double>* V);
  /// v_B - v_A and w_B - w_A.
  Motion<double> relative() const;
};

// Append the columns of one constraint. Files of the same name.
void append_contact_columns(const DerivativeInput& in, int set, MovingRows& out);
void append_closure_columns(const DerivativeInput& in, int set, MovingRows& out);
/// Limits, dry friction, gears.
void append_joint_columns(const DerivativeInput& in, int set, MovingRows& out);

/// -dc*/dgap of a rigid row; counts gaps at their kink and rows that are capped.
double gap_slope(
    const DerivativeInput& in, ReferenceKind kind, double gap, double size, MovingRows& out);

}  // namespace stiction
