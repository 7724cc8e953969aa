"""MuJoCo's compiler in a process of its own, see mjcf_compiler.py; run by path, with the package
mujoco alone.

Argument: JSON with "path" (sys.path), "memory" (bytes that it may reserve besides what it begins
with) and "model", a file descriptor. One byte on what was the standard output says that it is
ready. Then one request after the other on the standard input: four bytes of length, JSON with
"folder" to work in, "kind" ("path", "string" or "parts") and "given". Each answer: four bytes of
length, JSON with "error" or null and "said", the compiler's warnings; the model is in the file
"model", in MuJoCo's binary form.
"""

from __future__ import annotations

import json
import os
import re
import select
import signal
import struct
import sys
import warnings
from collections.abc import Iterable
from typing import Any, BinaryIO

OWN = "stiction: "
"""What begins so is not the compiler's (Source)."""
IDLE = 300.0
"""Ends after so long without a request [s]."""


def main() -> None:
    """Answer until the standard input ends."""
    # Whatever C code prints must not come between the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    given = json.loads(sys.argv[1])
    sys.path[:] = given["path"]
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    import mujoco

    _limit_memory(int(given["memory"]))
    answers.write(b"+")
    answers.flush()
    requests = os.fdopen(0, "rb", buffering=0)
    while select.select([requests], [], [], IDLE)[0]:
        head = _read(requests, 4)
        if len(head) < 4:
            return
        request = json.loads(_read(requests, struct.unpack("<I", head)[0]))
        text = json.dumps(_answer(mujoco, request, int(given["model"]))).encode()
        answers.write(struct.pack("<I", len(text)) + text)
        answers.flush()


def _read(file: BinaryIO, size: int) -> bytes:
    parts = []
    while size > 0:
        part = file.read(size)
        if not part:
            break
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _limit_memory(most: int) -> None:
    try:
        import resource

        with open("/proc/self/statm", encoding="ascii") as file:
            most += int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, OSError, ValueError):
        return


def _answer(mujoco: Any, request: dict[str, str], model_file: int) -> dict[str, Any]:
    said: list[str] = []
    mujoco.set_mju_user_warning(said.append)
    if request["folder"]:
        os.chdir(request["folder"])
    try:
        model = _compiled(mujoco, request["kind"], request["given"], said)
        mujoco.mj_saveModel(model, f"/proc/self/fd/{model_file}")
    except MemoryError:
        return {"error": "cannot allocate memory", "said": said}
    except Exception as error:
        return {"error": str(error) or repr(error), "said": said}
    return {"error": None, "said": said}


def _compiled(mujoco: Any, kind: str, given: str, said: list[str]) -> Any:
    """The MjModel."""
    if kind != "parts":
        return getattr(mujoco.MjModel, f"from_xml_{kind}")(given)
    request = json.loads(given)
    try:
        return _joined(mujoco, request, said, named=True)
    except ValueError as error:
        if "repeated name" not in str(error):
            raise
    # A name that a file gives may be that of something nameless behind a prefix.
    said.clear()
    return _joined(mujoco, request, said, named=False)


def _joined(mujoco: Any, request: dict[str, Any], said: list[str], named: bool) -> Any:
    """The MjModel of parts; `named`: what has no name gets one."""
    parts, whole = request["parts"], _empty(mujoco)
    bits: list[tuple[str, int]] = []
    options: list[tuple[str, dict[str, Numbers]]] = []
    for number, part in enumerate(parts):
        try:
            child = _spec(mujoco, part)
            bits.append((part["label"], int(child.option.disableflags)))
            _check_flags(mujoco, request["flags"], bits)
            for field in request["engine"]:
                setattr(child.option, field, getattr(whole.option, field))
            options.append((part["label"], _options(mujoco, child)))
            if part["prefix"] and named:
                _name_all(whole, child, part["prefix"])
            _attach(mujoco, whole, child, part)
        except Exception as error:
            alone = _wrong_alone(mujoco, parts[: number + 1])
            raise ValueError(alone or f"{part['label']}: {_in_words(error)}") from None
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        try:
            model = whole.compile()
        except Exception as error:
            text = _in_words(error)
            raise ValueError(_wrong_alone(mujoco, parts) or _of_part(parts, text)) from None
    said[:] = [text for text in said if not text.startswith("Attach")]  # cut off there, whole here
    said += [f"option {text}" for one in found for text in _kept_apart(str(one.message))]
    said += [OWN + text for text in _of_some_parts(options, _options(mujoco, whole))]
    return model


