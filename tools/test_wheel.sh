#!/usr/bin/env bash
# Builds the wheel of the Python at hand and checks it; tools/wheels.sh makes those of a release.
set -euo pipefail
cd "$(dirname "$0")/.."
make wheel
tools/check_wheel.sh "$(ls -t dist/stiction-*.whl | head -1)"
