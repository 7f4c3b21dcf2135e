#!/usr/bin/env bash
# Builds corr as users get it, makes 1 GB of scheduler log in DIR and measures: the index beside the naive one, questions beside ripgrep.
#   benches/compare.sh DIR [--bytes N] [--seed N] [--short]
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
# One after the other: built together, corr would get the features that the naive index has.
(cd "$here" && cargo build --release -p corr-benches && cargo build --release -p corr)
"${CARGO_TARGET_DIR:-$here/target}/release/compare" "$@"
