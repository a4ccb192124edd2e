#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts equal text keys with the hash table on the CPU device, beside DuckDB and Polars.

    python3 -m venv venv && venv/bin/pip install -r bench/ops/requirements.txt
    venv/bin/python bench/table/peers.py [--build build/release] [--pairs 10000000] [--keys 1000000] [--memory-mib 160] [--rounds 3]

All read the same file of lines and run 2 threads, in turn. The memory limit is DuckDB's memory_limit; of the table, half is for
what is on the device (heap, buckets, chunks of lines) and half for entries in host memory, beyond which they go to a file. Polars
has no limit: its streaming engine runs, and its peak is given. Writes bench/results/<date>-table-text.json.gz and .md.
"""
import argparse
import datetime
import importlib.metadata
import os
import pathlib
import random
import shlex
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import about  # noqa: E402
ENGINES = ["warpage", "duckdb", "polars"]
CHUNK_BYTES = 2 * ((8 << 20) + (1 << 20) + 8192)  # lines and their starts: text.cu
DUCKDB = """
import duckdb, sys, time
path, folder, limit = sys.argv[1:]
c = duckdb.connect()
c.execute(f"SET memory_limit='{limit}MiB'; SET temp_directory='{folder}'; SET threads=2; SET preserve_insertion_order=false; SET enable_progress_bar=false")
start = time.monotonic_ns()
c.execute(f"CREATE TABLE g AS SELECT k, count(*) AS n FROM read_csv('{path}', header=false, auto_detect=false, delim=',', "
          "columns={'k': 'VARCHAR'}) GROUP BY k")
end = time.monotonic_ns()
print(end - start, *c.execute("SELECT count(*), sum(n)::BIGINT FROM g").fetchone())
"""
POLARS = """
import sys, time, polars
start = time.monotonic_ns()
g = polars.scan_csv(sys.argv[1], has_header=False, new_columns=["k"], schema_overrides=[polars.String]).group_by("k").agg(
    polars.len().alias("n")).collect(engine="streaming")
end = time.monotonic_ns()
print(end - start, g.height, int(g["n"].sum()))
"""


def write_lines(path, pairs, keys):
    source = random.Random(1)
    names = [f"/{source.getrandbits(32):x}/{number:x}/{'page' * source.randrange(1, 5)}" for number in range(keys)]
    with open(path, "w", encoding="ascii") as file:
        for first in range(0, pairs, 100000):
            file.write("\n".join(source.choices(names, k=min(100000, pairs - first))) + "\n")


def run(options, folder, engine):
    """(ns, groups, rows, peak in bytes, processor seconds of the process, the program's other numbers)"""
    lines, limit = folder / "lines", options.memory_mib
    buckets = 1 << (options.keys - 1).bit_length() - 1
    heap = (limit << 19) - CHUNK_BYTES - 8 * buckets
    command = {"warpage": [folder / "text", lines, buckets, heap, limit << 19],
               "duckdb": [sys.executable, "-c", DUCKDB, lines, folder / "spill", limit],
               "polars": [sys.executable, "-c", POLARS, lines]}[engine]
    environment = dict(os.environ, WARPAGE_DEVICE="cpu", WARPAGE_WORKERS="2", POLARS_MAX_THREADS="2", TMPDIR=str(folder))
    with subprocess.Popen([str(word) for word in command], env=environment, stdout=subprocess.PIPE, text=True) as process:
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{engine}: exit status {process.returncode}")
    numbers = [int(number) for number in output.split()]
    return numbers[0], numbers[1], numbers[2], usage.ru_maxrss << 10, usage.ru_utime + usage.ru_stime, numbers[3:]


def page(report):
    settings, rows = report["settings"], {row["engine"]: row for row in report["results"]}
    ours, more = rows["warpage"]["median_ns"], rows["warpage"]["more"]
    lines = ["# Text keys: the hash table beside DuckDB and Polars", "",
             f"{report['date']}, commit {report['commit']}. `{report['command']}`", "",
             f"{settings['pairs']:,} lines of a file, {rows['warpage']['groups']:,} different, are counted by 2 threads within",
             f"{settings['memory_mib']} MiB, spilling on. Median of {settings['rounds']} rounds on {report['machine']['cpu']},",
             f"load average before: {report['machine']['load_average_before'][0]:.1f}. {report['versions']}.", "",
             "| engine | time, s | M lines/s | time over the table's | processor time of the process, s | its peak, MiB |",
             "|---|---|---|---|---|---|"]
    for engine in ENGINES:
        row = rows[engine]
        lines.append(f"| {engine} | {row['median_ns'] / 1e9:.2f} | {settings['pairs'] / row['median_ns'] * 1e3:.2f} | "
                     f"{row['median_ns'] / ours:.2f} | {row['processor_s']:.1f} | {row['peak_bytes'] / 2**20:.0f} |")
    lines += ["", f"The table took {more[0]} passes, and {more[1] / 2**20:.0f} MiB of it went to a file. Its process also has the "
              "lines in memory,", "which the limit leaves out. Polars has no memory limit."]
    if report["machine"]["load_average_before"][0] > 2:
        lines[-1] += " Other work kept the processors busy: compare processor times."
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="build tree")
    parser.add_argument("--pairs", type=int, default=10**7, help="lines (default: 10000000)")
    parser.add_argument("--keys", type=int, default=10**6, help="different ones, at most (default: 1000000)")
    parser.add_argument("--memory-mib", type=int, default=160, help="limit in MiB (default: 160)")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each engine, in turn (default: 3)")
    parser.add_argument("--dry", action="store_true", help="print the page, write nothing")
    options = parser.parse_args()
    before = os.getloadavg()
    results = {engine: [] for engine in ENGINES}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([options.build.resolve() / "bin/wpcc", "-O3", ROOT / "bench/table/text.cu", "-o", folder / "text"], check=True)
        write_lines(folder / "lines", options.pairs, options.keys)
        for turn in range(options.rounds):
            for engine in ENGINES:
                results[engine].append(run(options, folder, engine))
            print(f"round {turn + 1} of {options.rounds}", flush=True)
    found = {each[1:3] for runs in results.values() for each in runs}
    if len(found) != 1:
        sys.exit(f"the engines do not agree: {found}")
    rows = [{"engine": engine, "n": options.pairs, "times_ns": [each[0] for each in runs], "groups": runs[0][1],
             "median_ns": statistics.median(each[0] for each in runs), "peak_bytes": max(each[3] for each in runs),
             "processor_s": statistics.median(each[4] for each in runs), "more": runs[0][5]} for engine, runs in results.items()]
    report = {"schema": "warpage-bench-1", "bench": "table-text", "date": datetime.date.today().isoformat(),
              "command": "python " + shlex.join(["bench/table/peers.py", *sys.argv[1:]]), "commit": about.checked_out(),
              "versions": ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("duckdb", "polars")),
              "machine": {**about.machine(), "load_average_before": before, "load_average_after": os.getloadavg()},
              "settings": {"pairs": options.pairs, "keys": options.keys, "memory_mib": options.memory_mib, "rounds": options.rounds},
              "results": rows}
    print(page(report))
    if not options.dry:
        base = ROOT / "bench/results" / f"{report['date']}-table-text"
        about.write_raw(base, report)
        base.with_suffix(".md").write_text(page(report))


if __name__ == "__main__":
    main()
