#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times warpage.groupby beside DuckDB and Polars on keys of text and others, on tables in memory.

    python3 -m venv venv && venv/bin/pip install -r bench/ops/requirements.txt
    venv/bin/python bench/ops/groupby_text.py

Each engine runs in a process of its own with the same columns and the same number of threads, by its public
interface, until its result is an Arrow table: warpage from a pyarrow.Table, DuckDB from a table of its own, Polars
from a DataFrame. Runs of the engines alternate, so that other work on the machine meets all of them. All must agree.
Prints a table and writes bench/results/<date>-groupby-text.json.gz and .md. See bench/README.md.
"""
import argparse
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

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench"))
import about  # noqa: E402
SEED = 20261126
KINDS = ["text", "text of 20", "text of 5 to 200", "dictionary", "date", "boolean", "text and int64", "text and text", "int64"]


def columns(rows, groups, kind):
    """Keys and a value, as an Arrow table."""
    import pyarrow
    source = numpy.random.default_rng(SEED)
    numbers = source.integers(0, groups, rows)
    value = pyarrow.array(source.integers(-1000, 1000, rows))
    text = pyarrow.array(numbers).cast(pyarrow.string())
    if kind == "text of 20":
        keys = [pyarrow.compute.utf8_lpad(text, 20, "k")]
    elif kind == "text of 5 to 200":
        pads = ["".join(chr(97 + (i * 7 + j) % 26) for j in range(i)) for i in range(5, 196)]
        lengths = pyarrow.array(numpy.array(numbers * 2654435761 % len(pads), dtype="int32"))
        keys = [pyarrow.compute.binary_join_element_wise(pyarrow.array(pads).take(lengths), text, "")]
    elif kind == "dictionary":
        keys = [text.dictionary_encode()]
    elif kind == "date":
        keys = [pyarrow.array(numbers.astype("int32")).cast(pyarrow.date32())]
    elif kind == "boolean":
        keys = [pyarrow.array(numbers % 2 == 0)]
    elif kind == "text and int64":
        keys = [pyarrow.array(numbers // 10).cast(pyarrow.string()), pyarrow.array(numbers % 10)]
    elif kind == "text and text":
        keys = [pyarrow.array(numbers // 10).cast(pyarrow.string()), pyarrow.array(numbers % 10).cast(pyarrow.string())]
    else:
        keys = [text] if kind == "text" else [pyarrow.array(numbers)]
    return pyarrow.table([*keys, value], names=["k%d" % i for i in range(len(keys))] + ["v"])


# ---- engines ----

def open_warpage(table, keys, threads, is_sorted=False):
    import warpage
    return lambda: warpage.groupby(table, keys, ["count", "sum:v"], threads=threads, sort=is_sorted).to_arrow()


def open_sorted(table, keys, threads):
    return open_warpage(table, keys, threads, True)


def open_duckdb(table, keys, threads):
    import duckdb
    connection = duckdb.connect()
    connection.execute(f"set threads = {threads}")
    connection.register("given", table)
    connection.execute("create table t as select * from given")
    connection.unregister("given")
    names = ", ".join(keys)
    return lambda: connection.sql(f"select {names}, count(*), sum(v)::bigint from t group by {names}").to_arrow_table()


def open_polars(table, keys, threads):
    import polars
    assert polars.thread_pool_size() == threads
    frame = polars.from_arrow(table)
    return lambda: frame.group_by(keys).agg(polars.len(), polars.col("v").sum()).to_arrow()


ENGINES = {"warpage": open_warpage, "warpage, sorted": open_sorted, "duckdb": open_duckdb, "polars": open_polars}


def memory_bytes(field):
    for line in open("/proc/self/status", encoding="utf-8"):
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    return 0


def child(args):
    """An engine: a run and a line of JSON for each line of stdin."""
    import pyarrow
    table = pyarrow.ipc.open_file(pyarrow.OSFile(args.table)).read_all().combine_chunks()
    keys = table.column_names[:-1]
    run = ENGINES[args.engine](table, keys, args.threads)
    with open("/proc/self/clear_refs", "w", encoding="utf-8") as file:
        file.write("5")  # the peak begins anew
    before = memory_bytes("VmRSS")
    for _ in sys.stdin:
        wall, cpu = time.perf_counter(), time.process_time()
        result = run()
        line = {"s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu, "rows": result.num_rows,
                "count": int(numpy.sum(result.column(len(keys)).to_numpy())),
                "sums": int(numpy.sum(numpy.abs(result.column(len(keys) + 1).to_numpy()))),
                "peak_bytes": memory_bytes("VmHWM") - before}
        del result
        print(json.dumps(line), flush=True)


def measure(kind, groups, args):
    """For each engine the best wall time and the best processor time of some runs, after one."""
    import pyarrow
    processes = {}
    table = columns(args.rows, groups, kind)
    path = f"{args.folder}/table.arrow"
    with pyarrow.OSFile(path, "wb") as file, pyarrow.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table.combine_chunks())
    del table
    for name in args.engines:
        command = [sys.executable, __file__, "--engine", name, "--table", path, "--threads", str(args.threads)]
        package = str(pathlib.Path(args.build).resolve() / "lib/warpage/python")
        processes[name] = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=dict(
            os.environ, POLARS_MAX_THREADS=str(args.threads), PYTHONPATH=package))
    lines = {name: [] for name in processes}
    for _ in range(args.runs + 1):
        for name, process in processes.items():
            process.stdin.write("run\n")
            process.stdin.flush()
            answer = process.stdout.readline()
            if not answer:
                sys.exit(f"groupby_text.py: {name} failed on {kind}, {groups} groups")
            lines[name].append(json.loads(answer))
    for process in processes.values():
        process.stdin.close()
        process.wait()
    seen = {(line["rows"], line["count"], line["sums"]) for all_ in lines.values() for line in all_}
    if len(seen) != 1:
        sys.exit(f"groupby_text.py: {kind}, {groups} groups: the engines do not agree: {seen}")
    return {name: {"s": min(line["s"] for line in all_[1:]), "cpu_s": min(line["cpu_s"] for line in all_[1:]),
                   "peak_bytes": all_[0]["peak_bytes"], "groups": all_[0]["rows"]} for name, all_ in lines.items()}


# ---- all ----

def page(header, results, args):
    peers = [name for name in args.engines if name != "warpage"]
    head = ["key", "groups", "warpage: s, processor s", *[f"{name}: s, processor s (ratios)" for name in peers],
            "peak, MiB: " + ", ".join(args.engines)]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for result in results:
        engines = result["engines"]
        ours = engines["warpage"]
        cells = [result["kind"], f"{ours['groups']:,}", f"{ours['s']:.3f}, {ours['cpu_s']:.3f}"]
        cells += [f"{engines[n]['s']:.3f}, {engines[n]['cpu_s']:.3f} ({engines[n]['s'] / ours['s']:.2f}, "
                  f"{engines[n]['cpu_s'] / ours['cpu_s']:.2f})" for n in peers]
        cells.append(", ".join(f"{engines[n]['peak_bytes'] / 2**20:,.0f}" for n in args.engines))
        lines.append("| " + " | ".join(cells) + " |")
    words = []
    for name in peers:
        for what, field in (("time", "s"), ("processor time", "cpu_s")):
            ratios = [r["engines"][name][field] / r["engines"]["warpage"][field] for r in results]
            words.append(f"{name} takes {min(ratios):.2f} to {max(ratios):.2f} times our {what}, geometric mean "
                         f"{statistics.geometric_mean(ratios):.2f}.")
    machine = header["machine"]
    return (f"# Group-by on text and other keys\n\n{header['date']}, commit {header['commit']}, {machine['cpu']}, {args.threads} threads on "
            f"{machine['processors']} processors, load {machine['load_average_before']} before and "
            f"{machine['load_average_after']} after{': other work ran on the machine' if machine['load_average_before'] > 0.5 else ''}. "
            f"{header['versions']}.\nCommand: `{header['command']}`\n\n{args.rows:,} rows in memory, count and sum of an int64, keys uniform; best of "
            f"{args.runs} runs after one, runs of the engines in turns. A ratio is the other's time over ours: above 1 we are faster. "
            "Processor time is both threads', and less sensitive to other work.\n\n" + "\n".join(lines) + "\n\n" + "\n".join(words) +
            "\n\nPeak: resident memory at its highest during the first run, less what was resident before it. DuckDB and Polars\n"
            "do not sort groups; `warpage, sorted` does, which is the default of `warpage.groupby`.\n")


def main():
    import importlib.metadata
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(ROOT / "build/release"), help="build tree (release)")
    parser.add_argument("--rows", type=lambda text: int(float(text)), default=5 * 10**6)
    parser.add_argument("--groups", type=lambda text: [int(float(part)) for part in text.split(",")], default=[1000, 100_000, 1_000_000])
    parser.add_argument("--kinds", type=lambda text: text.split(","), default=KINDS)
    parser.add_argument("--engines", type=lambda text: text.split(";"), default=list(ENGINES), help="separated by semicolons")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--dry", action="store_true", help="write nothing")
    for hidden, type_ in (("--engine", str), ("--table", str)):
        parser.add_argument(hidden, type=type_, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.engine:
        child(args)
        return
    before = os.getloadavg()[0]
    results = []
    import pyarrow.compute  # noqa: F401
    with tempfile.TemporaryDirectory() as args.folder:
        for kind in args.kinds:
            for groups in args.groups if kind != "boolean" else [2]:
                results.append({"kind": kind, "engines": measure(kind, groups, args)})
                print(page_line(results[-1]), file=sys.stderr, flush=True)
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8")
                if line.startswith("model name")), platform.processor())
    header = {
        "schema": "warpage-bench-1", "bench": "groupby-text", "date": datetime.date.today().isoformat(),
        "commit": subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip(),
        "command": "python3 bench/ops/groupby_text.py " + " ".join(a for a in sys.argv[1:] if not a.startswith("/") and a != "--build"),
        "versions": ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("duckdb", "polars", "pyarrow")),
        "rows": args.rows, "threads": args.threads,
        "machine": {"cpu": cpu, "processors": os.cpu_count(), "load_average_before": round(before, 2),
                    "load_average_after": round(os.getloadavg()[0], 2)},
    }
    text = page(header, results, args)
    print(text)
    if not args.dry:
        target = ROOT / "bench/results" / f"{header['date']}-groupby-text"
        target.with_suffix(".md").write_text(text, encoding="utf-8")
        about.write_raw(target, {**header, "results": results})


def page_line(result):
    return result["kind"] + ": " + "; ".join(f"{name} {e['groups']} {e['s']:.3f} s {e['cpu_s']:.3f} s" for name, e in result["engines"].items())


if __name__ == "__main__":
    main()
