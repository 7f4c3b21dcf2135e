#!/bin/sh
# Counts the records of Dynamo's captures by kind, with jq, sed and grep alone: `count.sh CASES > tables`. A line is `source kind count`.
# The patterns beside this file decide the kind of a log line; each line must match exactly one, or none and then goes by its target.
# Rows of traces, audits and the event plane go by what their JSON says.
set -eu
cases=$1
here=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
spans='(http-request|completions|completions_single|responses|handle_payload|client_request|(kv_router|router|request|response|worker)\.[a-z_.]+)'

# "LEVEL TARGET: MESSAGE" a log line, "ROW kind" a trace row between lines, "- line" for all else.
lines() {
  zcat -f "$1" | sed 's/\x1b\[[0-9;]*m//g; s/\r$//' | jq -Rr '
    if startswith("{\"time\"") then
      (fromjson? // null) as $d | if $d == null then "- " + . else "\($d.level) \($d["log.target"] // $d.target): \($d.message | tostring | gsub("\n"; " "))" end
    elif startswith("{\"schema\"") then (fromjson? // null) as $d | if $d == null then "- " + . else "ROW " + $d.event_type end
    elif test("^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\\.[0-9]{6}(Z|[+-][0-9:]{5}) (TRACE|DEBUG| INFO| WARN|ERROR) ") then
      sub("^[^ ]+ +"; "")
    else "- " + . end' | sed -E "s/^([A-Z]+) $spans(:$spans)*: /\1 /"
}

log() {
  lines "$1" > "$tmp/lines"
  grep -E '^[A-Z]+ ' "$tmp/lines" | grep -v '^ROW ' > "$tmp/log" || true
  cp "$tmp/log" "$tmp/left"
  sum=0
  while IFS="$(printf '\t')" read -r kind pattern; do
    case $kind in '#'*) continue ;; esac
    n=$(grep -cE -- "$pattern" "$tmp/log" || true)
    sum=$((sum + n))
    [ "$n" = 0 ] || echo "$2 $kind $n"
    grep -vE -- "$pattern" "$tmp/left" > "$tmp/next" || true
    mv "$tmp/next" "$tmp/left"
  done < "$here/patterns.tsv"
  # What has no pattern: Python's by its target without `::`, errors, the rest.
  python=$(grep -cE '^[A-Z]+ [a-z_]+\.[a-z_]+: ' "$tmp/left" || true)
  error=$(grep -E '^ERROR ' "$tmp/left" | grep -cvE '^[A-Z]+ [a-z_]+\.[a-z_]+: ' || true)
  rest=$(wc -l < "$tmp/left")
  [ "$python" = 0 ] || echo "$2 dynamo_python $python"
  [ "$error" = 0 ] || echo "$2 dynamo_error $error"
  [ $((rest - python - error)) = 0 ] || echo "$2 dynamo_log $((rest - python - error))"
  [ $((sum + rest)) = "$(wc -l < "$tmp/log")" ] || echo "$2: a line has two kinds" >&2
  grep '^ROW ' "$tmp/lines" | sort | uniq -c | while read -r n _ kind; do echo "$2 $kind $n"; done
  # Foreign text, but for what goes on a record: blank and indented lines, a traceback, the cause that an error prints behind two line ends.
  grep -E '^- ' "$tmp/lines" | grep -vE '^- ($|[[:space:]]|Caused by:|Traceback |Exception: )' > "$tmp/foreign" || true
  n=$(grep -cE '\.py:[0-9]+: [A-Z][A-Za-z]*Warning: ' "$tmp/foreign" || true)
  [ "$n" = 0 ] || echo "$2 python_warning $n"
  n=$(($(wc -l < "$tmp/foreign") - n))
  [ "$n" = 0 ] || echo "$2 text $n"
}

rows() {
  zcat -f "$1" | jq -r '(.event // .) | if .schema_version then "audit_record" else .event_type end' | sort | uniq -c |
    while read -r n kind; do echo "$2 $kind $n"; done
}

wire() {
  zcat -f "$1" | jq -r '
    if .connect then "event_subscription"
    elif .topic == "kv-events" then
      (.envelope.payload | if type == "array" then . else [.] end | map(.event.data | if type == "object" then keys[0] else . end) | unique) as $sorts
      | if ($sorts | length) == 1 then "kv_" + $sorts[0] else "kv_events" end
    elif .topic == "kv_metrics" then "kv_metrics"
    elif .topic == "active_sequences_events" then "active_sequences"
    elif .topic == "forward-pass-metrics" then "forward_pass"
    elif .topic == "agent-tool-events" then .envelope.payload.event_type
    else "event_message" end' | sort | uniq -c | while read -r n kind; do echo "$2 $kind $n"; done
}

otlp() {
  echo "$2 otlp_resource $(wc -l < "$1")"
  echo "$2 otlp_span $(jq '[.resourceSpans[].scopeSpans[].spans[]] | length' "$1" | paste -sd+ | bc)"
}

cd "$cases"
for file in dynamo/*/frontend*.log* dynamo/*/[wpd][12]*.log* dynamo/line-samples/*.txt tachometer/run_dynamo/*/logs/router.log \
  tachometer/run_dynamo/*/logs/worker-*.log tachometer/run_slurm_tacho_asshipped/logs/node01_frontend_0.out; do
  log "$file" "$file"
done
for file in dynamo/*/trace/*.gz dynamo/*/audit/*.gz tachometer/run_dynamo/*/artifacts/*.jsonl.gz; do
  rows "$file" "$file"
done
for file in dynamo/*/kv_events_wire.jsonl.gz; do
  wire "$file" "$file"
done
for file in sglang-samples/otlp-traces-*.jsonl; do
  otlp "$file" "$file"
done
