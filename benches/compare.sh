#!/usr/bin/env bash
# Builds corr as users get it, makes 1 GB of scheduler log in DIR and measures: the index beside the naive one, questions beside ripgrep.
#   benches/compare.sh DIR [--bytes N] [--seed N] [--short]
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
(cd "$here" && cargo build --release -p corr -p corr-benches)
"${CARGO_TARGET_DIR:-$here/target}/release/compare" "$@"
