#!/usr/bin/env bash
# Builds the wheel, installs it into an empty environment, and runs the README's first example there
# without a network: no sources, no compiler, no example-robot-data.
set -euo pipefail
cd "$(dirname "$0")/.."
make wheel
wheel=$(ls -t dist/stiction-*.whl | head -1)
size=$(stat -c %s "$wheel")
echo "$wheel: $((size / 1024)) KiB"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/python" -m pip install --quiet --disable-pip-version-check "$wheel"

# The first fenced Python block of the README; without a README, the first example.
if [ -f README.md ]; then
  awk '/^```python/ { inside = 1; next } /^```/ { if (inside) exit } inside' README.md >"$scratch/first.py"
else
  cp examples/01_first_steps.py "$scratch/first.py"
fi
test -s "$scratch/first.py" || { echo "README.md has no Python example"; exit 1; }

offline=()
if unshare --user --net --map-root-user true 2>/dev/null; then
  offline=(unshare --user --net --map-root-user)
else
  echo "no network namespaces here: the example runs with the network on"
fi
cd "$scratch"
env -i PATH=/usr/bin:/bin HOME="$scratch" "${offline[@]}" venv/bin/python first.py
env -i PATH=/usr/bin:/bin HOME="$scratch" "${offline[@]}" venv/bin/stiction --version
env -i PATH=/usr/bin:/bin HOME="$scratch" "${offline[@]}" venv/bin/stiction scenes
echo "the wheel works"
