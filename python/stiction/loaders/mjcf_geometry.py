"""Geometries of a compiled MuJoCo model: shapes, materials, and which pairs may collide.

Pairs are MuJoCo's to the letter: contype and conaffinity, the filter of parents and children,
excludes, and the pairs of <contact>. What can collide with nothing, of this file or another, is
left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _stiction
from .._stiction import Material, Scene, Shape
from .mjcf_softness import ContactSoftness, mixed_softness, pair_softness, softness_of_pair
from .mjcf_source import Source, pose
from .mjcf_trees import Place

__all__ = ["add_geometries", "colliding_pairs", "shape_of"]

Bools = NDArray[np.bool_]
PLANE, FIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH = range(8)
"""mjtGeom."""
OF_PAIRS = (
    "friction",
    "torsional_friction",
    "rolling_friction",
    "rest_offset",
    "stiffness",
    "damping",
)
"""What a file says of pairs."""
ALL = 6
"""Condim with which every coefficient counts: of a geom alone, whose condim is the scene's."""
NAMES = ("plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf")


@dataclass(frozen=True)
class _Contact:
    """Of a geom or a pair: condim, friction (sliding, torsional [m], rolling [m]), the distance at
    which it rests [m], stiffness [N/m] and damping [N s/m]."""

    condim: int
    friction: tuple[float, float, float]
    margin: float
    stiffness: float = np.inf
    damping: float = 0.0

    def material(self, margins: bool) -> Material:
        """Friction as far as condim lets it act; MuJoCo's coefficients are ours."""
        sliding, torsional, rolling = self.friction
        return Material(
            stiffness=self.stiffness,
            damping=self.damping,
            friction=sliding if self.condim >= 3 else 0.0,
            torsional_friction=torsional if self.condim >= 4 else 0.0,
            rolling_friction=rolling if self.condim >= 6 else 0.0,
            rest_offset=self.margin if margins else 0.0,
        )


def add_geometries(
    source: Source,
    scene: Scene,
    places: list[Place],
    margins: bool = True,
    soft: bool = False,
    ground: bool = True,
) -> dict[int, int]:
    """Adds the geoms that may collide with anything; the scene's geometry of each.

    margins: bodies rest at the margins of their geoms; soft: pairs give way as MuJoCo's; ground:
    False: without planes and height fields of the world.
    """
    pairs = colliding_pairs(source)
    if not ground:
        flat = _ground(source)
        pairs[flat, :] = pairs[:, flat] = False
    touches: Bools = pairs.any(axis=0) | _meets_others(source, ground)
    if source.disabled("contact") or source.disabled("constraint"):
        pairs[:] = touches[:] = False
    if not margins:
        _say_of_margins(source, touches)
    added: dict[int, int] = {}
    for g in np.flatnonzero(touches):
        shape = _shape_or_message(source, int(g))
        if shape is not None:
            added[int(g)] = _add(source, scene, places, int(g), shape, margins)
    _set_pairs(source, scene, pairs, added, margins, soft)
    _say_of_geoms(source, pairs, added)
    return added


def _add(
    source: Source, scene: Scene, places: list[Place], g: int, shape: Shape, margins: bool
) -> int:
    m = source.model
    place = places[m.geom_bodyid[g]]
    X = place.X * pose(m.geom_pos[g], m.geom_quat[g])
    condim, priority = int(m.geom_condim[g]), int(m.geom_priority[g])
    own = _Contact(ALL, _friction(m.geom_friction[g]), _positive(m.geom_margin[g]))
    material = own.material(margins)
    added = scene.add_geometry(source.name("geom", g), place.body, shape, X, material)
    scene.set_collision_filter(added, int(m.geom_contype[g]), int(m.geom_conaffinity[g]))
    scene.set_friction_rule(added, "larger", condim, priority)
    scene.parameters.surface_velocity[added] = m.geom_surfacevel[g]
    return added


def _meets_others(source: Source, ground: bool) -> Bools:
    """(ngeom,) those that what is added later may meet."""
    m = source.model
    found: Bools = (np.array(m.geom_contype) | np.array(m.geom_conaffinity)) != 0
    return found if ground else found & ~_ground(source)


def _ground(source: Source) -> Bools:
    """(ngeom,) planes and height fields that stand in the world, on no mocap body."""
    m = source.model
    body = np.array(m.geom_bodyid)
    still: Bools = (np.array(m.body_weldid)[body] == 0) & (np.array(m.body_mocapid)[body] < 0)
    return still & np.isin(np.array(m.geom_type), (PLANE, FIELD))


# --- shapes -------------------------------------------------------------------------------------


def _shape_or_message(source: Source, g: int) -> Shape | None:
    try:
        return shape_of(source, g)
    except ValueError as error:
        source.unused("geom", g, f"cannot collide: {error}")
        return None


