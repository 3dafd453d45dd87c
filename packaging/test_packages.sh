#!/bin/sh
# Installs the packages of FOLDER in bare systems, made by debootstrap, and tries them as a user would. Root, some minutes.
# Usage: packaging/test_packages.sh FOLDER [WHAT...]
# WHAT: lint, deb, sdist, or the name of a release of Debian, whose own Python gets the wheel.
#       Default: lint deb sdist bookworm trixie
set -eu
folder=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- lint deb sdist bookworm trixie
cd "$(dirname "$0")/.."
roots=$PWD/build-packages/roots
mkdir -p "$roots"

say() { echo "== $*"; }

# A fresh copy of a bare system, with python3 and pip and nothing else: $1 is its name, $2 the copy's.
bare_system() {
  if ! [ -f "$roots/$1.done" ]; then
    rm -rf "${roots:?}/$1"
    debootstrap --variant=minbase --include=python3,python3-venv "$1" "$roots/$1" > "$roots/$1.log"
    touch "$roots/$1.done"
  fi
  rm -rf "${roots:?}/$2" && cp -a "$roots/$1" "$roots/$2"
  cp /etc/resolv.conf "$roots/$2/etc/"
}

inside() { # inside COPY COMMAND...: without anything of this machine's environment
  copy=$roots/$1 && shift
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive chroot "$copy" "$@"
}

# The first example in Python of the README, which checks itself by what is appended.
readme_example() {
  awk '/^```python/ { inside = 1; next } /^```/ { if (inside) exit } inside' README.md
  echo 'assert abs(result.predict(2, 3) - 1.4) < 0.1 and result.relative_gap <= 0.01'
}

lint() {
  say "lintian"
  lintian --allow-root --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs "$folder"/*.deb
  for wheel in "$folder"/*.whl; do
    if unzip -l "$wheel" | grep -E 'lib(mpi|cuda|cudart|xml2|icu)[^/]*\.so'; then echo "$wheel holds a library that it should not" && exit 1; fi
  done
}

deb() {
  say "Debian packages in bookworm"
  bare_system bookworm deb
  mkdir "$roots/deb/try" && cp "$folder"/*.deb "$roots/deb/try" && cp -r tests/install/consumer "$roots/deb/try"
  cat > "$roots/deb/try/run.sh" << 'END'
set -eux
cd /try
apt-get update -q
apt-get install -q -y --no-install-recommends ./tracenorm_*.deb
tracenorm --version
tracenorm generate completion train.tsv --rows 100 --cols 80 --truth truth.tsv
tracenorm complete train.tsv --radius 100 --test truth.tsv --report page.html --quiet
grep -q Chart page.html
apt-get install -q -y --no-install-recommends ./libtracenorm-dev_*.deb g++ cmake make pkg-config bash-completion man-db groff-base
cmake -S consumer -B by-cmake && cmake --build by-cmake && by-cmake/consumer && by-cmake/file_consumer
c++ -std=c++20 consumer/files.cpp -o by-pkg-config $(pkg-config --cflags --libs tracenorm) && ./by-pkg-config
bash -c '. /usr/share/bash-completion/bash_completion; _completion_loader tracenorm || test $? = 124
         COMP_WORDS=(tracenorm complete --rad); COMP_CWORD=2; _tracenorm; test "${COMPREPLY[*]}" = --radius'
test -f /usr/share/man/man1/tracenorm.1.gz
man -l /usr/share/man/man1/tracenorm.1.gz | grep -q 'tracenorm - low-rank'
apt-get remove -q -y tracenorm libtracenorm-dev
! test -e /usr/bin/tracenorm -o -e /usr/include/tracenorm -o -e /usr/share/bash-completion/completions/tracenorm
END
  inside deb sh /try/run.sh > "$roots/deb.run.log" 2>&1 || { tail -30 "$roots/deb.run.log" && exit 1; }
}

sdist() {
  say "the source distribution, without git, in a fresh virtual environment"
  rm -rf "$roots/sdist" && mkdir "$roots/sdist"
  tar -xf "$folder"/tracenorm-*.tar.gz -C "$roots/sdist"
  python3 -m venv "$roots/sdist/venv"
  (cd "$roots/sdist/tracenorm-$(cat VERSION)" && GIT_DIR=/nonexistent ../venv/bin/pip install --quiet . --config-settings=cmake.define.TRACENORM_CUDA=OFF)
  readme_example > "$roots/sdist/example.py"
  (cd "$roots/sdist" && venv/bin/python example.py)
}

wheel() { # in a system without a compiler, BLAS or network: what the wheel does not hold is not there
  say "the wheel in $1"
  bare_system "$1" "wheel-$1"
  root=$roots/wheel-$1
  version=$(inside "wheel-$1" python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  mkdir "$root/try" && cp "$folder"/*.whl "$root/try"
  python3 -m venv --clear "$roots/pip"
  "$roots/pip/bin/pip" download --quiet --only-binary :all: --python-version "$version" --platform manylinux_2_17_x86_64 --platform manylinux2014_x86_64 \
    --platform manylinux_2_27_x86_64 --platform manylinux_2_28_x86_64 --dest "$root/try" 'numpy>=1.24' 'scipy>=1.10'
  readme_example > "$root/try/example.py"
  echo 'print(tracenorm.__version__, __import__("sys").version)' >> "$root/try/example.py"
  inside "wheel-$1" sh -ec 'cd /try
    if ls /usr/lib/x86_64-linux-gnu | grep -E "openblas|lapack|archive|fmt|gfortran"; then echo "the bare system is not bare" && exit 1; fi
    python3 -m venv venv; venv/bin/pip install --quiet --no-index --find-links . tracenorm; venv/bin/python example.py'
}

for what in "$@"; do
  case $what in
    lint | deb | sdist) $what ;;
    *) wheel "$what" ;;
  esac
done
say "all packages work"
