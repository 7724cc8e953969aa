#pragma once

#include "contact/curvature.hpp"
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
  /// Changes of material_motion() at the point, held in space, with dof j and with its speed; V is
  /// that of the start.
  MaterialMotion<double> material_change(int j) const;
  MaterialMotion<double> material_rate(int j) const;
  /// What shifting the point adds to that.
  MaterialMotion<double> material_shift(const Vec3d& shift) const;
  /// Change of material_motion() with the centre of mass of a loose body, body axes.
  MaterialMotion<double> material_by_com(const Vec3d& dc) const;
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
  Vec3d p_, v_;               ///< the point and its velocity, root axes
  Vec3d loose_com_{0, 0, 0};  ///< of a loose body, root axes
  Vec3d gravity_;             ///< root axes

  MaterialMotion<double> at_point(const Motion<double>& dV, const Motion<double>& dA) const;
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
