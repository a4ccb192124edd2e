#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times group-by on the processor beside DuckDB and Polars, on columns in memory.

Every engine runs in a process of its own with the same columns and the same number of threads, by its
public interface, until its result lies in memory as columns. All must agree. Prints a table and writes
bench/results/<date>-groupby.json.gz and .md. The peers:

    python3 -m venv venv && venv/bin/pip install -r bench/ops/requirements.txt
    venv/bin/python bench/ops/groupby.py

See bench/README.md.
"""
import argparse
import concurrent.futures
import datetime
import json
import os
import pathlib
import platform
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
ENGINES = ["warpage", "duckdb", "polars"]
GROUPS = [10, 1000, 100_000, 1_000_000, 10_000_000]
QUERIES = {"count": [("count", None)], "sum and avg": [("sum", 0), ("avg", 0)],
           "count and sum": [("count", None), ("sum", 0)]}
SEED = 20261122
L2_BYTES = 2 << 20  # a core's; groups that fit need no partitions


def say(text):
    print(text, file=sys.stderr, flush=True)


def text_of(command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()


# ---- columns ----

def draw_keys(rows, groups, skew, kind):
    """Uniform, or Zipf with exponent 1; which key is frequent has nothing to do with its number."""
    source = numpy.random.default_rng(SEED)
    if skew == "uniform":
        return source.integers(0, groups, rows).astype(kind)
    shares = numpy.cumsum(1 / numpy.arange(1, groups + 1))
    names = source.permutation(groups).astype(kind)
    keys = numpy.empty(rows, kind)
    for first in range(0, rows, 10**7):
        part = keys[first:first + 10**7]
        ranks = numpy.searchsorted(shares, source.random(len(part)) * shares[-1])
        part[:] = names[numpy.minimum(ranks, groups - 1)]
    return keys


def typed_keys(keys, kind, are_spread):
    """Spread: as far apart as the type allows, each key still another one's."""
    keys = keys.astype(kind)
    if are_spread:
        keys *= numpy.array(0x9E3779B97F4A7C15 if kind == "int64" else 0x9E3779B1, numpy.uint64).astype(kind)
    return keys


def draw_values(rows):
    return numpy.random.default_rng(SEED + 1).integers(-1000, 1000, rows)


# ---- engines: what each returns takes the columns' groups and gives (groups, checksum) ----

def open_warpage(keys, values, query, threads, tree):
    import ops_library as ops
    library = ops.OpsLibrary(pathlib.Path(tree) / "lib/libwarpage_ops.so")
    aggregates = QUERIES[query]

    def column(array):
        return ops.Column(ops.TYPES.index(str(array.dtype)), array.ctypes.data, None, 0)

    used = [values] if any(value is not None for _, value in aggregates) else []

    def run():
        return library.groupby([(str(keys.dtype), False)], [str(array.dtype) for array in used], aggregates,
                               [([column(keys)], [column(array) for array in used], len(keys))], thread_count=threads)

    def columns_of(groups):
        def array(c):
            kind = ops.C_TYPES[c.type]
            return numpy.ctypeslib.as_array((kind * groups.count).from_address(c.values))
        return [array(groups.key(0))] + [array(groups.aggregate(i)) for i in range(len(aggregates))]
    return run, columns_of, lambda groups: groups.close()


def open_duckdb(keys, values, query, threads, _):
    import duckdb
    import pyarrow
    connection = duckdb.connect()
    connection.execute(f"set threads = {threads}")
    given = pyarrow.table({"k": keys, "v0": values})
    connection.register("given", given)
    connection.execute("create table t as select * from given")  # its own columns: faster than Arrow's
    connection.unregister("given")
    asked = ", ".join("count(*)" if value is None else f"{op}(v{value})" for op, value in QUERIES[query])

    def run():
        return connection.sql(f"select k, {asked} from t group by k").to_arrow_table()
    return run, lambda table: [column.to_numpy() for column in table.columns], lambda table: None


def open_polars(keys, values, query, threads, _):
    import polars
    assert polars.thread_pool_size() == threads
    frame = polars.DataFrame({"k": keys, "v0": values})
    names = {"sum": lambda c: c.sum(), "avg": lambda c: c.mean()}
    asked = [polars.len().alias(f"a{i}") if value is None else names[op](polars.col(f"v{value}")).alias(f"a{i}")
             for i, (op, value) in enumerate(QUERIES[query])]

    def run():
        return frame.group_by("k").agg(asked)
    return run, lambda table: [column.to_numpy() for column in table.get_columns()], lambda table: None


def memory_bytes(field):
    for line in open("/proc/self/status", encoding="utf-8"):
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    return 0