def shape_of(source: Source, g: int) -> Shape:
    """The shape of a geom, in its own frame.

    Raises ValueError: stiction has no such shape.
    """
    m, kind = source.model, int(source.model.geom_type[g])
    size = [float(x) for x in m.geom_size[g]]
    if kind == PLANE:
        return _stiction.HalfSpace()
    if kind == SPHERE:
        return _stiction.Sphere(size[0])
    if kind == CAPSULE:
        return _stiction.Capsule(size[0], size[1])
    if kind == CYLINDER:
        return _stiction.Cylinder(size[0], size[1])
    if kind == ELLIPSOID:
        return _stiction.Ellipsoid(size)
    if kind == BOX:
        return _stiction.Box(size)
    if kind == MESH:
        return _stiction.ConvexMesh(_hull_points(m, int(m.geom_dataid[g])))
    if kind == FIELD:
        return _height_field(m, int(m.geom_dataid[g]))
    raise ValueError(f"a geom of type {NAMES[min(kind, 8)]} is not supported")


def _hull_points(m: Any, mesh: int) -> NDArray[np.float64]:
    """(n, 3) vertices of the mesh's convex hull if MuJoCo kept it, else all [m]."""
    first, count = int(m.mesh_vertadr[mesh]), int(m.mesh_vertnum[mesh])
    vertices = np.array(m.mesh_vert[first : first + count], dtype=np.float64)
    at = int(m.mesh_graphadr[mesh])
    if at < 0:
        return vertices
    # mesh_graph: numbers of vertices and faces, then two lists by vertex, the second its number.
    number = int(m.mesh_graph[at])
    hull: NDArray[np.float64] = vertices[m.mesh_graph[at + 2 + number : at + 2 + 2 * number]]
    return hull


def _height_field(m: Any, field: int) -> Shape:
    rows, columns = int(m.hfield_nrow[field]), int(m.hfield_ncol[field])
    at = int(m.hfield_adr[field])
    half_x, half_y, top, base = (float(x) for x in m.hfield_size[field])
    heights = top * np.array(m.hfield_data[at : at + rows * columns], dtype=np.float64)
    cells = [2 * half_x / (columns - 1), 2 * half_y / (rows - 1)]
    depth = base + float(heights.min())
    return _stiction.HeightField(heights.reshape(rows, columns), cells, depth)


# --- pairs --------------------------------------------------------------------------------------


def colliding_pairs(source: Source) -> Bools:
    """(ngeom, ngeom) symmetric: which pairs MuJoCo tests."""
    m = source.model
    body = np.array(m.geom_bodyid)
    weld = np.array(m.body_weldid)[body]
    fixed = np.array(m.body_dofnum)[weld] == 0
    parent = np.array(m.body_weldid)[np.array(m.body_parentid)[weld]]
    types, affinity = np.array(m.geom_contype), np.array(m.geom_conaffinity)
    touching = (types[:, None] & affinity[None, :]) | (affinity[:, None] & types[None, :])
    pairs: Bools = (touching != 0) & ~(fixed[:, None] & fixed[None, :])
    if not source.disabled("filterparent"):
        moves = weld != 0
        related = (weld[:, None] == parent[None, :]) | (weld[None, :] == parent[:, None])
        pairs &= ~(related & moves[:, None] & moves[None, :])
    for signature in m.exclude_signature:
        one, two = body == int(signature) >> 16, body == int(signature) & 0xFFFF
        pairs &= ~(one[:, None] & two[None, :]) & ~(two[:, None] & one[None, :])
    one, two = np.array(m.pair_geom1, dtype=int), np.array(m.pair_geom2, dtype=int)
    pairs[one, two] = pairs[two, one] = True
    pairs &= weld[:, None] != weld[None, :]
    flat = np.isin(np.array(m.geom_type), (PLANE, FIELD))
    return pairs & ~(flat[:, None] & flat[None, :])


def _set_pairs(
    source: Source,
    scene: Scene,
    pairs: Bools,
    added: dict[int, int],
    margins: bool,
    soft: bool,
) -> None:
    """Filters and materials of the scene's pairs; ascending, which keeps its tables quick."""
    wanted = _pairs_of_bodies(scene, added)
    allowed = [(a, b) for a, b in wanted if pairs[a, b]]
    for a, b in wanted:
        if not pairs[a, b] and scene.pair_enabled(added[a], added[b]):
            scene.disable_pair(added[a], added[b])
    for a, b in allowed:
        if not scene.pair_enabled(added[a], added[b]):  # of parent and child, or one of <contact>
            scene.enable_pair(added[a], added[b])
    explicit, mixed = _explicit_pairs(source), _Mixed(source.model)
    alike: set[tuple[int, int]] = set()  # classes whose pairs the scene mixes as MuJoCo does
    for a, b in allowed:
        key = mixed.classes(a, b)
        if key in alike and (a, b) not in explicit:
            continue
        contact, k = explicit.get((a, b), (None, -1))
        if contact is None:
            contact = mixed(a, b)
        if soft:
            contact = _softened(source, a, b, contact, k)
        own = contact.material(margins)
        rule = scene.pair_material(added[a], added[b])
        if any(_differ(getattr(own, name), getattr(rule, name)) for name in OF_PAIRS):
            scene.set_pair_material(added[a], added[b], own)
        elif not soft and (a, b) not in explicit:
            alike.add(key)


