"""Thumbnails of replays, by a headless Chromium (tools/gallery.py)."""

import tempfile
from pathlib import Path

from PIL import Image
from screenshot import screenshot

SIZE = (480, 320)
LIMIT = 40_000
"""Bytes of a thumbnail at most."""
SCALE = 2
"""Pictures are taken larger and made smaller: smooth edges."""
SPARE = 87
"""Rows below the page that a headless window takes for its frame [pixels]."""


def picture(replay: Path, output: Path, t: float, cam: str, options: str = "") -> None:
    """A PNG of SIZE at a time [s] and from a camera of the viewer, e.g. "40,16,1.5".

    Raises:
        RuntimeError: no Chromium, or its picture is too large for LIMIT.
    """
    view = f"t={t:g}&play=0&ui=0&panel=0&theme=light&cam={cam}"
    width, height = (SCALE * side for side in SIZE)
    with tempfile.TemporaryDirectory() as folder:
        shot = Path(folder) / "shot.png"
        url = f"{replay.resolve().as_uri()}#{view}" + (f"&{options}" if options else "")
        screenshot(url, shot, (width, height + SPARE), 4000)
        with Image.open(shot) as taken:
            image = taken.convert("RGB")
    small = image.crop((0, 0, width, height)).resize(SIZE, Image.Resampling.LANCZOS)
    for colors in (256, 128, 96, 64, 48, 32):
        small.quantize(colors, kmeans=2).save(output, optimize=True)
        if output.stat().st_size <= LIMIT:
            return
    raise RuntimeError(f"{output.name} has {output.stat().st_size} bytes, more than {LIMIT}")
