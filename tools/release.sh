#!/bin/sh
# Makes everything that a release consists of, in packages/: source distribution, wheels, Debian packages, notes, checksums.
# Usage: tools/release.sh [--dry-run]      --dry-run checks what can be checked at once, makes nothing, and lists what would be made
# It starts from a clean tree: everything is built from a copy of the commit, so that nothing that git does not know gets in.
# Interpreters: one of 3.10, 3.11 and 3.12 or later as far as they are on the path, or PYTHONS="...". It publishes nothing.
set -eu
cd "$(dirname "$0")/.."
dry_run=no
case ${1-} in
  '') ;;
  --dry-run) dry_run=yes ;;
  *) sed -n '2,5s/^# //p' "$0" && exit 2 ;;
esac

version=$(cat VERSION)
failed=no
check() { # check SENTENCE COMMAND...
  sentence=$1 && shift
  if said=$("$@" 2>&1); then echo "ok      $sentence"; else
    echo "FAILED  $sentence"
    [ -z "$said" ] || echo "$said" | sed 's/^/        /'
    failed=yes
  fi
}
tree_is_clean() { said=$(git status --porcelain) && echo "$said" && [ -z "$said" ]; }
tag_is_free() { ! git rev-parse -q --verify "refs/tags/v$version" || [ "$(git rev-parse "v$version^{commit}")" = "$(git rev-parse HEAD)" ]; }
is_a_version() { echo "$version" | grep -qE '^[0-9]+\.[0-9]+\.[0-9]+$'; }

check "VERSION is three numbers: $version" is_a_version
check "copies of the version agree" python3 -B tools/versions.py
check "CHANGELOG.md has a section of this version, with its date" python3 -B tools/versions.py --notes
check "the tree is clean" tree_is_clean
check "no other commit has the tag v$version" tag_is_free

if [ -z "${PYTHONS-}" ]; then
  PYTHONS=
  for minor in 10 11 12; do
    if command -v python3.$minor > /dev/null && python3.$minor -c 'import venv' 2> /dev/null; then PYTHONS="$PYTHONS python3.$minor"; fi
  done
fi
check "there is a Python to make wheels with: $(echo $PYTHONS)" test -n "$PYTHONS"

if [ $dry_run = yes ]; then
  echo "would make in packages/: tracenorm-$version.tar.gz, a wheel for each of $(echo $PYTHONS),"
  echo "  tracenorm_$version-1_*.deb, libtracenorm-dev_$version-1_*.deb, NOTES.md, SHA256SUMS"
  [ $failed = no ] || exit 1
  exit 0
fi
[ $failed = no ] || exit 1

rm -rf packages build-packages/release
mkdir -p packages build-packages
git clone --quiet --no-hardlinks . build-packages/release
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) && export SOURCE_DATE_EPOCH
${MAKE:-make} -C build-packages/release PYTHONS="$PYTHONS" dist deb
cp build-packages/release/packages/*.whl build-packages/release/packages/*.tar.gz build-packages/release/packages/*.deb packages/
python3 -B tools/versions.py --notes > packages/NOTES.md
(cd packages && sha256sum -- *.whl *.tar.gz *.deb NOTES.md > SHA256SUMS && sha256sum --quiet --check SHA256SUMS)
ls -l packages
echo "Try them: make test-packages. Then: git tag -s v$version, and publish what is in packages/."
