#include "stiction/model/state_io.hpp"

#include "model/byte_stream.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace stiction {
namespace {

constexpr char kMagic[] = "STICSTAT";
constexpr std::size_t kMagicSize = sizeof(kMagic) - 1;
/// The second where contacts carry couples of friction, the third where springs of theirs have
/// turned: what has none is saved as it ever was.
constexpr std::uint32_t kVersion = 5, kWithCouples = 6, kWithTurns = 7;
constexpr std::size_t kHeaderSize = kMagicSize + sizeof(kVersion);

[[noreturn]] void fail(const std::string& what) {
  throw std::invalid_argument("saved state: " + what);
}

// One list of members for both directions.
template <class Archive, class Cache>
void each_number(Archive&& visit, Cache& c) {
  visit(c.count);
  visit(c.direction);
  for (int k = 0; k < 4; ++k) visit(c.index_a[k]);
  for (int k = 0; k < 4; ++k) visit(c.index_b[k]);
  visit(c.reference);
  visit(c.polytope.vertices);
  visit(c.polytope.faces);
}

/// Only what is used of the polytope is stored.
template <class Archive, class Cache>
void each_polytope_number(Archive&& visit, Cache& c) {
  for (int k = 0; k < c.polytope.vertices; ++k) {
    visit(c.polytope.index_a[k]);
    visit(c.polytope.index_b[k]);
  }
  for (int f = 0; f < c.polytope.faces; ++f) {
    for (int k = 0; k < 3; ++k) visit(c.polytope.face[f][k]);
  }
}

bool sizes_fit(const PolytopeCache& p) {
  return p.vertices >= 0 && p.vertices <= PolytopeCache::kMaxVertices && p.faces >= 0 &&
         p.faces <= PolytopeCache::kMaxFaces;
}

void get_caches(ByteReader& in, std::uint32_t version, State& state) {
  state.rest.resize(in.count(sizeof(double)));
  for (TreeRest& r : state.rest) {
    in.get(r.time);
    in.get(r.island);
    in.get(r.mark);
  }
  state.contacts.resize(in.count(sizeof(std::uint64_t)));
  for (ContactMemory& c : state.contacts) {
    in.get(c.pair);
    in.get(c.feature);
    in.get(c.impulse_A);
    in.get(c.extension);
    if (version >= kWithCouples) in.get(c.moment_A);
    if (version >= kWithTurns) in.get(c.turn);
  }
  state.queries.resize(in.count(sizeof(std::uint64_t)));
  for (CachedQuery& q : state.queries) {
    in.get(q.pair);
    each_number([&](auto& x) { in.get(x); }, q.cache);
    if (!sizes_fit(q.cache.polytope)) fail("has a warm start of impossible size");
    each_polytope_number([&](auto& x) { in.get(x); }, q.cache);
  }
}

/// Vertex numbers of a core: see core_support(). Smooth shapes have none.
int highest_number(const Shape& s) {
  switch (s.type) {
    case ShapeType::kConvexMesh:
      return static_cast<int>(s.mesh->vertices.size()) - 1;
    case ShapeType::kBox:
      return 7;
    case ShapeType::kCapsule:
      return 1;
    case ShapeType::kSphere:
      return 0;
    default:
      return -1;
  }
}

template <class Integer>
bool numbers_fit(int highest, const Integer* index, int count, bool smooth_allowed) {
  for (int k = 0; k < count; ++k) {
    if (smooth_allowed && index[k] == -1) continue;
    if (index[k] < 0 || index[k] > highest) return false;
  }
  return true;
}

bool polytope_fits(const PolytopeCache& p, int highest_a, int highest_b) {
  if (!sizes_fit(p)) return false;
  for (int f = 0; f < p.faces; ++f) {
    for (const int v : p.face[f]) {
      if (v >= p.vertices) return false;
    }
  }
  return numbers_fit(highest_a, p.index_a, p.vertices, false) &&
         numbers_fit(highest_b, p.index_b, p.vertices, false);
}

}  // namespace

