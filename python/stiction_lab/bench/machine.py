"""The machine a number belongs to: processor, cores, versions, load; never its name."""

from __future__ import annotations

import os
import platform
import re
import time
from importlib import metadata
from pathlib import Path
from typing import Any

from stiction._version import __version__

PACKAGES = ("mujoco", "drake", "coal", "numpy", "pin")


def describe() -> dict[str, Any]:
    """Processor, cores, date (UTC), versions of packages, load average over one minute."""
    versions = {"stiction": __version__, "python": platform.python_version()}
    return {
        "cpu": cpu_model(),
        "cores": os.cpu_count() or 0,
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "versions": versions | {name: _version(name) for name in PACKAGES},
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
    }


def cpu_model() -> str:
    """Name of the processor as the system gives it."""
    info = Path("/proc/cpuinfo")
    if info.is_file():
        found = re.search(
            r"model name\s*:\s*(.+)", info.read_text(encoding="utf-8", errors="replace")
        )
        if found:
            return " ".join(found.group(1).split())
    return platform.processor() or platform.machine() or "unknown"


def slug(cpu: str | None = None) -> str:
    """The processor's name as a file name: lower case, words joined by hyphens."""
    words = re.findall(
        r"[a-z0-9.]+", re.sub(r"\(r\)|\(tm\)|\bcpu\b|@", " ", (cpu or cpu_model()).lower())
    )
    return "-".join(words) or "unknown"


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
