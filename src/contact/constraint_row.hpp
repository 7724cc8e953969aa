#pragma once

#include "stiction/contact/compliant_law.hpp"

#include "contact/build_problem.hpp"
#include "contact/row_rules.hpp"

namespace stiction {

/// Where the pieces of build_problem read and write.
struct RowContext {
  const Scene& scene;
  const Parameters& parameters;
  const State& state;
  const ContactSettings& settings;
  double dt;
  const DynamicsWorkspace& dynamics;
  ConstraintRows& out;
  RowScratch& scratch;
};

inline SpeedCaps speed_caps(const ContactSettings& settings) {
  return {settings.recovery_speed, settings.recovery_angular_speed};
}
inline double limit_cap(const ContactSettings& settings, JointType joint) {
  return limit_cap(speed_caps(settings), joint_facts(joint).linear_dofs > 0);
}

// Each appends rows with J, J v, c* and R: contact_rows.cpp, joint_rows.cpp, closure_rows.cpp.
void append_contact_rows(const RowContext& context, const ContactSet& contacts);
/// J alone.
void append_point_rows(const RowContext& context, const ContactSet& contacts);
void append_joint_rows(const RowContext& context);  // of gears too
void append_gear_rows(const RowContext& context);
void append_closure_rows(const RowContext& context);

/// gap_reference() in row r.
void set_gap_reference(
    const RowContext& context, double gap, double cap, int r, ConstraintRow& row);

/// Cuts what corrects a position error to speeds that do no harm, see recovery.cpp. Rows are
/// whitened, the diagonal of G has no compliance yet.
void limit_recovery(const RowContext& context, ContactProblem& problem);

/// Phi = (p_B - p_A, and of a weld log(R_WA^T R_WB)) in the axes of frame A [m, rad].
void closure_error(const Closure& closure,
                   const Transform& X_WA,
                   const Transform& X_WB,
                   double* error);
/// q_dof - ratio q_driver - offset, to the nearest turn if one of them is continuous [rad or m];
/// `size`, if given, the larger of its terms.
double gear_error(
    const Scene& scene, const Parameters& p, int index, const double* q, double* size = nullptr);

/// k and d of one point of a pair.
PointCompliance compliance_of(const Contact& contact, const ContactSettings& settings);

inline double restitution_threshold(const ContactSettings& settings,
                                    const Vec3d& gravity,
                                    double dt) {
  return restitution_threshold(settings.restitution_threshold, gravity, dt);
}

/// rebounds(), once the free normal velocity of the step is known.
void apply_restitution(const RowContext& context,
                       const Contact& contact,
                       double free_normal,
                       ConstraintRow& row);

/// rounding_of() for rows of the world point p: positions of p in the world and from the roots of
/// the trees that carry it, speeds of the bodies there.
double point_floor(const RowContext& context, const ConstraintRow& row, const Vec3d& p);

/// ConstraintSet::arm of all rows, once the diagonal of G is known: row_arms.cpp.
void set_arms(const RowContext& context, ContactProblem& problem);
/// row.velocity_floor in m/s.
double floor_of(const ConstraintRow& row);

/// Adds a side with room for the rows of `body` (scene index; nothing for the world). Returns its
/// rows or null.
double* add_side(const RowContext& context, int body, ConstraintRow& row);
/// The same for one dof: a unit row.
void add_dof_side(const RowContext& context, int dof, double coefficient, ConstraintRow& row);
/// row.velocity += J v over its sides.
void accumulate_velocity(const RowContext& context, ConstraintRow& row);

/// World rotation of the body that carries the anchor of a contact's springs.
Mat3d anchor_rotation(const Scene& scene,
                      const DynamicsWorkspace& dynamics,
                      const Contact& contact);

/// G, g, sets and R of this step from contacts, joint limits, dry friction, closures and gears.
/// `impulse` receives the warm start from the state. The dynamics must hold the step's factor and
/// w.
void build_problem(const RowContext& context,
                   const ContactSet& contacts,
                   ContactProblem& problem,
                   std::vector<double>& impulse);
/// The warm start of every row from the state.
void load_impulses(const RowContext& context,
                   const ContactSet& contacts,
                   const ContactProblem& problem,
                   std::vector<double>& impulse);

/// Numbers the rows by island, whitens them and assembles G = J M^-1 J^T; R is not added. With
/// `parameters` islands of loose bodies get a ContactSpace instead.
void assemble_rows(const Scene& scene,
                   const DynamicsWorkspace& dynamics,
                   ConstraintRows& rows,
                   RowScratch& scratch,
                   ContactProblem& problem,
                   const Parameters* parameters = nullptr);
/// out += Z^T D^-1 w = J M^-1 y of all rows, from the whitened w = L^-T y.
void add_row_velocity(const Scene& scene,
                      const DynamicsWorkspace& dynamics,
                      const ConstraintRows& rows,
                      const double* w,
                      RowScratch& scratch,
                      std::vector<double>& out);
/// u [nv of the tree] <- D^-1 Z lambda of `dim` rows of a set, those from row `first` on.
void row_motion(const RowContext& context,
                const ConstraintRow& row,
                int offset,
                int first,
                int dim,
                const double* lambda,
                int tree,
                double* u);

/// Appends the entries of D^-1/2 L^-T J^T of one set, whose first row is `offset`: scene dofs, and
/// for each the rows of the set. A gear or a weld within one tree may name a dof twice.
void append_whitened_entries(const Scene& scene,
                             const DynamicsWorkspace& dynamics,
                             const ConstraintRows& rows,
                             int set,
                             int offset,
                             std::vector<int>& dofs,
                             std::vector<double>& values);

/// out += J x of all rows, x [nv].
void add_row_motion(const Scene& scene,
                    const DynamicsWorkspace& dynamics,
                    const ConstraintRows& rows,
                    const double* x,
                    std::vector<double>& out);

/// out [nv] += J^T x of all rows.
void add_row_forces(const Scene& scene,
                    const DynamicsWorkspace& dynamics,
                    const ConstraintRows& rows,
                    const std::vector<double>& x,
                    std::vector<double>& out);

/// Sorts rows by island and numbers them: sets and islands of the problem, g and R sized.
void number_sets(const Scene& scene,
                 ConstraintRows& rows,
                 RowScratch& scratch,
                 ContactProblem& problem);
/// Panels of G from whitened rows, of the sets that have any. Where one tree carries every set,
/// rows_by_dof.hpp is faster.
void assemble_delassus(const Scene& scene,
                       const ConstraintRows& rows,
                       RowScratch& scratch,
                       ContactProblem& problem);
/// The factors that G is assembled from.
void fill_space(const Scene& scene,
                const DynamicsWorkspace& dynamics,
                const ConstraintRows& rows,
                ContactProblem& problem);

}  // namespace stiction