Numbers = tuple[float, ...]


def _options(mujoco: Any, spec: Any) -> dict[str, Numbers]:
    """Those that are not MuJoCo's defaults."""
    default, given = mujoco.MjSpec().option, spec.option
    found = {}
    for field in dir(given):
        if field.startswith("_") or field.endswith("flags"):
            continue
        value, other = _numbers(getattr(given, field)), _numbers(getattr(default, field))
        if value != other:
            found[field] = value
    return found


def _numbers(value: Any) -> Numbers:
    return tuple(float(x) for x in (value if hasattr(value, "__len__") else [value]))


def _of_some_parts(
    options: list[tuple[str, dict[str, Numbers]]], whole: dict[str, Numbers]
) -> list[str]:
    """Options that only some parts give, and that hold for the others too."""
    said = []
    for field in sorted({field for _, given in options for field in given}):
        of = [label for label, given in options if field in given]
        values = {given[field] for _, given in options if field in given}
        if len(of) < len(options) and values == {whole.get(field)}:
            numbers = " ".join(f"{x:g}" for x in whole[field])
            said.append(f"option {field} = {numbers} of {', '.join(of)} holds for all parts")
    return said


def numbered(given: list[str], stems: list[str], taken: Iterable[str] = ()) -> list[str]:
    """Names of elements: what has none is called by its stem and a number, unlike what is given or
    `taken`."""
    used, counts, names = {*given, *taken}, dict[str, int](), []
    for own, stem in zip(given, stems, strict=True):
        name = own
        while not name or (not own and name in used):
            name = f"{stem}{counts.get(stem, 0)}"
            counts[stem] = counts.get(stem, 0) + 1
        used.add(name)
        names.append(name)
    return names


def _name_all(whole: Any, spec: Any, prefix: str) -> None:
    """What has no name gets that which the loader calls it by in the file alone, or the next number
    where the whole has that behind the prefix: MuJoCo puts prefixes before names only."""

    def name(kind: str, elements: list[Any], stems: list[str]) -> None:
        present = [element.name for element in getattr(whole, kind)]
        taken = [n.removeprefix(prefix) for n in present if n.startswith(prefix)]
        given = [element.name for element in elements]
        for element, found in zip(elements, numbered(given, stems, taken), strict=True):
            if not element.name:
                element.name = found

    bodies = list(spec.bodies)
    name("bodies", bodies, ["body"] * len(bodies))
    for kind in ("joint", "geom"):
        owned = [(x, f"{body.name}_{kind}") for body in bodies for x in getattr(body, f"{kind}s")]
        name(f"{kind}s", [x for x, _ in owned], [stem for _, stem in owned])
    plurals = {kind: f"{kind}s" for kind in ("site", "actuator", "tendon", "sensor", "key", "pair")}
    for kind, plural in (plurals | {"equality": "equalities"}).items():
        elements = list(getattr(spec, plural))
        name(plural, elements, [kind] * len(elements))


_CONFLICT = re.compile(r"^(\w+): parent has ([^\n]+?), child has ([^,\n]+)(.*)$", re.M)
"""A line of MuJoCo's about an option that files have in different ways."""


def _kept_apart(text: str) -> list[str]:
    """Options that two files give, and what is made of them; MuJoCo tells of those too that one
    file alone gives, and of prefixes."""
    found = (m.groups() for m in _CONFLICT.finditer(text) if "(default)" not in m[2])
    return [f"{name}: files have {one} and {two}{end}" for name, one, two, end in found]


def _in_words(error: Exception) -> str:
    text = str(error).removeprefix("Error: ") or repr(error)
    if found := _CONFLICT.search(text):
        return f"option {found[1]} = {found[3]}: the files before it have {found[2]}"
    return text + ("; give each part a prefix of its own" if "repeated name" in text else "")


