#!/usr/bin/env python3
"""What DuckDB needs for the questions of metrics-index: CPU seconds of a process each, one thread.

usage: metrics_duck.py FILE [RUNS]      (FILE of metrics-data; 3 runs, of which the least is printed)

Each question runs in a process of its own. The CPU of an empty one, which loads DuckDB and opens the file's metadata, is taken off.
"""

import resource
import subprocess
import sys

QUESTIONS = {
    "nothing but the metadata": "SELECT count(*) FROM read_parquet({file})",
    "scan the three columns": "SELECT sum(value), max(timestamp), max(metric) FROM read_parquet({file})",
    "scan times and values": "SELECT sum(value), max(timestamp) FROM read_parquet({file})",
    # Rows lie by series and time, but nothing says so to the engine.
    "last less first of each series": "SELECT count(*), sum(delta) FROM (SELECT metric, arg_max(value, timestamp) - arg_min(value, timestamp)"
    " AS delta FROM read_parquet({file}) GROUP BY metric)",
}


def ask(path: str, question: str) -> None:
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET threads=1")
    quoted = "'" + path.replace("'", "''") + "'"
    row = connection.execute(QUESTIONS[question].format(file=quoted)).fetchone()
    print(*row)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{peak:.0f}")


def cpu(path: str, question: str) -> tuple[float, str, float]:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = subprocess.run([sys.executable, __file__, "--ask", path, question], check=True, capture_output=True, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    answer, peak = out.splitlines()
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, answer, float(peak)


def main() -> None:
    if sys.argv[1:2] == ["--ask"]:
        return ask(*sys.argv[2:4])
    if len(sys.argv) < 2:
        sys.exit("usage: metrics_duck.py FILE [RUNS]")
    try:
        import duckdb
    except ImportError:
        print("skipped: the Python module duckdb is not installed")
        return
    path, runs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    print(f"DuckDB {duckdb.__version__}, one thread, {path}")
    empty = 0.0
    for i, question in enumerate(QUESTIONS):
        seconds, answer, peak = min(cpu(path, question) for _ in range(runs))
        if i == 0:
            empty = seconds
            print(f"{question:32} {seconds:6.2f} CPU s  (taken off below)  answer {answer}")
        else:
            print(f"{question:32} {seconds - empty:6.2f} CPU s  peak {peak:5.0f} MiB  answer {answer}")


if __name__ == "__main__":
    main()
