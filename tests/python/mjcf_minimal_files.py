"""A small MJCF file for each attribute that is not honoured, by element and attribute: what is at
fault stands alone on its line, after MARK."""

from __future__ import annotations

__all__ = ["FILES", "MARK", "NO_FILE"]

MARK = "<!-- here -->"
HINGE = '<joint name="j" axis="0 1 0"/>'


def body(inside: str = HINGE, geom: str = '<geom size=".1" mass="1"/>') -> str:
    """With a site at its end."""
    return f'<body name="b">{inside}{geom}<site name="s" pos=".1 0 0"/></body>'


def world(text: str, rest: str = "", before: str = "") -> str:
    """A floor, a site of the world, and what is given."""
    return (
        f'<mujoco>{before}<worldbody><geom name="floor" type="plane" size="1 1 1" pos="0 0 -1"/>'
        f'<site name="w" pos="0 0 1"/><camera name="c" resolution="2 2"/>{text}</worldbody>{rest}'
        "</mujoco>"
    )


def marked(element: str) -> str:
    """Alone on its line."""
    return f"\n{element} {MARK}\n"


def joint(given: str) -> str:
    """Of a hinge."""
    return world(body(marked(f'<joint name="j" axis="0 1 0" {given}/>')))


def geom(given: str) -> str:
    """Of a ball over the floor."""
    return world(body("<freejoint/>", marked(f'<geom name="g" size=".1" {given}/>')))


def spatial(given: str) -> str:
    """Of a tendon from the world to the body."""
    string = marked(f'<spatial name="t" {given}><site site="w"/><site site="s"/></spatial>')
    return world(body(), f"<tendon>{string}</tendon>")


def fixed(given: str) -> str:
    """Of a tendon over one joint."""
    string = marked(f'<fixed name="t" {given}><joint joint="j" coef="1"/></fixed>')
    return world(body(), f"<tendon>{string}</tendon>")


def actuator(element: str) -> str:
    """Of whichever kind."""
    tendon = '<tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon>'
    return world(body(), f"{tendon}<actuator>{marked(element)}</actuator>")


def sensor(element: str, geom: str = '<geom name="g" size=".1" mass="1"/>') -> str:
    """Of whichever kind."""
    return world(body(geom=geom), f"<sensor>{marked(element)}</sensor>")


def flexible(element: str) -> str:
    """A soft body."""
    return world(body() + marked(element))


DELAY = 'delay="0.01" nsample="20"'
LIMIT = 'limited="true" range="0 1"'
PULL = 'actuatorfrclimited="true" actuatorfrcrange="-1 1"'
RUB = 'frictionloss="1"'
CRANK = 'cranksite="s" slidersite="w" cranklength="1"'
FLEX = """<flexcomp name="f" type="grid" count="3 3 1" spacing=".1 .1 .1" radius=".01" mass="1"/>"""
ROPE = '<flex name="f" dim="1" body="b d" element="0 1" radius=".01"/>'
PLATE = '<mesh name="plate" builtin="plate" params="5 5" scale="0.04 0.04 0.005"/>'
PID = 'joint="j" gaintype="pid" biastype="affine" dyntype="pid" input="pos vel ff"'
OF_SPATIAL = {
    "actuatorfrclimited": PULL, "actuatorfrcrange": PULL, "armature": 'armature="1"',
    "damping": 'damping="1"', "frictionloss": RUB, "limited": LIMIT, "margin": LIMIT,
    "range": LIMIT, "solimpfriction": RUB, "solimplimit": LIMIT,
    "solreffriction": RUB, "solreflimit": LIMIT,
    "springlength": 'stiffness="1" springlength=".5"', "stiffness": 'stiffness="1"',
    "springyield": 'stiffness="1" springyield=".1"',
}  # fmt: skip
OF_FIXED = {
    name: OF_SPATIAL[name]
    for name in ("actuatorfrclimited", "actuatorfrcrange", "armature", "springyield")
}
OF_ACTUATORS = {
    "cranklength": CRANK, "cranksite": CRANK, "slidersite": CRANK, "delay": f'joint="j" {DELAY}',
    "nsample": f'joint="j" {DELAY}', "interp": f'joint="j" {DELAY} interp="linear"',
    "refsite": 'site="s" refsite="w"',
}  # fmt: skip
SPECIAL = {
    "cylinder": 'timeconst="0.1" area="1"',
}
WHOLE = {
    "orientation": '<orientation name="a" joint="j" kp="1"/>',
    "pid": '<pid name="a" joint="j" kp="1" ki="1" imax="1"/>',
    "damper": '<damper name="a" joint="j" kv="1" ctrlrange="0 1"/>',
    "muscle": '<muscle name="a" joint="j" lengthrange="0 1"/>',
    "adhesion": '<adhesion name="a" body="b" gain="1" ctrlrange="0 1"/>',
    "dcmotor": '<dcmotor name="a" joint="j" motorconst="1" resistance="1"/>',
}
SENSORS = {
    "insidesite": '<insidesite name="x" site="w" objtype="body" objname="b"/>',
    "distance": '<distance name="x" geom1="g" geom2="floor" cutoff="1"/>',
    "normal": '<normal name="x" geom1="g" geom2="floor" cutoff="1"/>',
    "fromto": '<fromto name="x" geom1="g" geom2="floor" cutoff="1"/>',
    "contact": '<contact name="x" geom1="g" geom2="floor"/>',
    "e_potential": '<e_potential name="x"/>',
    "e_kinetic": '<e_kinetic name="x"/>',
    "user": '<user name="x" dim="1" needstage="pos"/>',
}
BALL_JOINT = '<joint name="j" type="ball"/>'


