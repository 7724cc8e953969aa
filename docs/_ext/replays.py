"""The directive `replay`: an interactive replay in a page, one HTML file without a network.

    ```{replay} pushed
    :view: follow=0&arrows=0
    ```

The view is optional: what the viewer reads in its address (python/stiction/viewer/README.md).
The motions are simulated while the manual is built.
"""

from __future__ import annotations

import html
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

LIMIT = 2_000_000
"""Bytes of a replay at most."""


def pushed(output: Path) -> None:
    """Solo-12 falls 15 cm, stands and is pushed sideways twice."""
    import stiction
    from stiction.record import Recorder
    from stiction.replay import write_replay

    sim = stiction.Simulator(stiction.load("solo12"), dt=1e-3)
    state, control = sim.initial_state("standing"), sim.hold("standing")
    state.q[2] += 0.15
    recorder = Recorder(sim, title="Solo-12: dropped, stands, is pushed")
    recorder.capture(state)
    for step in range(3000):
        control.wrenches = ()
        if 1000 <= step < 1200:
            sim.add_wrench(control, "base_link", force=[0.0, 15.0, 0.0])
        if 2000 <= step < 2100:
            sim.add_wrench(control, "base_link", force=[0.0, -25.0, 0.0])
        sim.step(state, control)
        recorder.after_step(state)
    write_replay(output, recorder.replay())


def trot(output: Path, robot: str = "solo12") -> None:
    """examples/13_learned_trot.py."""
    example = Path(__file__).parents[2] / "examples" / "13_learned_trot.py"
    command = [sys.executable, str(example), robot, str(output)]
    subprocess.run(command, check=True, capture_output=True)


def cart_pole(output: Path) -> None:
    """A cart whose pole leans at first."""
    import numpy as np
    import stiction.envs
    from stiction.record import Recorder
    from stiction.replay import write_replay

    env = stiction.envs.CartPole(autoreset="Disabled")
    policy = stiction.envs.Policy.load(stiction.envs.CART_POLE)
    env.reset(seed=0)
    sim, state = env.batch.simulator(0), env.batch.state(0)
    state.q[:] = [-0.8, np.cos(0.15), np.sin(0.15)]
    env.batch.set_state(0, state)
    recorder = Recorder(sim, title="Cart and pole, by a learned policy", fps=40)
    recorder.capture(state)
    for _ in range(300):
        env.act(policy(env.observe()))
        control = env.batch.control(0)
        for _ in range(env.substeps):
            sim.step(state, control)
            recorder.after_step(state)
        env.batch.set_state(0, state)
    write_replay(output, recorder.replay())


def of_gallery(output: Path, motion: str) -> None:
    """An entry of tools/gallery.py."""
    tools = str(Path(__file__).parents[2] / "tools")
    if tools not in sys.path:
        sys.path.append(tools)
    import gallery

    gallery.embedded(motion, output)


MOTIONS = {
    "pushed": pushed,
    "trot": trot,
    "go2": partial(trot, robot="go2"),
    "rough": partial(trot, robot="rough"),
    "cart_pole": cart_pole,
    "grasp": partial(of_gallery, motion="grasp"),
    "stack": partial(of_gallery, motion="stack"),
    "pile": partial(of_gallery, motion="pile"),
}


class Replay(SphinxDirective):
    """An iframe; browsers without WebGL show the link below it."""

    required_arguments = 1
    option_spec: ClassVar = {"view": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        if name not in MOTIONS:
            raise self.error(f"no replay {name!r}; there are: {', '.join(MOTIONS)}")
        up = "../" * self.env.docname.count("/")
        source = f"{up}_static/replays/{name}.html"
        if "view" in self.options:
            source += "#" + html.escape(self.options["view"])
        frame = (
            f'<iframe class="replay" src="{source}" title="Replay" loading="lazy"></iframe>\n'
            f'<p class="replay-link"><a href="{source}">Open it alone</a>: drag to turn, wheel to '
            "zoom, space to stop.</p>"
        )
        return [nodes.raw("", frame, format="html")]


def write(app: Sphinx, error: Exception | None) -> None:
    """After the pages, unless they are newer than the library."""
    if error is not None or app.builder.name != "html":
        return
    import stiction

    folder = Path(app.outdir) / "_static" / "replays"
    folder.mkdir(parents=True, exist_ok=True)
    library = Path(stiction._stiction.__file__)
    for name, make in MOTIONS.items():
        page = folder / f"{name}.html"
        if not page.is_file() or page.stat().st_mtime < library.stat().st_mtime:
            make(page)
        if page.stat().st_size > LIMIT:
            raise ValueError(f"{page} has {page.stat().st_size} bytes, more than {LIMIT}")


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("replay", Replay)
    app.connect("build-finished", write)
    return {"version": "1", "parallel_read_safe": True}