def run_engine(name, folder, query, threads, runs, budget_s, tree):
    """What a child process does: prints a line of JSON."""
    sys.path.insert(0, str(HERE))
    keys, values = numpy.load(f"{folder}/keys.npy"), numpy.load(f"{folder}/values.npy")
    run, columns_of, close = globals()[f"open_{name}"](keys, values, query, threads, tree)
    if name != "warpage":
        del keys, values  # they have their own
    with open("/proc/self/clear_refs", "w", encoding="utf-8") as file:
        file.write("5")  # the peak begins anew
    before = memory_bytes("VmRSS")
    times, cpu_times, sums = [], [], []
    for number in range(runs + 1):
        if sum(times[1:]) > budget_s:
            break
        started, cpu_started = time.perf_counter(), time.process_time()
        result = run()
        times.append(time.perf_counter() - started)
        cpu_times.append(time.process_time() - cpu_started)
        if number == 0:
            peak = memory_bytes("VmHWM") - before
            columns = columns_of(result)
            sums = [len(columns[0]), *[float(numpy.sum(c, dtype=numpy.float64)) for c in columns],
                    float(numpy.dot(columns[0].astype(numpy.float64), columns[1].astype(numpy.float64)))]
            del columns
        close(result)
        del result
    print(json.dumps({"times_s": times[1:], "median_s": statistics.median(times[1:]),
                      "median_cpu_s": statistics.median(cpu_times[1:]), "peak_bytes": peak,
                      "groups": sums[0], "sums": sums}))


# ---- the bound ----

def bandwidths(threads):
    """Bytes a second that threads read, and copy (bytes copied, each of which is read and written)."""
    array = numpy.ones(1 << 27, numpy.int64)  # 1 GiB
    copy = numpy.empty_like(array)
    parts = list(zip(numpy.array_split(array, threads), numpy.array_split(copy, threads)))
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        def best(work):
            times = []
            for _ in range(5):
                started = time.perf_counter()
                list(pool.map(work, parts))
                times.append(time.perf_counter() - started)
            return array.nbytes / min(times)
        return best(lambda pair: pair[0].max()), best(lambda pair: numpy.copyto(pair[1], pair[0]))


def bound_s(input_bytes, groups, group_bytes, threads, read, copy):
    """Input is read once; where groups do not fit the cores' caches, it is also copied and read again."""
    once = input_bytes / read
    return once if groups * group_bytes <= threads * L2_BYTES else once + input_bytes / copy


# ---- all ----

def is_same(a, b):
    return all(abs(x - y) <= 1e-9 * max(1, abs(x), abs(y)) for x, y in zip(a, b))


def measure(point, folder, args):
    row = {}
    for name in args.engines:
        command = [sys.executable, __file__, "--engine", name, "--folder", folder, "--query", point["query"],
                   "--threads", str(args.threads), "--runs", str(args.runs), "--budget", str(args.budget),
                   "--build", args.build]
        done = subprocess.run(command, capture_output=True, text=True, check=False,
                              env=dict(os.environ, POLARS_MAX_THREADS=str(args.threads)))
        if done.returncode != 0:
            sys.exit(f"groupby.py: {name}: {done.stderr}")
        row[name] = json.loads(done.stdout)
    sums = [result.pop("sums") for result in row.values()]
    for name, other in zip(args.engines[1:], sums[1:]):
        if not is_same(sums[0], other):
            sys.exit(f"groupby.py: {point}: {name} has {other}, {args.engines[0]} {sums[0]}")
    return row


