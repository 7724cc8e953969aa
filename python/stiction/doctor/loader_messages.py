"""What the loaders say, as findings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from .. import LoadMessage
from .finding import Finding
from .meshes import FIX, FULL

__all__ = ["check_messages", "failure"]

# (part of the text, check, severity, fix), the first that fits.
URDF = (
    ("inertia violates", "inertia", "warning",
     "compute it again, or load with balance_inertia=True, which takes their mean"),
    ("inertia is not positive", "inertia", "warning",
     "compute the inertia again from the shape: stiction.mass_properties(shape, density)"),
    ("it is massless", "mass", "warning", "give it an <inertial>, or make its joint fixed"),
    ("effort limit 0 is taken", "effort", "warning", "write the motor's largest effort"),
    ("velocity limit 0 is taken", "limits", "note",
     "write the motor's largest speed; no step of the simulator depends on it"),
    ("locks the joint at 0", "limits", "warning",
     "write lower and upper, or make it continuous or fixed"),
    ("does not exist", "name", "warning", "correct the name"),
    ("is not a moving joint", "name", "warning", "correct the name"),
    ("is replaced by", "hull", "warning", FIX),
    ("of <dynamics> is not used", "unused", "warning",
     'damping="..." and friction="..." are the names that URDF has'),
    ("<contact> in <link>", "unused", "note",
     "Material(friction, stiffness, damping) says this to the scene"),
    ("overlap", "start overlap", "warning",
     "shrink the shapes; <disable_collisions> in the SRDF says that it is meant so"),
)  # fmt: skip
MJCF = (
    ("MuJoCo's compiler", "compiler", "note", "what it says"),
    ("friction that differs by direction", "friction", "warning",
     "give both directions one coefficient"),
    ("margin of its limit", "limits", "note", "leave it out, or narrow the range by it"),
    ("margin is not honoured", "friction and rest", "warning",
     "enlarge the shapes by it where heights matter, or leave it out"),
    (".simulation(), not in a Simulator", "engine", "note",
     "run it with load_mjcf(file).simulation()"),
    ("does not hold back", "unused", "warning", "forcerange of the actuator"),
    ("on hinges and slides alone", "unused", "warning", "armature and damping of the joints"),
    ("does not follow its mocap body", "unused", "warning", "a weld, which does"),
    ("has the name of a body", "name", "note", "give it another name"),
    ("sensor '", "unused", "note", "read it from sim.contacts(), wrench_on() or body_poses()"),
    ("springyield", "unused", "warning", "a spring without it, or dry friction"),
    ("its softness is not honoured", "unused", "note", "nothing: it holds exactly"),
    ("mocap body", "unused", "warning",
     "sim.parameters.set_geometry_placement() and geometry_velocity move its shapes"),
    ("higher order than linear", "unused", "warning",
     "one linear coefficient that fits where the joint works"),
    ("is not active at the start", "unused", "warning", 'active="true", or leave it out'),
    ("a spatial tendon is not supported", "unused", "warning", "a fixed tendon or joints instead"),
    ("the medium does not act", "unused", "warning",
     'fluidshape="none": the medium then acts on its inertia box'),
    ("its joint is free", "unused", "warning", 'site="..." in its place, of a site on the body'),
    ("does not act", "unused", "warning",
     "a motor on a joint, or compute its force yourself and add it to control.torque"),
    ("its activation is not simulated", "unused", "warning",
     "filter ctrl yourself before control(ctrl)"),
    ("its delay is not honoured", "unused", "warning", "delay ctrl yourself before control(ctrl)"),
    ("tendon '", "unused", "warning", "springs, damping and limits of the joints that it pulls"),
    ("by side", "unused", "warning", "make both sides equal"),
    ("cannot collide:", "unused", "warning", "a mesh or a simple shape in its place"),
    ("sensor", "unused", "note", "read it from sim.contacts(), wrench_on() or body_poses()"),
)  # fmt: skip
ANY_MJCF = "leave it out to be sure that both engines do the same; docs/mjcf.md says what is read"
HARMLESS = "nothing: no step depends on it; remove it to have less to read"


def check_messages(messages: Iterable[LoadMessage], is_mjcf: bool) -> Iterator[Finding]:
    """Every message of a scene, in its own words."""
    for message in messages:
        if is_mjcf and message.kind == "overlap":
            continue  # start.py has each pair with its line
        check, severity, fix = _kind(message, is_mjcf)
        value = _ratio(message.text)
        if value is not None and severity == "warning" and value < FULL:
            severity = "note"
        yield Finding(severity, check, message.text, fix, message.file, message.line, value)


def _kind(message: LoadMessage, is_mjcf: bool) -> tuple[str, str, str]:
    for part, check, severity, fix in MJCF if is_mjcf else URDF:
        if part in message.text:
            return check, severity, fix
    if is_mjcf:
        if message.kind == "warning":
            return "engine", "note", "nothing: the two engines differ in this"
        return "unused", "warning", ANY_MJCF
    if message.kind == "unused":
        return "unused", "note", HARMLESS
    return message.kind, "warning", "look at the line"


def _ratio(text: str) -> float | None:
    """Of "hull volume / mesh volume = 2.99"."""
    found = re.search(r"volume / mesh volume = ([0-9.e+-]+)", text)
    return float(found.group(1)) if found else None


REMEDIES = (
    ("inertia is not positive",
     "compute the inertia again from the shape: stiction.mass_properties(shape, density)"),
    ("has no attribute", "add the attribute"),
    ("near:", "take the name that it is near to"),
    ("no root link", "let one link be no joint's child"),
    ("is defined twice", "rename one of the two"),
)  # fmt: skip


def failure(error: Exception, file: str) -> Finding:
    """Of a file that does not load: place and text of the error."""
    text = " ".join(str(error).split())
    found = re.match(r"(?P<file>.+?):(?P<line>\d+): (?P<text>.*)$", text)
    if found is None:
        own = text.removeprefix(f"{file}: ")
        told = re.search(r"(?:, (?P<file>\S+))? line (?P<line>[1-9]\d*)$", own)
        place, line = (told["file"] or file, int(told["line"])) if told else (file, 0)
        return Finding("error", "load", own, "correct this", place, line)
    place, line, rest = found["file"], int(found["line"]), found["text"]
    head, _, remedy = rest.replace(": give ", "; give ").rpartition("; ")
    if head and re.match(r"(use|load|set|give|close|correct|write)\b", remedy):
        return Finding("error", "load", head, remedy, place, line)
    fix = next((fix for part, fix in REMEDIES if part in rest), "correct this line")
    return Finding("error", "load", rest, fix, place, line)
