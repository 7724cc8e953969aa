#include "contact/closure_recovery.hpp"
#include "derivatives/moving_closure.hpp"
#include "derivatives/parameter_changes.hpp"

#include <numeric>

// Where the frames of closures lie in their bodies. Rows, errors and forces move as with the body,
// but no velocity of a body does.

namespace stiction {
namespace {

using Input = DerivativeInput;
using Linear = Linearisation;

int six_by_closure(const Input& in) { return 6 * static_cast<int>(in.scene.closures().size()); }

/// Rows that repeat others are asked for something else than those: no step does that.
bool contradicts(const Linear& linear, int set, const RowColumn& by, ParameterChanges& all) {
  std::vector<double>& b = all.numbers;
  const int begin = linear.active.start[set], end = linear.active.start[set + 1];
  for (const DerivativeIsland& island : linear.islands) {
    if (set < island.first_set || set >= island.last_set) continue;
    const ReducedSystem& reduced = linear.reduced[island.reduced];
    if (reduced.rank() == reduced.size()) return false;
    b.assign(reduced.size(), 0.0);
    for (int a = begin; a < end; ++a) {
      const ActiveUnknown& u = linear.active.unknowns[a];
      b[a - reduced.first()] = std::inner_product(u.w, u.w + u.dim, by.velocity, 0.0);
    }
    return reduced.contradicts(b.data(), 1, all.scratch);
  }
  return false;
}

/// Tangents of X_A or X_B in the axes of the frame: shift, then turn.
void add_frame(const Input& in, const Linear& linear, bool on_a, const ChangeSink& out) {
  MovingRows& rows = out.all.rows;
  rows.end = linear.moving.end;
  for (int i = 0; i < in.record.problem.num_sets(); ++i) {
    const ConstraintRow& row = in.record.rows.rows[i];
    if (row.source != RowSource::kClosure) continue;
    const MovingClosure c = moving_closure(in, i, rows);
    for (int k = 0; k < 6; ++k) {
      RowColumn by{};
      (k < 3 ? by.u : by.w) = (on_a ? c.X_WA : c.X_WB).R.column(k % 3);
      set_closure_change(c, on_a, {{0, 0, 0}, {0, 0, 0}}, by);
      drop_rigid(in.record.problem, i, by.velocity);
      if (contradicts(linear, i, by, out.all)) out.count_kink();
      out.row(in, linear, 6 * row.index + k, i, by);
    }
  }
}
void add_frame_a(const Input& in, const Linear& linear, const ChangeSink& out) {
  add_frame(in, linear, true, out);
}
void add_frame_b(const Input& in, const Linear& linear, const ChangeSink& out) {
  add_frame(in, linear, false, out);
}

}  // namespace

const std::vector<ParameterField>& closure_fields() {
  static const std::vector<ParameterField> fields = {
      {"closure_X_A", six_by_closure, add_frame_a},
      {"closure_X_B", six_by_closure, add_frame_b},
  };
  return fields;
}

}  // namespace stiction
