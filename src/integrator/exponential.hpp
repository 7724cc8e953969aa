#pragma once

#include "integrator/compliant_system.hpp"
#include "integrator/contact_motion.hpp"

#include <vector>

namespace stiction {

struct CompliantWorkspace;

/// What the closed form says of a point of the start after the step.
struct PointEnd {
  Vec3d defect{0, 0, 0};  ///< its way by kinematics less that of the closed form [m], contact frame
  Vec3d turn_defect{0, 0, 0};  ///< the same of its turns, in their units [m]
  Tangential extension;        ///< contact frame [m]
  double gap = 0.0;
  ContactMode mode = ContactMode::kOpen;
};

/// Scratch of exponential().
struct ExponentialScratch {
  std::vector<ContactMotion> islands;  ///< as many as the points of the start have, or more
  std::vector<int> partner;            ///< point of the end for each point of the start, -1: none
  // Of the rows of all points, islands one after the other.
  std::vector<double> b0, b1;                    ///< acceleration without contact forces
  std::vector<double> F1, F2;                    ///< int f, intint f
  std::vector<double> held;                      ///< the force that a change of M and J acts on
  std::vector<double> held_at_end;               ///< likewise, rows of the end
  std::vector<double> rows;                      ///< of either
  std::vector<double> island_rows[2], island_Y;  ///< of one island
  std::vector<double> G0_F1, G0_F2;              ///< [nv] M^-1 J^T of the impulses at the start
  std::vector<double> dG, a1;  ///< [nv] change of M^-1 J^T held h/2; acceleration of the end
  std::vector<double> change, ramp, whitened, response;  ///< [nv] of the forces of joints
  std::vector<PointEnd> ends;                            ///< [points]
  std::vector<int> closed;                               ///< rows of an island
  std::vector<double> mismatch, factor;
  bool located = false;  ///< work.end has the contacts of the corrected end, `partner` among them
  int taken = 0;         ///< segments of the step, in each part of the island that had the most
  std::vector<int> rows_of_tree;
  bool unpaid = false;  ///< the work of the step did not last for a part
  bool finest = true;   ///< a part that is not halved again
  /// Segments of a step after which parts whose energy is not grossly off are taken, their velocity
  /// scaled, as if they were the finest. Of 1000 random drops none takes more than 555.
  int most_taken = 2000;
  State before, whole;  ///< of a sub-step that may be taken back
};

/// Second order (exponential Heun) in contact space, with switches located inside the step:
/// springs, dampers and friction of any stiffness in closed form, the slow rest by one evaluation
/// at the start and one at the predicted end. A step that would add energy is taken in halves. The
/// continuous law only. See src/integrator/README.md.
void exponential(const CompliantInput& input, State& state, CompliantWorkspace& work);

}  // namespace stiction
