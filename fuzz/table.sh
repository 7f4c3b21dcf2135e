#!/usr/bin/env bash
# logs/runs.tsv as the table of README.md: all runs of a target together, features of the last.
cd "$(dirname "$0")" || exit 1
printf '| target | inputs | seconds | features | crashes |\n|---|---:|---:|---:|---:|\n'
awk -F'\t' '
    !($1 in inputs) { order[++n] = $1 }
    { inputs[$1] += $2; seconds[$1] += $3; features[$1] = $4; crashes[$1] += $5 }
    END {
        for (i = 1; i <= n; i++) {
            t = order[i]
            printf "| %s | %d | %d | %d | %d |\n", t, inputs[t], seconds[t], features[t], crashes[t]
            sum += inputs[t]; time += seconds[t]; bad += crashes[t]
        }
        printf "| all %d | %d | %d | | %d |\n", n, sum, time, bad
    }' logs/runs.tsv