std::string save_state(const State& state) {
  std::uint32_t version = kVersion;
  for (const ContactMemory& c : state.contacts) {
    if (norm(c.moment_A) != 0.0) version = std::max(version, kWithCouples);
    if (norm(c.turn) != 0.0) version = kWithTurns;
  }
  ByteWriter w;
  w.out.assign(kMagic, kMagicSize);
  w.put(version);
  w.put(state.time);
  w.put(state.scene);
  w.put_list(state.q);
  w.put_list(state.v);
  w.put_list(state.constraint_impulse);
  w.put(state.penalty);
  w.put_count(state.rest.size());
  for (const TreeRest& r : state.rest) {
    w.put(r.time);
    w.put(r.island);
    w.put(r.mark);
  }
  w.put_count(state.contacts.size());
  for (const ContactMemory& c : state.contacts) {
    w.put(c.pair);
    w.put(c.feature);
    w.put(c.impulse_A);
    w.put(c.extension);
    if (version >= kWithCouples) w.put(c.moment_A);
    if (version >= kWithTurns) w.put(c.turn);
  }
  w.put_count(state.queries.size());
  for (const CachedQuery& q : state.queries) {
    w.put(q.pair);
    each_number([&](const auto& x) { w.put(x); }, q.cache);
    each_polytope_number([&](const auto& x) { w.put(x); }, q.cache);
  }
  w.put(checksum(w.out.data(), w.out.size()));
  return std::move(w.out);
}

State restore_state(const std::string& bytes) {
  if (bytes.compare(0, kMagicSize, kMagic) != 0) fail("does not begin with \"STICSTAT\"");
  if (bytes.size() < kHeaderSize + sizeof(std::uint64_t)) fail("truncated");
  std::uint32_t version = 0;
  std::memcpy(&version, bytes.data() + kMagicSize, sizeof(version));
  if (version < kVersion || version > kWithTurns) {
    fail("has version " + std::to_string(version) + ", this library reads versions " +
         std::to_string(kVersion) + " to " + std::to_string(kWithTurns));
  }
  const std::size_t size = bytes.size() - sizeof(std::uint64_t);
  std::uint64_t sum = 0;
  std::memcpy(&sum, bytes.data() + size, sizeof(sum));
  if (sum != checksum(bytes.data(), size))
    fail("damaged or truncated: its checksum does not match");

  State state;
  ByteReader in(bytes.data() + kHeaderSize, size - kHeaderSize, "saved state");
  in.get(state.time);
  in.get(state.scene);
  in.get_list(state.q);
  in.get_list(state.v);
  in.get_list(state.constraint_impulse);
  in.get(state.penalty);
  get_caches(in, version, state);
  if (!in.finished()) fail("has bytes left over");
  return state;
}

bool cache_fits(const Shape& a, const Shape& b, const DistanceCache& cache) {
  if (cache.count < 0 || cache.count > 4) return false;
  // The narrow phase orders a pair by type; against a half-space the other shape comes first.
  const Shape *first = &a, *second = &b;
  if (a.type > b.type) std::swap(first, second);
  if (first->type == ShapeType::kHalfSpace) std::swap(first, second);
  const int highest_a = highest_number(*first), highest_b = highest_number(*second);
  return numbers_fit(highest_a, cache.index_a, cache.count, true) &&
         numbers_fit(highest_b, cache.index_b, cache.count, true) &&
         polytope_fits(cache.polytope, highest_a, highest_b);
}

void validate_whole_state(const Scene& scene, const State& state) {
  validate_state(scene, state);
  const std::vector<Geometry>& geometries = scene.geometries();
  for (const CachedQuery& q : state.queries) {
    const std::uint64_t a = q.pair >> 32, b = q.pair & 0xffffffffu;
    if (a < geometries.size() && b < geometries.size() &&
        cache_fits(geometries[a].shape, geometries[b].shape, q.cache)) {
      continue;
    }
    throw std::invalid_argument("state.queries: a warm start of geometries " + std::to_string(a) +
                                " and " + std::to_string(b) +
                                " does not fit the scene: the state belongs to another scene");
  }
}

}  // namespace stiction
