#!/bin/bash
# The runs behind the numbers of the README: ML-100k, ego-Facebook, a synthetic covariance.
# Usage: experiments/show_foundation.sh DATA_DIR [PROGRAM]
# DATA_DIR holds u.data (MovieLens 100K) and facebook_combined.txt (SNAP ego-Facebook), both as published, .gz or .xz at will.
set -euo pipefail

data=${1:?usage: experiments/show_foundation.sh DATA_DIR [PROGRAM]}
program=${2:-build/bin/tracenorm}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# find_data NAME: the file, plain or compressed.
find_data() {
  local candidate
  for candidate in "$data/$1" "$data/$1.xz" "$data/$1.gz"; do
    if [ -f "$candidate" ]; then
      echo "$candidate"
      return
    fi
  done
  echo "show_foundation.sh: no $1 in $data" >&2
  exit 3
}

# field FILE NAME: the value of the first "NAME": in a report of the program.
field() { sed -n 's/^ *"'"$2"'": "\{0,1\}\([^",]*\)"\{0,1\},\{0,1\}$/\1/p' "$1" | head -n 1; }

"$program" info

echo
echo "ML-100k: z-scores, 50/25/25, absolute loss, radius 1200, the paper's width, 500 iterations, the iterate best on the validation part"
ratings=$(find_data u.data)
printf '%4s %8s %8s %9s %10s %12s %8s\n' seed z-RMSE RMSE iteration objective 'lower bound' seconds
for seed in 1 2 3 4 5; do
  run=$work/ml-$seed.json
  "$program" complete "$ratings" --radius 1200 --width paper --split 0.5,0.25,0.25 --iterations 500 --seed $seed --json "$run" --quiet
  test_part=$(sed -n '/"test": {/,/}/p' "$run")
  echo "$test_part" > "$work/test.json"
  printf '%4d %8.4f %8.4f %9d %10.1f %12.1f %8.1f\n' $seed "$(field "$work/test.json" rmse_prepared)" \
    "$(field "$work/test.json" rmse)" "$(field "$run" solution_iteration)" "$(field "$run" objective)" \
    "$(field "$run" lower_bound)" "$(field "$run" seconds)"
  # The gap of the last iterate: `objective` is of the one that is best on validation.
  awk -F '[:,]' '/"objective"/ { o = $2 } /"lower_bound"/ { l = $2 } END { printf "%.6f\n", (o - l) / l }' \
    <(sed -n '/"trace": \[/,/^ \]/p' "$run") >> "$work/gaps"
  field "$work/test.json" rmse_prepared >> "$work/errors"
done
awk '{ s += $1; q += $1 * $1; n++ } END { m = s / n; printf "z-RMSE: mean %.4f, deviation %.4f\n", m, sqrt((q - n * m * m) / (n - 1)) }' "$work/errors"
awk '{ s += $1; n++ } END { printf "certified gap of the last iterate: mean %.1f %%\n", 100 * s / n }' "$work/gaps"

echo
echo "ego-Facebook: half of the pairs observed, no flips, squared loss, l1 0.01, radius 1052.88, 300 iterations"
"$program" links "$(find_data facebook_combined.txt)" --radius 1052.88 --l1 0.01 --observed 0.5 --iterations 300 \
  --json "$work/links.json" --quiet
printf 'AUC %.4f, objective %.1f, certified gap %.2f %%, %.1f s\n' "$(field "$work/links.json" auc)" \
  "$(field "$work/links.json" objective)" \
  "$(awk -v g="$(field "$work/links.json" relative_gap)" 'BEGIN { print 100 * g }')" "$(field "$work/links.json" seconds)"

echo
echo "Covariance, n = 750: squared loss / 2, l1 0.4, radius 43.92, 300 iterations"
"$program" generate covariance "$work/noisy.npy" --n 750 --seed 1 --quiet
printf '%-22s %12s %14s %8s\n' method objective 'certified gap' seconds
while read -r name options; do
  # shellcheck disable=SC2086
  "$program" denoise "$work/noisy.npy" --radius 43.92 --l1 0.4 --loss squared:0.5 --iterations 300 $options \
    --json "$work/run.json" --quiet
  printf '%-22s %12.3f %13.2f%% %8.1f\n' "$name" "$(field "$work/run.json" objective)" \
    "$(awk -v g="$(field "$work/run.json" relative_gap)" 'BEGIN { print 100 * g }')" "$(field "$work/run.json" seconds)"
done << 'METHODS'
fwua --method fwua
fwua(hybrid) --method fwua --width hybrid
fwua(paper) --method fwua --width paper
sccg(mu=0.01) --method sccg --mu 0.01
hcgs --method hcgs
METHODS
