#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times medians, quantiles and counts of distinct values of warpage.groupby beside DuckDB and Polars, on tables in memory.

    groupby_distributions.py [--rows 5000000] [--groups 1000,1000000] [--distinct 100,5000000] [--runs 3] [--threads 2]

An int64 key and an int64 value, both uniform; --distinct: how many values there may be. Each call ends with an Arrow table;
the engines, in this process, take turns, and must agree. Prints a table of processor seconds and seconds by the clock, the
least of the runs after one. Needs pyarrow, NumPy, DuckDB, Polars, and warpage on PYTHONPATH.
"""
import argparse
import math
import os
import sys
import time

SQL = {"median": "median(v)", "quantile 0.9": "quantile_cont(v, 0.9)", "count distinct": "count(distinct v)"}
OURS = {"median": "median:v", "quantile 0.9": "quantile:v:0.9", "count distinct": "count_distinct:v"}
SEED = 20261128


def numbers(text):
    return [int(float(part)) for part in text.split(",")]


def engines(table, what, threads):
    """For each engine a function that returns the result's last column."""
    import duckdb
    import polars
    import warpage
    connection = duckdb.connect()
    connection.execute("set threads = %d" % threads)
    connection.register("given", table)
    connection.execute("create table t as select * from given")
    frame, v = polars.from_arrow(table), polars.col("v")
    column = {"median": v.median(), "quantile 0.9": v.quantile(0.9, interpolation="linear"), "count distinct": v.n_unique()}[what]
    return {"warpage": lambda: warpage.groupby(table, "k", OURS[what], threads=threads).to_arrow(),
            "duckdb": lambda: connection.sql("select k, %s from t group by k" % SQL[what]).to_arrow_table(),
            "polars": lambda: frame.group_by("k").agg(column).to_arrow()}


def measure(table, what, args):
    """For each engine (processor seconds, seconds), the least of the runs after one."""
    import numpy
    times, sums = {}, {}
    calls = engines(table, what, args.threads)
    for run in range(args.runs + 1):
        for name, call in calls.items():
            clock, busy = time.perf_counter(), time.process_time()
            result = call()
            took = time.process_time() - busy, time.perf_counter() - clock
            sums[name] = result.num_rows, float(numpy.sum(result.column(1).to_numpy()))
            del result
            if run:
                times[name] = tuple(map(min, took, times.get(name, took)))
    rows, total = sums["warpage"]
    if any(r != rows or not math.isclose(s, total, rel_tol=1e-9) for r, s in sums.values()):
        sys.exit("groupby_distributions.py: the engines do not agree on %s: %s" % (what, sums))
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=lambda text: int(float(text)), default=5_000_000)
    parser.add_argument("--groups", type=numbers, default=[1000, 1_000_000])
    parser.add_argument("--distinct", type=numbers, default=[100, 5_000_000])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    os.environ["POLARS_MAX_THREADS"] = str(args.threads)
    import numpy
    import pyarrow
    print("%d rows, %d threads, load %.1f at the start; processor seconds, seconds; (ratios of these to warpage's)" %
          (args.rows, args.threads, os.getloadavg()[0]))
    print("| aggregate | groups | values | warpage | duckdb | polars |\n|---|---|---|---|---|---|")
    for groups in args.groups:
        for distinct in args.distinct:
            source = numpy.random.default_rng(SEED)
            table = pyarrow.table({"k": source.integers(0, groups, args.rows), "v": source.integers(0, distinct, args.rows)})
            for what in OURS:
                times = measure(table, what, args)
                cells = ["%.2f, %.2f" % times["warpage"]]
                cells += ["%.2f, %.2f (%.2f, %.2f)" % (*t, *(a / b for a, b in zip(t, times["warpage"])))
                          for name, t in times.items() if name != "warpage"]
                print("| %s | %d | %d | %s |" % (what, groups, distinct, " | ".join(cells)), flush=True)


if __name__ == "__main__":
    main()