def _pairs_of_bodies(scene: Scene, added: dict[int, int]) -> list[tuple[int, int]]:
    """All pairs of geoms whose bodies in the scene differ; those of one body never meet."""
    geoms, geometries = np.array(list(added), dtype=int), scene.geometries
    body = np.array([geometries[g].body for g in added.values()])
    found = []
    for i, a in enumerate(geoms):
        others = geoms[i + 1 :][body[i + 1 :] != body[i]]
        found += [(int(a), int(b)) for b in others]
    return found


def _differ(a: float, b: float) -> bool:
    """Of numbers that may both be infinite."""
    return a != b and not abs(a - b) <= 1e-12


def _softened(source: Source, a: int, b: int, contact: _Contact, k: int) -> _Contact:
    """k: the number of the pair in <contact>, -1: it is none of those."""
    m = source.model
    soft: ContactSoftness = softness_of_pair(m, k) if k >= 0 else mixed_softness(m, a, b)
    stiffness, damping = pair_softness(source, a, b, soft, contact.condim, contact.friction[0])
    return replace(contact, stiffness=stiffness, damping=damping)


def _explicit_pairs(source: Source) -> dict[tuple[int, int], tuple[_Contact, int]]:
    """Those of <contact> by geoms, with their numbers."""
    m = source.model
    found = {}
    for k in range(int(m.npair)):
        a, b = sorted((int(m.pair_geom1[k]), int(m.pair_geom2[k])))
        x, y, torsional, *rolling = (float(x) for x in m.pair_friction[k])
        condim = int(m.pair_dim[k])
        if x != y or (condim == 6 and rolling[0] != rolling[1]):
            source.unused("pair", k, "friction that differs by direction: the first is taken")
        friction = (x, torsional, rolling[0])
        found[a, b] = _Contact(condim, friction, _positive(m.pair_margin[k])), k
    return found


class _Mixed:
    """_mixed() of geoms, once for all that say the same of contact."""

    def __init__(self, m: Any) -> None:
        columns = (m.geom_priority, m.geom_condim, m.geom_friction, m.geom_margin)
        rows = (
            np.hstack([np.array(c, dtype=np.float64).reshape(len(c), -1) for c in columns])
            if int(m.ngeom)
            else np.zeros((0, 1))
        )
        self._m, self._class = m, np.unique(rows, axis=0, return_inverse=True)[1].ravel().tolist()
        self._known: dict[tuple[int, int], _Contact] = {}

    def classes(self, a: int, b: int) -> tuple[int, int]:
        """Of two geoms."""
        return self._class[a], self._class[b]

    def __call__(self, a: int, b: int) -> _Contact:
        key = self.classes(a, b)
        if key not in self._known:
            self._known[key] = _mixed(self._m, a, b)
        return self._known[key]


def _mixed(m: Any, a: int, b: int) -> _Contact:
    """MuJoCo's rule: the geom of higher priority, else the larger of each; margins add."""
    first, second = int(m.geom_priority[a]), int(m.geom_priority[b])
    if first != second:
        g = a if first > second else b
        condim, friction = int(m.geom_condim[g]), _friction(m.geom_friction[g])
    else:
        condim = int(max(m.geom_condim[a], m.geom_condim[b]))
        friction = _friction(np.maximum(m.geom_friction[a], m.geom_friction[b]))
    margin = _positive(m.geom_margin[a]) + _positive(m.geom_margin[b])
    return _Contact(condim, friction, margin)


def _friction(row: Any) -> tuple[float, float, float]:
    return float(row[0]), float(row[1]), float(row[2])


def _positive(margin: Any) -> float:
    return max(float(margin), 0.0)


def _say_of_margins(source: Source, touches: Bools) -> None:
    m = source.model
    source.unused_of(
        "geom",
        np.flatnonzero(touches & (np.array(m.geom_margin) > 0)),
        "margin is not honoured, as asked: bodies rest on its surface, in MuJoCo at the margin",
    )
    source.unused_of(
        "pair",
        np.flatnonzero(np.array(m.pair_margin) > 0),
        "margin is not honoured, as asked: they rest on their surfaces, in MuJoCo at the margin",
    )


def _say_of_geoms(source: Source, pairs: Bools, added: dict[int, int]) -> None:
    m, geoms = source.model, np.array(sorted(added), dtype=int)
    if not len(geoms):
        return
    source.unused_of(
        "geom",
        geoms[np.array(m.geom_margin)[geoms] < 0],
        "a negative margin is not honoured: bodies rest on its surface",
    )
    source.unused_of(
        "geom", geoms[np.array(m.geom_adhesion)[geoms] != 0], "adhesion is not honoured"
    )
    indices = np.arange(int(m.npair))
    source.unused_of(
        "pair", indices[np.array(m.pair_margin) < 0], "negative margin is not honoured"
    )
    source.unused_of("pair", indices[np.array(m.pair_adhesion) != 0], "adhesion is not honoured")
