#include "contact/constraint_row.hpp"
#include "contact/contact_memory.hpp"
#include "derivatives/parameter_changes.hpp"

#include <algorithm>
#include <cmath>

// Materials of geometries and of pairs. A pair's number depends on those of its two geometries as
// combine() and PairFriction say; a pair with a material of its own on that alone.

namespace stiction {
namespace {

using Input = DerivativeInput;
using Linear = Linearisation;

int geometries(const Input& in) { return static_cast<int>(in.scene.geometries().size()); }
int pairs(const Input& in) { return static_cast<int>(in.parameters.pair_material.size()); }

/// d series(x, y) / dx, series = x y / (x + y); an infinite one leaves the other.
double by_first(double x, double y) {
  if (std::isinf(x)) return 0.0;
  if (std::isinf(y)) return 1.0;
  return x + y > 0.0 ? y * y / ((x + y) * (x + y)) : 0.0;
}

/// A contact of the step: its set, and what its numbers depend on.
struct SolvedContact {
  const Input& in;
  const Linear& linear;
  int set, row;
  const Contact& contact;
  const ConstraintRow& description;
  const double* l;  ///< impulse of its rows
  int normal() const { return description.set.dim - 1; }
};

template <class Visit>
void each_contact(const Input& in, const Linear& linear, Visit&& visit) {
  for (int i = 0; i < in.record.problem.num_sets(); ++i) {
    const ConstraintRow& row = in.record.rows.rows[i];
    if (row.source != RowSource::kContact) continue;
    const int at = in.record.problem.sets[i].offset;
    visit(SolvedContact{in,
                        linear,
                        i,
                        at,
                        in.record.contacts[row.index],
                        row,
                        in.record.solution.impulse.data() + at});
  }
}

/// A coefficient of friction, the rows of a cone that it is of, the least condim that has it count.
struct Coefficient {
  double Material::* of;
  int first, last, condim;
};
constexpr Coefficient kSliding{&Material::friction, 0, 2, kCondimSliding},
    kTorsional{&Material::torsional_friction, 2, 3, kCondimTorsional},
    kRolling{&Material::rolling_friction, 3, 5, kCondimRolling};

/// What the pair's coefficient changes: `share` per unit of the column. Whether it is anything.
bool friction(const SolvedContact& at,
              const Coefficient& mu,
              int column,
              double share,
              const ChangeSink& out) {
  const Cone& K = at.description.set.friction;
  const bool sliding = mu.first == 0;
  if (sliding && K.mu[0] == 0.0 && at.contact.material.friction > 0.0) return false;  // not carried
  double dmu[kMaxConeDim] = {};
  for (int r = mu.first; r < std::min(mu.last, K.normal()); ++r) dmu[r] = 1.0;
  const ContactSolution& s = at.in.record.solution;
  const FrictionChange change = friction_change(
      at.in.record.problem, s.impulse, s.velocity, at.in.model, at.linear.active, at.set, dmu);
  bool any = false;
  for (int r = 0; r < K.dim; ++r) {
    out.impulse(column, at.row + r, change.impulse[r] * share);
    out.velocity(column, at.row + r, change.velocity[r] * share);
    any = any || change.impulse[r] != 0.0 || change.velocity[r] != 0.0;
  }
  return any;
}

/// The first couple brakes what turns freely: of a point that slides it is of second order in mu,
/// of one that nothing else moves of mu itself, by which way it turns.
bool turns_freely(const SolvedContact& at) {
  const ActiveSet& active = at.linear.active;
  if (active.on_path || active.modes[at.set] == ContactMode::kOpen) return false;
  return active.modes[at.set] == ContactMode::kStick ||
         at.description.set.friction.friction() == 0.0;
}

bool bounces(const SolvedContact& at) { return at.description.kind == ReferenceKind::kRestitution; }

/// Impacts without restitution: with the least of it c* jumps from what the gap asks for to 0.
bool only_lands(const SolvedContact& at) {
  const Material& pair = at.contact.material;
  return pair.restitution == 0.0 && std::isinf(pair.stiffness) &&
         at.linear.active.modes[at.set] != ContactMode::kOpen &&
         -at.description.velocity[at.normal()] >
             restitution_threshold(at.in.settings, at.in.parameters.gravity, at.in.dt);
}

void restitution(const SolvedContact& at, int column, double share, const ChangeSink& out) {
  if (!bounces(at)) return;
  const double e = at.contact.material.restitution;
  const double kept =
      e > 0.0 ? at.description.reference[at.normal()] / e : 0.0;  // what the law let stand
  out.velocity(column, at.row + at.normal(), -kept * share);
}

/// Stiffness k and damping d of the point, by the numbers of a row r of it with c* = k x / (k dt +
/// d), R = 1 / (dt (k dt + d)): d(R lambda - c*) along (dk, dd).
double spring(double dt, double k, double d, double x, double lambda, double dk, double dd) {
  const double total = k * dt + d, changed = dk * dt + dd;
  return -lambda * changed / (dt * total * total) -
         x * (dk / total - k * changed / (total * total));
}

/// Changes (normal stiffness, normal damping, tangential stiffness, tangential damping) of the
/// pair.
void springs(const SolvedContact& at, int column, const double change[4], const ChangeSink& out) {
  if (at.description.kind != ReferenceKind::kSpring) return;
  const double share = at.in.settings.per_point_stiffness ? 1.0 : 1.0 / at.contact.pair_points;
  const PointCompliance p = compliance_of(at.contact, at.in.settings);
  const double gap = at.contact.gap, dt = at.in.dt;
  const double d = gap > 0.0 ? 0.0 : p.damping, dd = gap > 0.0 ? 0.0 : share * change[1];
  out.velocity(column,
               at.row + at.normal(),
               spring(dt, p.stiffness, d, -gap, at.l[at.normal()], share * change[0], dd));
  const double R = at.description.compliance[0];
  if (R == 0.0) return;
  // e+ = (d e + lambda) / (k dt + d) in the tangent plane, and R dt = 1 / (k dt + d).
  const double k = p.tangential_stiffness, dk = share * change[2], dd_T = share * change[3];
  Vec3d extension{0, 0, 0};
  for (int r = 0; r < 2; ++r) {
    const double e = k > 0.0 ? at.description.reference[r] / (k * dt * R) : 0.0;
    const double next = (p.tangential_damping * e + at.l[r]) * R * dt;
    out.velocity(column, at.row + r, spring(dt, k, p.tangential_damping, e, at.l[r], dk, dd_T));
    extension[r] = (e * dd_T - next * (dk * dt + dd_T)) * R * dt;
  }
  const MovingSpring* kept = find_spring(out.springs, at.contact);
  if (kept != nullptr && kept->slip > 0.0)
    out.extension(column, *kept, transpose_times(kept->R, at.contact.frame * extension));
}

/// visit(contact, geometry, its material, that of the other) of contacts whose pair has none of its
/// own; both ways round.
template <class Visit>
void each_surface(const Input& in, const Linear& linear, const ChangeSink& out, Visit&& visit) {
  const auto& own = out.all.pairs;
  each_contact(in, linear, [&](const SolvedContact& at) {
    const int a = at.contact.geometry_a, b = at.contact.geometry_b;
    if (std::binary_search(own.begin(), own.end(), std::pair(a, b))) return;
    const Material &A = in.parameters.material[a], &B = in.parameters.material[b];
    visit(at, a, A, B);
    visit(at, b, B, A);
  });
}

/// visit(contact, geometry, its coefficient, that of the other or null if it does not count,
/// whether the pair's is their mean) of the same, where the coefficient counts.
template <class Visit>
void each_coefficient(const Input& in,
                      const Linear& linear,
                      const ChangeSink& out,
                      const Coefficient& mu,
                      Visit&& visit) {
  const std::vector<Geometry>& all = in.scene.geometries();
  each_surface(in,
               linear,
               out,
               [&](const SolvedContact& at, int g, const Material& own, const Material& other) {
                 const int a = at.contact.geometry_a, b = at.contact.geometry_b;
                 const PairFriction rule(all[a].friction_rule, all[b].friction_rule);
                 const bool a_counts = rule.condim_a >= mu.condim;
                 const bool b_counts = rule.condim_b >= mu.condim;
                 const bool other_counts = g == a ? b_counts : a_counts;
                 if (!(g == a ? a_counts : b_counts)) return;
                 visit(at, g, own.*mu.of, other_counts ? &(other.*mu.of) : nullptr, rule.mean);
               });
}

/// The larger coefficient counts; equal ones have half each.
void add_larger(const SolvedContact& at,
                const Coefficient& mu,
                int g,
                double own,
                const double* other,
                const ChangeSink& out) {
  if (other != nullptr && own < *other) return;
  const bool equal = other != nullptr && own == *other, couple = mu.first > 0;
  const bool changes = friction(at, mu, g, equal ? 0.5 : 1.0, out);
  const bool kink = couple && own == 0.0 ? turns_freely(at) : equal && changes;
  if (kink && (g == at.contact.geometry_a || other == nullptr)) out.count_kink();
}

void add_friction(const Input& in, const Linear& linear, const ChangeSink& out) {
  each_coefficient(in,
                   linear,
                   out,
                   kSliding,
                   [&](const SolvedContact& at, int g, double own, const double* other, bool mean) {
                     if (!mean) return add_larger(at, kSliding, g, own, other, out);
                     const double pair = at.contact.material.friction;
                     if (pair > 0.0) friction(at, kSliding, g, 0.5 * pair / own, out);
                     const bool slides = at.linear.active.modes[at.set] == ContactMode::kSlide;
                     if (slides && own == 0.0 && other != nullptr && *other > 0.0) out.count_kink();
                   });
}
template <const Coefficient& mu>
void add_couple(const Input& in, const Linear& linear, const ChangeSink& out) {
  each_coefficient(in,
                   linear,
                   out,
                   mu,
                   [&](const SolvedContact& at, int g, double own, const double* other, bool) {
                     add_larger(at, mu, g, own, other, out);
                   });
}
void add_restitution(const Input& in, const Linear& linear, const ChangeSink& out) {
  each_surface(in,
               linear,
               out,
               [&](const SolvedContact& at, int g, const Material& own, const Material& other) {
                 if (own.restitution < other.restitution) return;
                 const bool equal = own.restitution == other.restitution;
                 restitution(at, g, equal ? 0.5 : 1.0, out);
                 if (equal && g == at.contact.geometry_a && (bounces(at) || only_lands(at)))
                   out.count_kink();
               });
}
void add_stiffness(const Input& in, const Linear& linear, const ChangeSink& out) {
  each_surface(in,
               linear,
               out,
               [&](const SolvedContact& at, int g, const Material& own, const Material& other) {
                 const double r = own.tangential_stiffness_ratio,
                              s = other.tangential_stiffness_ratio;
                 const double change[4] = {by_first(own.stiffness, other.stiffness),
                                           0.0,
                                           r * by_first(r * own.stiffness, s * other.stiffness),
                                           0.0};
                 springs(at, g, change, out);
               });
}
void add_contact_damping(const Input& in, const Linear& linear, const ChangeSink& out) {
  each_surface(in,
               linear,
               out,
               [&](const SolvedContact& at, int g, const Material& own, const Material& other) {
                 if (std::isinf(own.stiffness)) return;
                 const bool alone = std::isinf(other.stiffness);
                 const double r = own.tangential_damping_ratio, s = other.tangential_damping_ratio;
                 const double change[4] = {
                     0.0,
                     alone ? 1.0 : by_first(own.damping, other.damping),
                     0.0,
                     alone ? r : r * by_first(r * own.damping, s * other.damping)};
                 springs(at, g, change, out);
               });
}

/// visit(contact, number of the pair) of contacts whose pair has a material of its own.
template <class Visit>
void each_pair(const Input& in, const Linear& linear, const ChangeSink& out, Visit&& visit) {
  const auto& own = out.all.pairs;
  each_contact(in, linear, [&](const SolvedContact& at) {
    const std::pair<int, int> pair(at.contact.geometry_a, at.contact.geometry_b);
    const auto it = std::lower_bound(own.begin(), own.end(), pair);
    if (it != own.end() && *it == pair) visit(at, static_cast<int>(it - own.begin()));
  });
}

void add_pair_friction(const Input& in, const Linear& linear, const ChangeSink& out) {
  each_pair(in, linear, out, [&](const SolvedContact& at, int pair) {
    friction(at, kSliding, pair, 1.0, out);
  });
}
template <const Coefficient& mu>
void add_pair_couple(const Input& in, const Linear& linear, const ChangeSink& out) {
  each_pair(in, linear, out, [&](const SolvedContact& at, int pair) {
    friction(at, mu, pair, 1.0, out);
    if (at.contact.material.*mu.of == 0.0 && turns_freely(at)) out.count_kink();
  });
}
void add_pair_restitution(const Input& in, const Linear& linear, const ChangeSink& out) {
  each_pair(in, linear, out, [&](const SolvedContact& at, int pair) {
    restitution(at, pair, 1.0, out);
    if (only_lands(at)) out.count_kink();
  });
}
void add_pair_stiffness(const Input& in, const Linear& linear, const ChangeSink& out) {
  each_pair(in, linear, out, [&](const SolvedContact& at, int pair) {
    const double change[4] = {1.0, 0.0, at.contact.material.tangential_stiffness_ratio, 0.0};
    springs(at, pair, change, out);
  });
}
void add_pair_damping(const Input& in, const Linear& linear, const ChangeSink& out) {
  each_pair(in, linear, out, [&](const SolvedContact& at, int pair) {
    const double change[4] = {0.0, 1.0, 0.0, at.contact.material.tangential_damping_ratio};
    springs(at, pair, change, out);
  });
}

}  // namespace

const std::vector<ParameterField>& contact_fields() {
  static const std::vector<ParameterField> fields = {
      {"friction", geometries, add_friction},
      {"torsional_friction", geometries, add_couple<kTorsional>},
      {"rolling_friction", geometries, add_couple<kRolling>},
      {"restitution", geometries, add_restitution},
      {"stiffness", geometries, add_stiffness},
      {"contact_damping", geometries, add_contact_damping},
      {"pair_friction", pairs, add_pair_friction},
      {"pair_torsional_friction", pairs, add_pair_couple<kTorsional>},
      {"pair_rolling_friction", pairs, add_pair_couple<kRolling>},
      {"pair_restitution", pairs, add_pair_restitution},
      {"pair_stiffness", pairs, add_pair_stiffness},
      {"pair_contact_damping", pairs, add_pair_damping},
  };
  return fields;
}

}  // namespace stiction