def _wrong_alone(mujoco: Any, parts: list[dict[str, Any]]) -> str:
    """The error of the first file that has one by itself; else nothing."""
    for part in parts:
        try:
            _spec(mujoco, part).compile()
        except Exception as error:
            return f"{part['label']}: {_in_words(error)}"
    return ""


def _of_part(parts: list[dict[str, Any]], error: str) -> str:
    """An error by the file with the prefix of what it names, if it does."""
    name = next(iter(re.findall(r"name '([^']+)'", error)), "")
    named = [part for part in parts if name and name.startswith(part["prefix"])]
    if not named:
        return error
    return f"{max(named, key=lambda part: len(part['prefix']))['label']}: {error}"


def _empty(mujoco: Any) -> Any:
    spec = mujoco.MjSpec()
    spec.compiler.conflict = mujoco.mjtConflict.mjCONFLICT_MERGE
    return spec


def _spec(mujoco: Any, part: dict[str, Any]) -> Any:
    read = mujoco.MjSpec.from_file if part["kind"] == "path" else mujoco.MjSpec.from_string
    return read(part["given"])


def _check_flags(mujoco: Any, flags: list[str], bits: list[tuple[str, int]]) -> None:
    """Of the last file against the first."""
    (first, of_first), (_, of_last) = bits[0], bits[-1]
    for flag in flags:
        bit = int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag.upper()}"))
        if (of_first ^ of_last) & bit:
            is_off, other = ("disabled", "not") if of_last & bit else ("not disabled", "disabled")
            raise ValueError(f"flag {flag} is {is_off}, in {first} it is {other}")


def _attach(mujoco: Any, whole: Any, child: Any, part: dict[str, Any]) -> None:
    """A part behind its prefix, where it stands."""
    position, quaternion = part["X"][:3], part["X"][3:]
    placed = _empty(mujoco)
    frame = placed.worldbody.add_frame(pos=position, quat=quaternion)
    placed.attach(child, prefix=part["prefix"], frame=frame)
    if placed.keys:
        _move_keyframes(mujoco, placed, position, quaternion)
    name = part["at"]
    if name is None:
        whole.attach(placed, prefix="", frame=whole.worldbody.add_frame())
    elif whole.site(name) is not None:
        # MuJoCo would read the angles of its place by the compiler settings of another file.
        site = whole.copy().compile().site(name)
        frame = whole.site(name).parent.add_frame(pos=site.pos, quat=site.quat)
        whole.attach(placed, prefix="", frame=frame)
    elif whole.body(name) is not None:
        whole.attach(placed, prefix="", frame=whole.body(name).add_frame())
    elif whole.frame(name) is not None:
        whole.attach(placed, prefix="", frame=whole.frame(name))
    else:
        names = ", ".join(x.name for x in (*whole.sites, *whole.bodies[1:]) if x.name) or "none"
        raise ValueError(f"at = '{name}': no site, body or frame before it; there are: {names}")


def _move_keyframes(mujoco: Any, placed: Any, p: list[float], quaternion: list[float]) -> None:
    """What floats in a file's world moves with it in its keyframes too, which MuJoCo leaves."""
    model = placed.compile()  # without it keyframes would not be of this part alone
    for number, key in enumerate(placed.keys):
        q, v = model.key_qpos[number], model.key_qvel[number]
        places, turns = model.key_mpos[number], model.key_mquat[number]
        for joint in range(model.njnt):
            if model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE:
                at, dof = model.jnt_qposadr[joint], model.jnt_dofadr[joint]
                _move(mujoco, q[at : at + 3], q[at + 3 : at + 7], p, quaternion)
                mujoco.mju_rotVecQuat(v[dof : dof + 3], v[dof : dof + 3].copy(), quaternion)
        for i in range(model.nmocap):
            _move(mujoco, places[3 * i : 3 * i + 3], turns[4 * i : 4 * i + 4], p, quaternion)
        key.qpos, key.qvel, key.mpos, key.mquat = q, v, places, turns


def _move(mujoco: Any, p: Any, quaternion: Any, by: list[float], turned: list[float]) -> None:
    """In place."""
    mujoco.mju_rotVecQuat(p, p.copy(), turned)
    p += by
    mujoco.mju_mulQuat(quaternion, turned, quaternion.copy())


if __name__ == "__main__":
    main()
