#!/bin/sh
# Counts the kinds of every source of sources.tsv by grep alone and prints `source<TAB>kind<TAB>count`, which is counts.tsv.
# Usage: sh count.sh CASES > counts.tsv. With `lines` as a second argument it prints instead the lines that no or more than one pattern matches.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cases=$1
tab=$(printf '\t')
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
grep -v '^#' "$here/patterns.tsv" > "$work/patterns"
grep -v '^#' "$here/sources.tsv" | while IFS="$tab" read -r source filter; do
    sh -c "$filter" < "$cases/$source" | LC_ALL=C.UTF-8 sed -E -f "$here/normalise.sed" > "$work/lines"
    if [ "${2-}" = lines ]; then
        : > "$work/hits"
        while IFS="$tab" read -r kind pattern; do
            LC_ALL=C.UTF-8 grep -anE -- "$pattern" "$work/lines" | cut -d: -f1 >> "$work/hits" || true
        done < "$work/patterns"
        sort -n "$work/hits" | uniq -d | sed "s|^|$source twice |"
        sort -nu "$work/hits" > "$work/once"
        awk 'NR == FNR { hit[$1]; next } !(FNR in hit) && /^[^ \t]/' "$work/once" "$work/lines" | cut -c1-100 | sed "s|^|none |"
    else
        while IFS="$tab" read -r kind pattern; do
            n=$(LC_ALL=C.UTF-8 grep -acE -- "$pattern" "$work/lines" || true)
            [ "$n" = 0 ] || printf '%s\t%s\t%s\n' "$source" "$kind" "$n"
        done < "$work/patterns"
    fi
done
