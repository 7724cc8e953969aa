#!/usr/bin/env bash
# Installs a wheel into an empty environment and runs the README's first example there without a
# network: no sources, no compiler, no example-robot-data. Says how large it is and how long it takes
# to install and to import.
#
#   tools/check_wheel.sh WHEEL [PYTHON]
set -euo pipefail
cd "$(dirname "$0")/.."
wheel=$(realpath "$1")
python=${2:-python3}
largest=$((25 * 1024 * 1024)) # bytes

size=$(stat -c %s "$wheel")
echo "$(basename "$wheel"): $((size / 1024)) KiB"
if [ "$size" -gt "$largest" ]; then
  echo "larger than $((largest / 1024)) KiB"
  exit 1
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$python" -m venv "$scratch/venv"
pip=("$scratch/venv/bin/python" -m pip --quiet --disable-pip-version-check)
"${pip[@]}" download --dest "$scratch/wheels" "$wheel" # so that the time below is not the network's
start=$(date +%s.%N)
"${pip[@]}" install --no-index --find-links "$scratch/wheels" "$wheel"
echo "$start $(date +%s.%N)" | awk '{ printf "installed with all it needs in %.1f s (wanted: 30)\n", $2 - $1 }'

# The first fenced Python block of the README.
awk '/^```python/ { inside = 1; next } /^```/ { if (inside) exit } inside' README.md >"$scratch/first.py"
test -s "$scratch/first.py" || { echo "README.md has no Python example"; exit 1; }
cat >"$scratch/imports.py" <<'END'
import subprocess, sys, time

def least(code: str) -> float:
    """Of five starts of Python [s]."""
    times = []
    for _ in range(5):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        times.append(time.perf_counter() - start)
    return min(times)

print(f"import stiction: {least('import stiction') - least('pass'):.2f} s (wanted: 0.3)")
END

offline=()
if unshare --user --net --map-root-user true 2>/dev/null; then
  offline=(unshare --user --net --map-root-user)
else
  echo "no network namespaces here: the example runs with the network on"
fi
cd "$scratch"
alone() { env -i PATH=/usr/bin:/bin HOME="$scratch" "$@"; }
alone "${offline[@]}" venv/bin/python imports.py
alone "${offline[@]}" venv/bin/python first.py
alone STICTION_MAX_ISA=baseline "${offline[@]}" venv/bin/python first.py
alone "${offline[@]}" venv/bin/stiction --version
alone "${offline[@]}" venv/bin/stiction scenes
echo "the wheel works"
