#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Group-by on Apache Spark: Warpage in both modes, Spark's own aggregate, and the passing of rows from Java to Python
alone (a mapInArrow that counts); DuckDB and Polars in this process on the same Parquet file.

    groupby.py [--rows 10000000] [--groups 1000,1000000] [--keys int,text] [--runs 2] [--cores 2] [--batch-bytes 2147483647]
               [--warm-rows 10000000] [--engines counting,partial,exchange,spark,duckdb,polars] [--shares]

Count and sum of an integer, by one key; local[CORES]; results are not collected (Spark's sink "noop"). The calls take
turns. Prints a table of seconds: of processors, by all processes, the least and the median of the runs, and by the clock,
the least. Spark's calls run once before, on --warm-rows rows at most. --batch-bytes is spark.sql.execution.arrow.maxBytesPerBatch: unless it is 2147483647, Spark adds up a batch's bytes
for each row that it passes to Python; 0 leaves Spark's default. --shares: one more run of each, divided into Java's tasks, its compiler and Python. Needs pyspark, pyarrow, DuckDB, Polars, a Java runtime, and warpage on PYTHONPATH.
"""
import argparse
import glob
import os
import statistics
import sys
import tempfile
import time

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
import duckdb  # noqa: E402
import polars  # noqa: E402
from pyspark.sql import SparkSession, functions  # noqa: E402
import warpage  # noqa: E402
import warpage.spark as ws  # noqa: E402


def make(path, rows, groups, kind):
    key = "(i * 2654435761) %% %d" % groups
    if kind == "text":
        key = "'https://example.org/' || (%s)::varchar" % key
    duckdb.sql("copy (select %s as k, (i * 7919) %% 1000 as v from range(%d) t(i)) to '%s' (format parquet)" % (key, rows, path))


def count_only(batches):
    import pyarrow
    yield pyarrow.RecordBatch.from_pydict({"n": [sum(batch.num_rows for batch in batches)]})


def ticks():
    """Of processors, by pid: of this process and those that it has started and that are there. Workers stay until they have
    been idle for a minute."""
    parents, taken = {}, {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % pid, encoding="utf8") as file:
                words = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(pid)], taken[int(pid)] = int(words[1]), sum(map(int, words[11:13]))
    mine, count = {os.getpid()}, 0
    while len(mine) > count:
        count = len(mine)
        mine |= {pid for pid, parent in parents.items() if parent in mine}
    return {pid: taken[pid] for pid in mine if pid in taken}


def busy_s(before):
    """Processor seconds since `before`, which ticks returned."""
    return sum(count - before.get(pid, 0) for pid, count in ticks().items()) / os.sysconf("SC_CLK_TCK")


def threads():
    """Of processors, by pid and thread, of the same processes: (what it is, ticks)."""
    kinds = {"Executor task": "tasks", "C1 Compiler": "compiler", "C2 Compiler": "compiler"}
    taken = {}
    for pid in ticks():
        for path in glob.glob("/proc/%d/task/*/stat" % pid):
            try:
                with open(path, encoding="utf8") as file:
                    head, _, tail = file.read().rpartition(")")
            except OSError:
                continue
            name, words = head.partition("(")[2], tail.split()
            kind = "Python" if name.startswith(("python", "pyspark")) else next((kind for start, kind in kinds.items() if name.startswith(start)), "other")
            taken[path] = kind, sum(map(int, words[11:13]))
    return taken


def print_shares(names, calls):
    """Of one more run of each call, the seconds of Java's tasks, its compiler, all else of Java's, and Python."""
    print("| of one run | tasks | Java's compiler | the rest of Java | Python |\n|---|---|---|---|---|")
    for name, call in zip(names, calls):
        before, whole = threads(), ticks()
        call()
        shares = dict.fromkeys(["tasks", "compiler", "Python"], 0)
        for path, (kind, count) in threads().items():
            if kind in shares:
                shares[kind] += (count - before.get(path, (kind, 0))[1]) / os.sysconf("SC_CLK_TCK")
        rest = busy_s(whole) - sum(shares.values())  # threads that have ended, too
        print("| %s | %.1f | %.1f | %.1f | %.1f |" % (ENGINES[name], shares["tasks"], shares["compiler"], rest, shares["Python"]), flush=True)


def timed(runs, calls):
    """Of each call, (processor seconds, seconds) of each run; the calls take turns."""
    times = [[] for _ in calls]
    for _ in range(runs):
        for call, taken in zip(calls, times):
            started, before = time.perf_counter(), ticks()
            call()
            clock_s = time.perf_counter() - started
            taken.append((busy_s(before), clock_s))
    return times


def spark_calls(df):
    return {"counting": lambda: save(df.mapInArrow(count_only, "n long")),
            "partial": lambda: save(ws.groupby(df, "k", ["count", "sum:v"], mode="partial")),
            "exchange": lambda: save(ws.groupby(df, "k", ["count", "sum:v"], mode="exchange")),
            "spark": lambda: save(df.groupBy("k").agg(functions.count("*"), functions.sum("v")))}


def other_calls(path):
    return {"duckdb": lambda: duckdb.sql("select k, count(*), sum(v) from '%s' group by k" % path).to_arrow_table(),
            "polars": lambda: polars.scan_parquet(path).group_by("k").agg(polars.len(), polars.col("v").sum()).collect()}


ENGINES = {"counting": "only counting", "partial": "partial", "exchange": "exchange", "spark": "Spark", "duckdb": "DuckDB",
           "polars": "Polars"}


def save(df):
    df.write.format("noop").mode("overwrite").save()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--groups", default="1000,1000000")
    parser.add_argument("--keys", default="int,text")
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--batch-bytes", type=int, default=2147483647)
    parser.add_argument("--warm-rows", type=int, default=10_000_000)
    parser.add_argument("--engines", type=lambda text: text.split(","), default=list(ENGINES))
    parser.add_argument("--shares", action="store_true")
    args = parser.parse_args()
    spark = (SparkSession.builder.master("local[%d]" % args.cores).config("spark.ui.enabled", "false")
             .config("spark.log.level", "OFF").config("spark.ui.showConsoleProgress", "false")
             .config("spark.driver.memory", "6g").config("spark.sql.shuffle.partitions", str(2 * args.cores)).getOrCreate())
    batch_bytes = "spark.sql.execution.arrow.maxBytesPerBatch"
    if args.batch_bytes:
        spark.conf.set(batch_bytes, str(args.batch_bytes))
    duckdb.sql("set threads to %d" % args.cores)
    print("%d rows, %d cores, %s %s, warpage %s, load %.1f at the start" %
          (args.rows, args.cores, batch_bytes, args.batch_bytes or "as Spark has it", warpage.__version__, os.getloadavg()[0]))
    print("Seconds of processors, least and median, and by the clock, least")
    print("| key | groups | %s |" % " | ".join(ENGINES[name] for name in args.engines))
    print("|---|---|%s" % ("---|" * len(args.engines)))
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/t.parquet"
        for kind in args.keys.split(","):
            for groups in map(int, args.groups.split(",")):
                warm = min(args.rows, args.warm_rows)
                make(path, warm, groups, kind)
                for name, call in spark_calls(spark.read.parquet(path)).items():
                    if name in args.engines:
                        call()  # Java compiles what it runs often
                if warm < args.rows:
                    make(path, args.rows, groups, kind)
                calls = {**spark_calls(spark.read.parquet(path)), **other_calls(path)}
                times = timed(args.runs, [calls[name] for name in args.engines])
                print("| %s | %d | %s |" % (kind, groups, " | ".join(
                    "%.1f, %.1f, %.1f" % (min(busy), statistics.median(busy), min(clock_s))
                    for busy, clock_s in (zip(*taken) for taken in times))), flush=True)
                if args.shares:
                    print_shares(args.engines, [calls[name] for name in args.engines])
    spark.stop()


if __name__ == "__main__":
    main()
