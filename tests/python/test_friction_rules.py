"""How coefficients of friction of two geometries meet: MuJoCo's rule in and between MJCF files, the
scene's between others, and what the step and its derivatives make of them."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import mujoco
import numpy as np
import pytest
import stiction

pytestmark = pytest.mark.filterwarnings("ignore::stiction.LoadWarning")

GRAVITY, DT = 9.81, 1e-3
BALLS = 6
BALL = """<body name="b{k}" pos="{x} 0 0"><freejoint/><geom name="g{k}" size=".3" condim="{condim}"
  priority="{priority}" friction="{friction}"/></body>"""
Coefficients = tuple[float, float, float]


def balls(rng: np.random.Generator) -> str:
    """A file of balls that all touch each other, with every condim and three priorities."""
    bodies = [
        BALL.format(
            k=k,
            x=0.01 * k,
            condim=rng.choice([1, 3, 4, 6]),
            priority=rng.choice([-1, 0, 0, 0, 2]),
            friction=" ".join(map(str, rng.uniform([0.1, 0.001, 1e-4], [1.5, 0.1, 1e-2]))),
        )
        for k in range(BALLS)
    ]
    return f"<mujoco><worldbody>{''.join(bodies)}</worldbody></mujoco>"


def coefficients(material: stiction.Material) -> Coefficients:
    return material.friction, material.torsional_friction, material.rolling_friction


@pytest.mark.parametrize("seed", range(5))
def test_pairs_in_and_between_two_files_are_mujocos(seed: int, tmp_path: Path) -> None:
    """All coefficients of every pair of two files, attached to each other by MuJoCo; none of them
    needs a material of its own, so that friction of geoms remains a parameter."""
    rng = np.random.default_rng(seed)
    one, two = balls(rng), balls(rng)
    spec = mujoco.MjSpec.from_string(one)
    spec.attach(mujoco.MjSpec.from_string(two), prefix="o/", frame=spec.worldbody.add_frame())
    m = spec.compile()
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    scene = stiction.Scene(name="both")
    stiction.load_mjcf(one).add_to(scene)
    stiction.load_mjcf(two).add_to(scene, prefix="o/")
    scene.save(tmp_path / "both.stiction")
    saved = stiction.load(tmp_path / "both.stiction")
    assert not scene.material_pairs
    seen, across = set(), 0
    for contact in d.contact:
        names = [m.geom(int(g)).name for g in contact.geom]
        sliding, _, torsional, rolling, _ = contact.friction
        wanted = [
            x if contact.dim >= least else 0.0
            for x, least in ((sliding, 3), (torsional, 4), (rolling, 6))
        ]
        for found in (scene, saved):
            material = found.pair_material(*names)
            np.testing.assert_allclose(coefficients(material), wanted, rtol=1e-12)
        seen.add(frozenset(names))
        across += names[0].startswith("o/") != names[1].startswith("o/")
    assert len(seen) == math.comb(2 * BALLS, 2) and across >= BALLS**2


def test_two_files_stick_where_mujocos_do() -> None:
    """A cube of one file on the slope of another: 30 degrees hold by the larger friction, 0.9, not
    by the mean, 0.42."""
    slope = """<mujoco><worldbody><geom name="slope" type="box" size="2 2 .1" euler="0 30 0"
      friction=".9"/></worldbody></mujoco>"""
    cube = """<mujoco><worldbody><body name="cube" euler="0 30 0" pos="{} 0 {}"><freejoint/>
      <geom name="cube" type="box" size=".1 .1 .1" friction=".2"/></body></worldbody></mujoco>"""
    up = 0.2 / math.cos(math.pi / 6)
    scene = stiction.Scene(name="hill")
    stiction.load_mjcf(slope).add_to(scene)
    stiction.load_mjcf(cube.format(0.0, up)).add_to(scene)
    sim = stiction.Simulator(scene, dt=DT)
    state = sim.initial_state()
    sim.run(state, steps=500)
    assert np.linalg.norm(state.v) < 1e-6
    scene.set_friction_rule("slope", "mean")
    assert scene.pair_material("slope", "cube").friction == pytest.approx(math.sqrt(0.18))
    slope_now = scene.geometries[scene.geometry("slope")]  # None keeps what it had
    assert (slope_now.condim, slope_now.priority) == (3, 0)
    sim = stiction.Simulator(scene, dt=DT)
    state = sim.initial_state()
    sim.run(state, steps=500)
    slides = GRAVITY * (0.5 - math.sqrt(0.18) * math.cos(math.pi / 6)) * 0.5
    assert np.linalg.norm(state.v[:3]) == pytest.approx(slides, rel=0.02)


MU, OTHER = 0.4, 0.9
CUBE = """<mujoco><worldbody><body name="cube" pos="0 0 .1"><freejoint/><geom name="cube" type="box"
  size=".1 .1 .1" mass="1" friction=".4 .02 .003" {}/></body></worldbody></mujoco>"""


def meeting(of_cube: str, ground: stiction.Material) -> tuple[stiction.Scene, Coefficients]:
    """A cube of an MJCF file on a ground that is of none."""
    scene = stiction.Scene(name="yard")
    scene.add_ground(ground)
    stiction.load_mjcf(CUBE.format(of_cube)).add_to(scene)
    return scene, coefficients(scene.pair_material("ground", "cube"))


def test_with_what_is_of_no_file_the_scenes_rule_holds() -> None:
    """The mean with the cube's condim, unless priorities differ; equal ones of both kinds."""
    ground = stiction.Material(friction=OTHER, torsional_friction=0.01)
    mean = math.sqrt(MU * OTHER)
    for of_cube, wanted in (
        ("", (mean, 0.01, 0.0)),
        ('condim="1"', (0.0, 0.01, 0.0)),
        ('condim="4"', (mean, 0.02, 0.0)),
        ('condim="6"', (mean, 0.02, 0.003)),
        ('priority="1"', (MU, 0.0, 0.0)),
        ('priority="1" condim="6"', (MU, 0.02, 0.003)),
        ('priority="1" condim="1"', (0.0, 0.0, 0.0)),
        ('priority="-1"', (OTHER, 0.01, 0.0)),
    ):
        scene, found = meeting(of_cube, ground)
        assert found == pytest.approx(wanted), of_cube
    scene.set_friction_rule("ground", "larger", condim=3, priority=-1)
    assert coefficients(scene.pair_material("ground", "cube")) == pytest.approx((OTHER, 0.0, 0.0))
    rule = scene.geometries[0]
    assert (rule.friction_rule, rule.condim, rule.priority) == ("larger", 3, -1)