def _files() -> dict[tuple[str, str], str]:
    found = {
        ("body/joint", "springyield"): joint('stiffness="1" springyield=".1"'),
        ("body/joint", "actuatorgravcomp"): joint('actuatorgravcomp="true"').replace(
            'name="b"', 'name="b" gravcomp="1"'
        ),
        ("body/geom", "adhesion"): geom('adhesion="1"'),
        ("contact/pair", "adhesion"): world(
            body("<freejoint/>", '<geom name="g" size=".1"/>'),
            "<contact>" + marked('<pair geom1="g" geom2="floor" adhesion="1"/>') + "</contact>",
        ),
        ("sensor/rangefinder", "camera"): sensor('<rangefinder name="x" camera="c"/>'),
        ("sensor/*", "delay"): sensor(f'<jointpos name="x" joint="j" {DELAY}/>'),
        ("sensor/*", "nsample"): sensor(f'<jointpos name="x" joint="j" {DELAY}/>'),
        ("sensor/*", "interp"): sensor(f'<jointpos name="x" joint="j" {DELAY} interp="linear"/>'),
        ("sensor/*", "interval"): sensor('<jointpos name="x" joint="j" interval="0.02 0"/>'),
        ("body/flexcomp/**", "*"): flexible(FLEX),
        ("equality/flex", "*"): world(
            body() + FLEX, "<equality>" + marked('<flex name="e" flex="f"/>') + "</equality>"
        ),
        ("deformable/flex/**", "*"): world(
            body() + '<body name="d" pos="1 0 0"><freejoint/><geom size=".1"/></body>',
            f"<deformable>{marked(ROPE)}</deformable>",
        ),
        ("sensor/tactile", "*"): sensor(
            '<tactile name="x" geom="g" mesh="plate"/>',
            '<geom size=".1"/>'
            '<geom name="g" type="mesh" mesh="plate" contype="0" conaffinity="0"/>',
        ).replace("<worldbody>", f"<asset>{PLATE}</asset><worldbody>"),
        ("keyframe/key", "plastic"): joint('stiffness="1" springyield=".1"').replace(
            "</mujoco>", '<keyframe><key plastic=".1"/></keyframe></mujoco>'
        ),
        ("actuator/general", "actdim"): actuator(
            '<general name="a" joint="j" dyntype="user" actdim="2"/>'
        ),
        ("actuator/general", "ffrange"): actuator(f'<general name="a" {PID} ffrange="0 1"/>'),
        ("actuator/general", "velrange"): actuator(f'<general name="a" {PID} velrange="0 1"/>'),
    }
    wet, swim = '<option density="1000"/>', '<body name="b"><freejoint/>'
    for name in ("fluidshape", "fluidcoef"):
        shape = '<geom size=".1" fluidshape="ellipsoid" fluidcoef="1 1 1 1 1"/></body>'
        swimmer = marked(swim + shape)
        found["body/geom", name] = world(swimmer, before=wet)
    for name in ("o_friction", "o_margin", "o_solimp", "o_solref", "override"):
        path = "option/flag" if name == "override" else "option"
        values = {"o_friction": "1 1 .1 .1 .1", "o_solref": ".1 1", "o_solimp": ".9 .95 .01"}
        given = "" if name == "override" else f'{name}="{values.get(name, ".1")}"'
        flag = f'<option {given}><flag override="enable"/></option>'
        found[path, name] = world(body(), before=marked(flag))
    for name, given in OF_SPATIAL.items():
        found["tendon/spatial", name] = spatial(given)
    for part in ("site", "geom", "pulley"):
        found[f"tendon/spatial/{part}", "*"] = spatial('stiffness="1"')
    for name, given in OF_FIXED.items():
        found["tendon/fixed", name] = fixed(given)
    for name, given in OF_ACTUATORS.items():
        for kind in ("general", "motor", "position", "velocity", "intvelocity", "cylinder"):
            also = SPECIAL.get(kind, "")
            if kind == "intvelocity":
                also = 'kp="1" actrange="-1 1"'
            element = f'<{kind} name="a" {given} {also}/>'
            found[f"actuator/{kind}", name] = actuator(element)
    found["actuator/general", "body"] = actuator('<general name="a" body="b"/>')
    for kind, element in WHOLE.items():
        found[f"actuator/{kind}", "*"] = actuator(element)
    turned = world(body(BALL_JOINT), f"<actuator>{marked(WHOLE['orientation'])}</actuator>")
    found["actuator/orientation", "*"] = turned
    for kind, element in SENSORS.items():
        found[f"sensor/{kind}", "*"] = sensor(element)
    return found


FILES = _files()
NO_FILE = {
    ("extension/**", "*"): "MuJoCo refuses a file whose plugin is not loaded",
    ("body/plugin/**", "*"): "the same",
    ("body/geom/plugin/**", "*"): "the same",
    ("asset/mesh/plugin/**", "*"): "the same",
    ("actuator/plugin/**", "*"): "the same",
    ("sensor/plugin/**", "*"): "the same",
    ("equality/flexstrain", "*"): "its flex has the message",
}
