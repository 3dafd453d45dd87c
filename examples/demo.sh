#!/bin/sh
# Makes a low-rank matrix, hides four fifths of it, corrupts a tenth of the rest, and recovers it with two losses.
# Usage: examples/demo.sh [PROGRAM [FOLDER]]
set -eu

program=${1:-build/bin/tracenorm}
out=${2:-demo-output}
mkdir -p "$out"

if [ -t 1 ]; then bold=$(printf '\033[1m') plain=$(printf '\033[0m'); else bold='' plain=''; fi

# field FILE NAME: the value of the first "NAME": in a report of the program (one field per line).
field() { sed -n 's/^ *"'"$2"'": "\{0,1\}\([^",]*\)"\{0,1\},\{0,1\}$/\1/p' "$1" | head -n 1; }

"$program" generate completion "$out/observed.tsv" --rows 1000 --cols 800 --rank 5 --observed 0.2 --outliers 0.1 \
  --truth "$out/clean.tsv" --json "$out/problem.json" --quiet
trace_norm=$(field "$out/problem.json" trace_norm)
radius=$(awk -v t="$trace_norm" 'BEGIN { printf "%.0f", 1.01 * t }')

echo "A $(field "$out/problem.json" rows) x $(field "$out/problem.json" cols) matrix of rank $(field "$out/problem.json" rank)" \
  "with entries of deviation 1 and trace norm $(printf %.0f "$trace_norm")."
echo "Seen: $(field "$out/problem.json" observed) entries, $(field "$out/problem.json" outliers) of them wrong by 5 to 10." \
  "Radius: $radius."
echo

for loss in absolute squared; do
  "$program" complete "$out/observed.tsv" --prepare none --radius "$radius" --loss $loss --iterations 500 \
    --test "$out/clean.tsv" --model "$out/$loss.npz" --json "$out/$loss.json" > "$out/$loss.txt"
done

# row LOSS: its line of the table.
row() {
  printf '%-10s %16.4f %15.2f%% %9.1f\n' "$1" "$(field "$out/$1.json" rmse)" \
    "$(awk -v g="$(field "$out/$1.json" relative_gap)" 'BEGIN { print 100 * g }')" "$(field "$out/$1.json" seconds)"
}
printf '%s%-10s %16s %16s %9s%s\n' "$bold" loss 'recovery error' 'certified gap' seconds "$plain"
row absolute
row squared
echo
echo "Recovery error: RMSE on $(field "$out/absolute.json" entries) entries that were not seen, against their true values."
echo "Certified gap: a dual bound shows that the objective is at most this far above its optimum."
echo

awk 'NR % 10000 == 5000' "$out/clean.tsv" > "$out/pairs.tsv"
for loss in absolute squared; do
  "$program" predict "$out/$loss.npz" "$out/pairs.tsv" --output "$out/$loss.tsv"
done
printf '%s%-10s %16s %16s %9s%s\n' "$bold" 'unseen' 'absolute' 'squared' 'truth' "$plain"
paste "$out/absolute.tsv" "$out/squared.tsv" "$out/pairs.tsv" |
  awk -F '\t' '{ printf "%-10s %16.3f %16.3f %9.3f\n", "(" $1 "," $2 ")", $3, $6, $9 }'
echo

echo "Written to $out/:"
echo "  observed.tsv, clean.tsv, problem.json   the data, the held-out truth, how they were made"
echo "  absolute.npz, squared.npz               the models: numpy.load opens them, 'tracenorm predict' uses them"
echo "  absolute.json, squared.json             everything about each run: options, trace, certificate"
echo "  absolute.txt, squared.txt               the summaries the program printed"
echo "  pairs.tsv, absolute.tsv, squared.tsv    the entries above and their predictions"
