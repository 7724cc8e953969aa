"""Prints the cmeel prefix (C++ headers and libraries of the wheels) that Python sees, if any.

Not simply in site-packages: pip builds wheels with their requirements elsewhere on sys.path.
"""

import sys
from pathlib import Path

prefixes = [Path(entry, "cmeel.prefix") for entry in sys.path if entry]
print(next((prefix for prefix in prefixes if (prefix / "include" / "eigen3").is_dir()), ""))
