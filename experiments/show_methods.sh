#!/bin/bash
# RDFW, RLRMC and GLRL on MovieLens 100K by the paper's protocol: z-scores, half to train on, a quarter to choose the iterate,
# a quarter to test, seeds 1 to 5. Usage: experiments/show_methods.sh U_DATA [PROGRAM]
set -euo pipefail
data=${1:?usage: $0 U_DATA [PROGRAM]}
program=${2:-build/bin/tracenorm}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

show() {  # NAME OPTIONS...
  local name=$1
  shift
  for seed in 1 2 3 4 5; do
    "$program" complete "$data" --split 0.5,0.25,0.25 --seed $seed --quiet --json "$work/$name-$seed.json" "$@"
  done
  python3 - "$name" "$work"/"$name"-*.json <<'PY'
import json, statistics, sys
runs = [json.load(open(path)) for path in sys.argv[2:]]
z = [run["test"]["rmse_prepared"] for run in runs]
print(f"{sys.argv[1]:14s} z-RMSE {statistics.mean(z):.4f} +- {statistics.stdev(z):.4f}"
      f"  rank {max(run['rank'] for run in runs):3d}  seconds {statistics.mean(run['seconds'] for run in runs):.2f}")
PY
}

show fwua    --method fwua --width paper --radius 1200 --iterations 500
show rdfw    --method rdfw --width paper --radius 1200 --iterations 500
show rdfw-60 --method rdfw --width paper --radius 1200 --iterations 500 --rank 60
show rdfw-complement --method rdfw --width paper --radius 1200 --iterations 500 --rank 60 --complement 0.001
show rlrmc   --method rlrmc --rank 2 --complement 0.001
show glrl    --method glrl --rank 10