def test_links_of_a_urdf_keep_the_mean_with_a_files_geom() -> None:
    robot = stiction.load_urdf_string(
        """<robot name="r"><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1"
        izz="1" ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry><sphere radius="0.1"/>
        </geometry></collision></link></robot>""",
        material=stiction.Material(friction=OTHER),
    )
    scene = stiction.Scene(name="yard")
    scene.add_robot(robot)
    stiction.load_mjcf(CUBE.format("")).add_to(scene)
    assert scene.pair_material(0, 1).friction == pytest.approx(math.sqrt(MU * OTHER))


def braked(
    rules: tuple[tuple[str, int, int], ...], mu: tuple[float, float]
) -> tuple[np.ndarray, stiction.GradientReport, float]:
    """d(speed)/d(friction) of ground and cube, of a step in which it slides; and what it lost."""
    scene, _ = meeting("", stiction.Material(friction=mu[0]))
    for name, rule in zip(("ground", "cube"), rules, strict=True):
        scene.set_friction_rule(name, *rule)
    scene.parameters.friction[:] = mu
    sim = stiction.Simulator(scene, dt=DT, tolerance=1e-12)
    state = sim.initial_state()
    sim.run(state, steps=20)
    state.v = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    before = state.copy()
    d = sim.step_derivatives(state, wrt="friction")
    sim.step(before)
    return d.by("friction")[6] / (-GRAVITY * DT), d.report, (1.0 - before.v[0]) / (GRAVITY * DT)


LARGER, MEAN = ("larger", 3, 0), ("mean", 6, 0)


@pytest.mark.parametrize(
    ("rules", "mu", "wanted", "friction", "kinks"),
    [
        ((LARGER, LARGER), (0.3, 0.5), (0.0, 1.0), 0.5, 0),
        ((LARGER, LARGER), (0.5, 0.5), (0.5, 0.5), 0.5, 4),
        ((LARGER, MEAN), (0.2, 0.8), (1.0, 0.25), 0.4, 0),
        ((("larger", 3, 1), LARGER), (0.3, 0.5), (1.0, 0.0), 0.3, 0),
        ((("mean", 3, 1), MEAN), (0.3, 0.5), (1.0, 0.0), 0.3, 0),
        ((("larger", 1, 0), LARGER), (0.5, 0.3), (1.0, 0.0), 0.5, 0),
        ((("larger", 1, 0), MEAN), (0.5, 0.3), (0.0, 0.0), 0.0, 0),
        ((("larger", 1, 1), LARGER), (0.5, 0.3), (0.0, 0.0), 0.0, 0),
    ],
)
def test_a_sliding_cube_and_its_derivatives(
    rules: tuple[tuple[str, int, int], ...],
    mu: tuple[float, float],
    wanted: tuple[float, float],
    friction: float,
    kinks: int,
) -> None:
    """It loses mu g dt; by the rule that is of one coefficient, of both, or of none. Where two
    equal ones each have half, each of its four points is a kink."""
    found, report, lost = braked(rules, mu)
    assert lost == pytest.approx(friction, abs=1e-6)
    np.testing.assert_allclose(found, wanted, atol=1e-6)
    assert report.num_parameter_kinks == kinks


def test_friction_of_a_files_geoms_is_a_parameter() -> None:
    """Of each world of a batch, as it is of scenes of other origin."""
    text = CUBE.format("").replace("<worldbody>", '<worldbody><geom type="plane" size="1 1 1"/>')
    scene = stiction.load_mjcf(text).scene
    batch = stiction.Batch(scene, 2, dt=DT)
    batch.assign("friction", np.array([[0.1, 0.2], [0.6, 0.3]]))
    batch.v[:, 0] = 1.0
    batch.step(substeps=100)
    np.testing.assert_allclose(batch.v[:, 0], 1.0 - 0.1 * GRAVITY * np.array([0.2, 0.6]), atol=1e-3)


def test_wrong_rules_are_named() -> None:
    scene, _ = meeting("", stiction.Material())
    for arguments, text in itertools.chain(
        [(("cube", "least"), 'rule = "least": must be "mean" or "larger"')],
        [(("cube", "mean", c), rf"\(cube\).condim = {c}: must be 1, 3, 4 or 6") for c in (0, 2, 7)],
        [(("sphere", "mean"), 'no geometry "sphere"')],
    ):
        with pytest.raises(ValueError, match=text):
            scene.set_friction_rule(*arguments)
    with pytest.raises(TypeError, match="condim: must be an integer"):
        scene.set_friction_rule("cube", "mean", 3.5)
    with pytest.raises(ValueError, match=r"priority = -1000000000000000000000: must be in \["):
        scene.set_friction_rule("cube", "mean", priority=-(10**21))
