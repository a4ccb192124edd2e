#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times group-by from a CSV file into a CSV file: `warpage groupby` beside DuckDB and Polars.

Every engine is a process that reads the same file, groups its rows, sorts the groups by key and writes
them. The results must be equal. Prints a table and writes bench/results/<date>-groupby-csv.json.gz and .md.
The peers: see groupby.py. See bench/README.md.
"""
import argparse
import datetime
import os
import pathlib
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import numpy

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "bench"))
import about  # noqa: E402
SEED = 20261122

DUCKDB = """
import duckdb, sys
table, out, threads = sys.argv[1:]
connection = duckdb.connect()
connection.execute(f"set threads = {threads}")
connection.execute(f"copy (select user, count(*) as count, sum(price) as sum_price from read_csv('{table}') "
                   f"group by user order by user) to '{out}' (header)")
"""
POLARS = """
import polars, sys
table, out, threads = sys.argv[1:]
polars.scan_csv(table).group_by("user").agg(polars.len().alias("count"), polars.col("price").sum().alias("sum_price")
                                            ).sort("user").collect(engine="streaming").write_csv(out)
"""


def say(text):
    print(text, file=sys.stderr, flush=True)


def write_table(path, rows, groups):
    import polars
    source = numpy.random.default_rng(SEED)
    with open(path, "wb") as file:
        for first in range(0, rows, 10**7):
            count = min(10**7, rows - first)
            frame = polars.DataFrame({"user": source.integers(0, groups, count), "price": source.integers(0, 10000, count)})
            frame.write_csv(file, include_header=first == 0)


def commands(table, out, threads, build):
    return {
        "warpage": [f"{build}/bin/warpage", "groupby", "--key", "user", "--agg", "count,sum:price", "--threads", str(threads),
                    "--output", out, table],
        "duckdb": [sys.executable, "-c", DUCKDB, table, out, str(threads)],
        "polars": [sys.executable, "-c", POLARS, table, out, str(threads)],
    }


def run_once(command, threads):
    """Wall seconds, processor seconds, and the largest resident set of any process so far, in bytes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    subprocess.run(command, check=True, env=dict(os.environ, POLARS_MAX_THREADS=str(threads)))
    seconds = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(groups, folder, args):
    table, times, cpu_times, results = f"{folder}/table.csv", {}, {}, {}
    say(f"{args.rows:,} rows, {groups:,} groups …")
    write_table(table, args.rows, groups)
    for number in range(args.runs + 1):  # one after the other, so that all have the same conditions
        for name in ("warpage", "duckdb", "polars"):
            out = f"{folder}/{name}.csv"
            seconds, cpu_seconds = run_once(commands(table, out, args.threads, args.build)[name], args.threads)
            if number > 0:
                times.setdefault(name, []).append(seconds)
                cpu_times.setdefault(name, []).append(cpu_seconds)
            results[name] = pathlib.Path(out).read_bytes()
    for name, result in results.items():
        if result != results["warpage"]:
            sys.exit(f"groupby_csv.py: the result of {name} differs")
    return {"groups": groups, "bytes": os.path.getsize(table), "times_s": times,
            "median_s": {name: statistics.median(all) for name, all in times.items()},
            "median_cpu_s": {name: statistics.median(all) for name, all in cpu_times.items()}}


def page(header, rows, args):
    lines = ["| groups | file, MB | warpage, s | duckdb, s (ratio) | polars, s (ratio) | processor time, s: warpage, duckdb, polars |",
             "|---|---|---|---|---|---|"]
    for row in rows:
        m = row["median_s"]
        lines.append(f"| {row['groups']:,} | {row['bytes'] / 1e6:,.0f} | {m['warpage']:.2f} | "
                     + " | ".join(f"{m[name]:.2f} ({m[name] / m['warpage']:.2f})" for name in ("duckdb", "polars"))
                     + " | " + ", ".join(f"{row['median_cpu_s'][name]:.2f}" for name in m) + " |")
    machine = header["machine"]
    return (f"# Group-by from a CSV file\n\n{header['date']}, commit {header['commit']}, {machine['cpu']}, {args.threads} threads on "
            f"{machine['processors']} processors, load {machine['load_average_before']} before. {header['versions']}.\n"
            f"Command: `{header['command']}`\n\n{args.rows:,} rows; count and sum by an integer key, sorted, written as CSV; from the "
            f"process's start to its end, medians of {args.runs} runs after one. A ratio is the peer's time over ours.\n\n"
            + "\n".join(lines) + "\n")


def main():
    import importlib.metadata
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", help="build tree (release)")
    parser.add_argument("--rows", type=lambda text: int(float(text)), default=10**8)
    parser.add_argument("--groups", type=lambda text: [int(float(part)) for part in text.split(",")], default=[1000, 10**6])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--results", default=str(ROOT / "bench/results"), help="folder for the results")
    parser.add_argument("--dry", action="store_true", help="write nothing")
    args = parser.parse_args()
    args.build = str((ROOT / args.build).resolve())
    before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        rows = [measure(groups, folder, args) for groups in args.groups]
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8")
                if line.startswith("model name")), platform.processor())
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    header = {
        "schema": "warpage-bench-1", "bench": "groupby-csv", "date": datetime.date.today().isoformat(),
        "commit": commit.stdout.strip(),
        "command": "python3 bench/ops/groupby_csv.py " + " ".join(a for a in sys.argv[1:] if not a.startswith("/")),
        "versions": ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("duckdb", "polars")),
        "rows": args.rows, "threads": args.threads,
        "machine": {"cpu": cpu, "processors": os.cpu_count(), "load_average_before": round(before, 2)},
    }
    text = page(header, rows, args)
    print(text)
    if not args.dry:
        target = pathlib.Path(args.results) / f"{header['date']}-groupby-csv"
        target.with_suffix(".md").write_text(text, encoding="utf-8")
        about.write_raw(target, {**header, "results": rows})


if __name__ == "__main__":
    main()
