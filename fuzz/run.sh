#!/usr/bin/env bash
# Runs fuzz targets one after another, each for so many seconds, and adds a line for each to logs/runs.tsv:
# target, inputs, seconds, features, crashes. `fuzz/run.sh 600` gives all of them ten minutes; names of targets behind it choose some.
set -uo pipefail
cd "$(dirname "$0")"
seconds=${1:?seconds for each target}
shift
mkdir -p logs artifacts
built=target/x86_64-unknown-linux-gnu/release
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
    mapfile -t targets < <(sed -n 's/^name = "\(.*\)"$/\1/p' Cargo.toml | grep -v '^corr-fuzz$')
fi
for target in "${targets[@]}"; do
    mkdir -p "corpus/$target" "artifacts/$target"
    before=$(find "artifacts/$target" -type f | wc -l)
    nice -n 15 "$built/$target" "corpus/$target" -artifact_prefix="artifacts/$target/" -max_total_time="$seconds" \
        -rss_limit_mb=2048 -timeout=10 -max_len=20000 -print_final_stats=1 >"logs/$target.log" 2>&1
    inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "logs/$target.log")
    took=$(sed -n 's/^Done [0-9]* runs in \([0-9]*\) second.*/\1/p' "logs/$target.log")
    features=$(grep -o ' ft: [0-9]*' "logs/$target.log" | tail -1 | cut -d' ' -f3)
    crashes=$(($(find "artifacts/$target" -type f | wc -l) - before))
    printf '%s\t%s\t%s\t%s\t%s\n' "$target" "${inputs:-?}" "${took:-?}" "${features:-?}" "$crashes" | tee -a logs/runs.tsv
done
