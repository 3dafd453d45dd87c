#!/bin/sh
# Installs the Debian packages of tools/packages.txt that are missing, as root or with sudo; does nothing when all are there.
# Usage: tools/install_packages.sh [GROUP...]     groups: build (the default), test, mpi, witness, python, docs, bench, guard, lint, fuzz, deb, dist, bare
set -eu

list=$(dirname "$0")/packages.txt
[ $# -gt 0 ] || set -- build

wanted=
for group in "$@"; do
  packages=$(awk -v group="$group" '!/^#/ && $2 == group { print $1 }' "$list")
  if [ -z "$packages" ]; then
    echo "install_packages.sh: no group '$group' in $list" >&2
    exit 2
  fi
  wanted="$wanted $packages"
done

if ! command -v dpkg-query > /dev/null; then
  echo "install_packages.sh: not a Debian system; please see to it that these are there:" $wanted >&2
  exit 0
fi

missing=
for package in $wanted; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2> /dev/null) || status=missing
  [ "$status" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

echo "Installing:$missing"
as_root=
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo > /dev/null; then
    echo "install_packages.sh: neither root nor sudo. As root:  apt-get install --no-install-recommends$missing" >&2
    echo "To build with what is there:  make PACKAGES=no ..." >&2
    exit 1
  fi
  as_root=sudo
fi
$as_root apt-get update -q
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing
