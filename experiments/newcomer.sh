#!/bin/bash
# What a newcomer meets, thing by thing: on files made here, each line says what was wrong in version 0.1 and what comes now.
#
#     experiments/newcomer.sh [PROGRAM]          from the project's root, after `make build`; a minute or so
#
# Exit code 1 when something is not as it should be. What needs the Python package is skipped where that is not installed.
set -u
program=$(realpath "${1:-build/bin/tracenorm}") || exit 2
[ -x "$program" ] || { echo "newcomer.sh: '$program' is not there; make build, or give the program" >&2; exit 2; }
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
wrong=0

# say ITEM BEFORE NOW [CONDITION...]: the command must succeed.
say() {
    local item=$1 before=$2 now=$3
    shift 3
    if [ $# -eq 0 ] || "$@"; then mark=ok; else mark=WRONG wrong=1; fi
    printf '%-6s %-3s before: %s\n           now:    %s\n' "$mark" "$item" "$before" "$now"
}
has() { grep -q -- "$1" "$2"; }
lacks() { ! grep -q -- "$1" "$2"; }
field() { sed -n "s/^ \"$1\": \([^,]*\),\{0,1\}$/\1/p" "$2"; }   # of the outermost object of a JSON file

# Ratings of 200 people for 80 films by taste in two directions: 1 to 5 stars.
awk 'BEGIN { srand(7); for (i = 1; i <= 200; ++i) { a[i] = rand() - .5; b[i] = rand() - .5 }
  for (j = 1; j <= 80; ++j) { c[j] = rand() - .5; d[j] = rand() - .5 }
  print "user,item,rating"
  for (i = 1; i <= 200; ++i) for (j = 1; j <= 80; ++j) if (rand() < .3) {
    s = int(3.5 + 6 * (a[i] * c[j] + b[i] * d[j]) + 1.2 * (rand() - .5)); s = s < 1 ? 1 : s > 5 ? 5 : s
    printf "u%d,f%d,%d\n", i, j, s } }' > ratings.csv
entries=$(($(wc -l < ratings.csv) - 1))

# 1. Pipes.
cat ratings.csv | "$program" complete - --radius 100 --iterations 5 --json pipe.json -q
"$program" complete <(cat ratings.csv) --radius 100 --iterations 5 --json fifo.json -q
say 1 "through a pipe the first 4 KiB were lost, exit 0" "$(field observed pipe.json) of $entries entries from -, $(field observed fifo.json) from <(...)" \
    test "$(field observed pipe.json)$(field observed fifo.json)" = "$entries$entries"

# 2. Headers that nobody knows.
awk -F, 'NR == 1 { print "rating_id,who,film,stars"; next } { print NR + 1000 "," $0 }' ratings.csv > strange.csv
"$program" complete strange.csv --radius 100 --iterations 5 > /dev/null 2> strange.err; code=$?
"$program" complete strange.csv --columns who,film,stars --radius 100 --iterations 5 > strange.out
say 2 "rating_id,who,film,stars: row, column, value = rating_id, who, film" "refused (exit $code), --columns is named; with it: $(grep ^columns strange.out | cut -c20-)" \
    test "$code" = 3
say 2 "" "the message shows --columns" has --columns strange.err

# 3. Pairs below an unknown header, an unclosed quote, Matrix Market behind a byte-order mark.
"$program" complete ratings.csv --model m.npz --report run.html --json run.json > run.out
printf 'person,movie\nu1,f1\n' > pairs.csv
"$program" predict m.npz pairs.csv > pairs.out 2> /dev/null
say 3 "predict took an unknown header for a pair" "$(wc -l < pairs.out) prediction for 1 pair" test "$(wc -l < pairs.out)" = 1
printf 'a,"x,1\nb,y,2\n' > quote.csv
"$program" complete quote.csv --radius 1 2> quote.err > /dev/null; code=$?
say 3 "an unclosed quote swallowed a line into an id" "exit $code: $(cut -c1-90 quote.err | head -1)" test "$code" = 3
printf '\xef\xbb\xbf%%%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 1\n2 2 2\n3 3 3\n' > bom
"$program" complete bom --radius 3 --prepare none --iterations 5 --json bom.json -q
say 3 "the size line of a Matrix Market file with a byte-order mark was an entry" "$(field observed bom.json) entries of 3" test "$(field observed bom.json)" = 3

# 4. A program of one's own, compiled for the machine.
if [ -d "$root/build/src" ] && [ -f "$root/build/src/libtracenorm_io.a" ] && command -v cmake > /dev/null; then
    cmake --install "$root/build" --prefix "$work/there" > install.log 2>&1
    cat > own.cpp <<'CPP'
#include <cstdio>
#include <tracenorm/tracenorm.hpp>
int main() {
  using namespace tracenorm;
  const io::NamedEntries ratings = io::read_entries("ratings.csv");
  FitOptions options{.radius = 100};
  options.run.iterations = 5;
  const Fit chosen = fit({ratings.rows, ratings.cols, ratings.entries}, options);
  std::printf("rank %d\n", chosen.result.solution.terms());
}
CPP
    if [ -f "$work/there/lib/pkgconfig/tracenorm.pc" ]; then pc=$work/there/lib/pkgconfig; else pc=$(dirname "$(find "$work/there" -name tracenorm.pc)"); fi
    if c++ -std=c++20 -O1 -march=native own.cpp -o own $(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs tracenorm) > own.log 2>&1; then
        ./own > own.out 2>&1; code=$?
    else code="does not compile: $(tail -1 own.log)"; fi
    say 4 "the README's example crashed (139) when compiled with -march=native" "exit $code, $(cat own.out 2> /dev/null)" test "$code" = 0
else
    echo "skipped 4  the library is not built in $root/build"
fi

# 5. Tables with holes, as Jester is published: a count first, 99 for "not rated".
awk 'BEGIN { srand(3); for (i = 1; i <= 40; ++i) { line = 20; for (j = 1; j <= 30; ++j)
  line = line "," (rand() < .4 ? 99 : sprintf("%.2f", 20 * rand() - 10)); print line } }' > jester.csv
"$program" complete jester.csv --missing 99 --skip-columns 1 --radius 50 --iterations 5 --json jester.json -q
holes=$(tail -n +1 jester.csv | cut -d, -f2- | tr ',' '\n' | grep -vc '^99$')
say 5 "taken for triplets, or 99 for a rating" "$(field rows jester.json) x $(field cols jester.json), $(field observed jester.json) ratings of $holes" \
    test "$(field rows jester.json)x$(field cols jester.json)/$(field observed jester.json)" = "40x30/$holes"

# 6. Test entries of people who were not there.
awk 'NR % 16' ratings.csv > train.csv
{ echo user,item,rating; awk 'NR % 16 == 0' ratings.csv; echo stranger,f1,5; } > test.csv
"$program" complete train.csv --test test.csv --json test.json > test.out
say 6 "left out of the RMSE, although predict answers them" "$(grep ^test test.out | cut -c20-)" \
    test "$(sed -n '/"test": {/,/}/s/.*"entries": \([0-9]*\).*/\1/p' test.json)" = "$(($(wc -l < test.csv) - 1))"
if python3 -c 'import tracenorm, sklearn' 2> /dev/null; then
    python3 -W error - > impute.out 2>&1 <<'PY'
import numpy as np, tracenorm
X = np.arange(12.0).reshape(4, 3); X[:, 1] = np.nan
try:
    out = tracenorm.RobustImputer(radius=10).fit_transform(X)
    print("columns kept:", out.shape[1])
except (Warning, ValueError) as words:
    print("says:", words)
PY
    say 6 "an all-NaN column was filled with 0 without a word" "$(tail -1 impute.out)" lacks "columns kept: 3" impute.out
else
    echo "skipped 6  the imputer's half: the Python package is not installed"
fi

# 7. The answer as people use it.
awk 'BEGIN { srand(5); for (i = 1; i <= 30; ++i) { line = ""; for (j = 1; j <= 20; ++j)
  line = line (j > 1 ? "," : "") sprintf("%.3f", i * j / 100 + .1 * (rand() - .5)); print line } }' > noisy.csv
"$program" denoise noisy.csv --output clean.csv --report clean.html -q
say 7 "denoise could not give the matrix" "clean.csv: $(wc -l < clean.csv) lines of $(head -1 clean.csv | tr ',' '\n' | wc -l) numbers" \
    test "$(wc -l < clean.csv)x$(head -1 clean.csv | tr ',' '\n' | wc -l)" = 30x20
"$program" recommend m.npz --all --top 3 --seen ratings.csv --output lists.tsv
say 7 "lists one row at a time" "recommend --all: $(cut -f1 lists.tsv | sort -u | wc -l) people, $(wc -l < lists.tsv) lines" test "$(wc -l < lists.tsv)" = 600
awk 'BEGIN { for (i = 1; i <= 200; ++i) for (j = 1; j <= 80; ++j) print "u" i "\tf" j }' > all.tsv
span=$("$program" predict m.npz all.tsv | cut -f3 | sort -g | sed -n '1p;$p' | tr '\n' ' ')
say 7 "a rating of 5.3 stars" "predictions from ${span% }" awk -v s="$span" 'BEGIN { split(s, a, " "); exit !(a[1] >= 1 && a[2] <= 5) }'
printf 'user,item,rating\nnina,f1,5\nnina,f2,1\nnina,f3,4\n' > newcomers.csv
"$program" recommend m.npz --new-rows newcomers.csv --top 2 > nina.out
say 7 "nothing for somebody new" "three ratings of nina: $(cut -f3 nina.out | tr '\n' ' ')" test "$(cut -f1 nina.out | sort -u)" = nina
"$program" similar m.npz --column f1 --top 3 > similar.out
say 7 "no similar films" "like f1: $(cut -f3,4 similar.out | tr '\t\n' ' ;')" test "$(wc -l < similar.out)" = 3

# 8. Small models.
size=$(stat -c %s m.npz); data=$(stat -c %s ratings.csv)
say 8 "ML-100k: rank 560 with singular values down to 1e-7, seven times the size of its data" \
    "rank $(field rank run.json) of 80, a model of $((size / 1024)) KiB from $((data / 1024)) KiB of data" test "$size" -lt "$data"

# 9. From Python.
if python3 -c 'import tracenorm' 2> /dev/null; then
    python3 -c 'import tracenorm; print(sorted(n for n in dir(tracenorm) if n in ("evaluate", "fit", "load", "solve")))' > names.out 2>&1
    say 9 "no evaluate from Python" "$(cat names.out)" has evaluate names.out
    python3 - > fold.out 2>&1 <<'PY'
import tracenorm
nina = (["nina"] * 3, ["f1", "f2", "f3"], [5.0, 1.0, 4.0])
print(*tracenorm.load("m.npz").fold_in(nina).recommend("nina", top=2, seen=nina)["column"])
PY
    say 9 "nothing for somebody new from Python" "fold_in of nina: $(cat fold.out)" test "$(cat fold.out)" = "$(cut -f3 nina.out | xargs)"
else
    echo "skipped 9  the Python package is not installed"
fi

# 10. Progress without a terminal.
if [ "${QUICK:-}" = "" ]; then
    "$program" complete ratings.csv --radius 100 --iterations 1000000 --time 11 > /dev/null 2> progress.err
    say 10 "nothing was printed for minutes" "$(head -1 progress.err)" has "^tracenorm: solving .*objective" progress.err
fi

# 11. The page.
say 11 "the path of radii as rows of #; 'the answer lies between'" "a chart of the path, the gap in per cent, pictures for denoise" \
    eval 'has "\"id\":\"radius-path\"" run.html && has "certified gap, %" run.html && has "the optimum lies between" run.html && has "before: the data" clean.html'
awk 'BEGIN { srand(2); for (a = 1; a < 60; ++a) for (b = a + 1; b <= 60; ++b) if (rand() < (a % 2 == b % 2 ? .5 : .05)) print a, b }' > edges.txt
"$program" links edges.txt --radius 30 --report links.html -q
say 11 "links without a curve" "ROC curve and top links" eval 'has "\"id\":\"roc\"" links.html && has "\"id\":\"top-links\"" links.html'

# 12. Words.
"$program" complete --help > help.out
say 12 "--help was 130 lines of every method's options" "$(wc -l < help.out) lines; --help-all has the rest" test "$(wc -l < help.out)" -lt 60
"$program" evaluate ratings.csv --folds 2 --radius 100 --iterations 20 > evaluate.out
say 12 "rank 560.0000, and not a word about columns" "$(grep ^rank evaluate.out), $(grep ^columns evaluate.out)" eval 'lacks "^rank.*\.0000" evaluate.out && has "^columns" evaluate.out'
"$program" predict ratings.csv pairs.csv 2> not.err > /dev/null
say 12 "a data file for a model: 'not a model'" "$(head -1 not.err | cut -d: -f3- | cut -c1-110)" has "tracenorm complete ratings.csv --model" not.err
"$program" complete ratings.csv --radius 100 --iterations 3 --json /dev/null --report /dev/null -q; code=$?
say 12 "--json /dev/null did not work for everybody" "exit $code" test "$code" = 0
"$program" complete ratings.csv --radius 1000 --iterations 2 > few.out
say 12 "'certified: objective is at most 1.232e+04 above the optimum', which is the objective" "$(tail -1 few.out)" \
    eval 'has "^no useful bound yet" few.out || has "^certified.*%" few.out'
(trap '' INT; exec "$program" complete ratings.csv --radius 100 --iterations 1000000 --time 2 --json ignored.json -q) &
job=$!; sleep 1; kill -INT $job; wait $job
say 12 "an inherited ignore of SIGINT was overridden" "status $(field status ignored.json)" test "$(field status ignored.json)" = '"time_limit"'

[ $wrong = 0 ] && echo "everything is as it should be" || echo "something is wrong"
exit $wrong
