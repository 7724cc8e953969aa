"""Pages as a headless Chromium draws them, for the pictures of the manual."""

import shutil
import subprocess
import tempfile
from pathlib import Path

FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--hide-scrollbars",
    "--no-first-run",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
]


def browser() -> str | None:
    """The Chromium of this machine, if there is one."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((found for found in map(shutil.which, names) if found), None)


def screenshot(address: str, output: Path, size: tuple[int, int], milliseconds: int) -> None:
    """A PNG of a window of that size, after so much of the page's own time.

    Raises:
        RuntimeError: no Chromium.
    """
    chromium = browser()
    if chromium is None:
        raise RuntimeError("no chromium: apt-get install chromium")
    width, height = size
    with tempfile.TemporaryDirectory() as profile:
        window = [f"--window-size={width},{height}", f"--user-data-dir={profile}"]
        shot = [f"--virtual-time-budget={milliseconds}", f"--screenshot={output}", address]
        command = [chromium, *FLAGS, *window, *shot]
        subprocess.run(command, check=True, capture_output=True, timeout=120)