def table(results, args):
    peers = [name for name in args.engines if name != "warpage"]
    head = ["groups", "keys", "query", "warpage, s", *[f"{name}, s (ratio)" for name in peers], "bound, s (distance)",
            "peak, MiB: " + ", ".join(args.engines)]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for result in results:
        ours, engines = result["engines"]["warpage"]["median_s"], result["engines"]
        cells = [f"{result['groups']:,}", f"{result['type']} {result['skew']}", result["query"], f"{ours:.3f}",
                 *[f"{engines[name]['median_s']:.3f} ({engines[name]['median_s'] / ours:.2f})" for name in peers],
                 f"{result['bound_s']:.3f} ({ours / result['bound_s']:.1f})",
                 ", ".join(f"{engines[name]['peak_bytes'] / 2**20:,.0f}" for name in args.engines)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def page(header, results, args):
    words = []
    for name in args.engines[1:]:
        ratios = [r["engines"][name]["median_s"] / r["engines"]["warpage"]["median_s"] for r in results]
        cpu_ratios = [r["engines"][name]["median_cpu_s"] / r["engines"]["warpage"]["median_cpu_s"] for r in results]
        many = [ratio for ratio, r in zip(ratios, results) if r["groups"] >= 100_000]
        words.append(f"{name} takes {min(ratios):.2f} to {max(ratios):.2f} times as long, geometric mean "
                     f"{statistics.geometric_mean(ratios):.2f}"
                     + f"; of processor time {min(cpu_ratios):.2f} to {max(cpu_ratios):.2f} times as much"
                     + (f"; from 10^5 groups on at least {min(many):.2f} times" if many else "") + ".")
    machine = header["machine"]
    return (f"# Group-by on the processor\n\n{header['date']}, commit {header['commit']}, {machine['cpu']}, "
            f"{args.threads} threads on {machine['processors']} processors, load {machine['load_average_before']} before "
            f"and {machine['load_average_after']} after. {header['versions']}.\nCommand: `{header['command']}`\n\n"
            f"{args.rows:,} rows in memory, {'spread' if args.spread else 'numbered'} keys, values int64, "
            f"medians of up to {args.runs} runs after one, or as many as take {args.budget:.0f} s. A ratio is the peer's time over "
            f"ours: above 1 we are faster.\n\n{table(results, args)}\n\n" + "\n".join(words) +
            f"\n\nThe bound: input read once at {header['read_bytes_per_s'] / 1e9:.1f} GB/s, and where groups of 32 bytes do not fit "
            f"the cores' caches of 2 MiB also copied at {header['copy_bytes_per_s'] / 1e9:.1f} GB/s; both measured in this run.\n"
            "Peak: resident memory at its highest during the first run, less what was resident before it.\n")


def versions(engines):
    import importlib.metadata
    return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in engines if name != "warpage")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", help="build tree (release)")
    parser.add_argument("--rows", type=lambda text: int(float(text)), default=10**8)
    parser.add_argument("--groups", type=lambda text: [int(float(part)) for part in text.split(",")], default=GROUPS)
    parser.add_argument("--types", type=lambda text: text.split(","), default=["int32", "int64"])
    parser.add_argument("--skews", type=lambda text: text.split(","), default=["uniform", "zipf"])
    parser.add_argument("--queries", type=lambda text: text.split(","), default=["count", "sum and avg"])
    parser.add_argument("--engines", type=lambda text: text.split(","), default=ENGINES)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--budget", type=float, default=12, help="start no further run of an engine after this many seconds (default: 12)")
    parser.add_argument("--spread", action="store_true", help="use widely spaced keys instead of consecutive numbers")
    parser.add_argument("--results", default=str(ROOT / "bench/results"), help="folder for the results")
    parser.add_argument("--dry", action="store_true", help="write nothing")
    for hidden in ("--engine", "--folder", "--query"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    args = parser.parse_args()
    args.build = str((ROOT / args.build).resolve())
    if args.engine:
        run_engine(args.engine, args.folder, args.query, args.threads, args.runs, args.budget, args.build)
        return
    before = os.getloadavg()[0]
    read, copy = bandwidths(args.threads)
    results = []
    with tempfile.TemporaryDirectory() as folder:
        numpy.save(f"{folder}/values.npy", draw_values(args.rows))
        for skew in args.skews:
            for groups in args.groups:
                drawn = draw_keys(args.rows, groups, skew, "int32")
                for kind in args.types:
                    keys = typed_keys(drawn, kind, args.spread)
                    key_bytes = keys.itemsize
                    numpy.save(f"{folder}/keys.npy", keys)
                    del keys
                    for query in args.queries:
                        point = {"groups": groups, "type": kind, "skew": skew, "query": query}
                        say(f"{point} …")
                        row_bytes = key_bytes + (0 if query == "count" else 8)
                        point["bound_s"] = bound_s(args.rows * row_bytes, groups, 32, args.threads, read, copy)
                        results.append({**point, "engines": measure(point, folder, args)})
                        say(table(results[-1:], args).splitlines()[-1])
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8")
                if line.startswith("model name")), platform.processor())
    header = {
        "schema": "warpage-bench-1",
        "bench": "groupby",
        "date": datetime.date.today().isoformat(),
        "commit": text_of(["git", "rev-parse", "--short", "HEAD"]),
        "command": "python3 bench/ops/groupby.py " + " ".join(a for a in sys.argv[1:] if not a.startswith("/")),
        "versions": versions(args.engines),
        "rows": args.rows,
        "threads": args.threads,
        "read_bytes_per_s": read,
        "copy_bytes_per_s": copy,
        "machine": {"cpu": cpu, "processors": os.cpu_count(), "load_average_before": round(before, 2),
                    "load_average_after": round(os.getloadavg()[0], 2)},
    }
    text = page(header, results, args)
    print(text)
    if not args.dry:
        target = pathlib.Path(args.results) / f"{header['date']}-groupby{'-spread' if args.spread else ''}"
        target.with_suffix(".md").write_text(text, encoding="utf-8")
        about.write_raw(target, {**header, "results": results})


if __name__ == "__main__":
    main()
