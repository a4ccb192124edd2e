#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The memory of a Spark task that groups a partition larger than it: one partition of texts, all in one task, and all
its groups merged by one task.

    partition.py [--rows 20000000] [--groups 10000000] [--text-bytes 200] [--memory-mib 512] [--mode partial]
                 [--file PATH]

Counts and sums by a text: 4 GB of 10^7 groups through 512 MiB, or a smaller size. The rows are a Parquet file that DuckDB
makes in the folder for temporary files (or at PATH, where it stays for further runs), and Spark reads as one partition;
Spark's files are in that folder, too. Checks the number
of groups, their counts and their sums by Spark. Prints the seconds, by the clock and of processors, and the peak resident
memory of the Python workers beside that of one which only passes rows on (VmHWM of /proc). Exit status 1: a wrong group,
or more memory than asked for. Needs pyspark, pyarrow, DuckDB, a Java runtime, and warpage on PYTHONPATH.
"""
import argparse
import os
import sys
import tempfile
import threading
import time

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
import duckdb  # noqa: E402
from groupby import busy_s, ticks  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402
import warpage.spark as ws  # noqa: E402


class Peak(threading.Thread):
    """The largest resident memory of a Python worker so far, in MiB."""

    def __init__(self):
        super().__init__(daemon=True)
        self.mib, self.is_over = 0, False
        self.start()

    def run(self):
        while not self.is_over:
            for pid in filter(str.isdigit, os.listdir("/proc")):
                try:
                    with open("/proc/%s/cmdline" % pid, encoding="utf8") as file:
                        if "pyspark" not in file.read() or int(pid) == os.getpid():
                            continue
                    with open("/proc/%s/status" % pid, encoding="utf8") as file:
                        status = dict(line.split(":", 1) for line in file if ":" in line)
                except OSError:
                    continue
                if status["Name"].strip().startswith("python"):
                    self.mib = max(self.mib, int(status.get("VmHWM", "0 kB").split()[0]) >> 10)
            time.sleep(0.2)

    def end(self):
        self.is_over = True
        self.join()
        return self.mib


def pass_on(batches):
    yield from batches


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--groups", type=int, default=10_000_000)
    parser.add_argument("--text-bytes", type=int, default=200)
    parser.add_argument("--memory-mib", type=int, default=512)
    parser.add_argument("--mode", default="partial")
    parser.add_argument("--file")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(run(args, folder))


def run(args, folder):
    path, started = args.file or os.path.join(folder, "t.parquet"), time.perf_counter()
    text = "lpad(((i * 7919) %% %d)::varchar, %d, 'https://example.org/visitors/of/pages/')" % (args.groups, args.text_bytes)
    duckdb.sql("set threads to 1")
    if not os.path.exists(path):
        duckdb.sql("copy (select %s as t, i as v from range(%d) r(i)) to '%s' (format parquet)" % (text, args.rows, path))
        print("made %.2f GB of rows in %.0f s" % (args.rows * (args.text_bytes + 8) / 1e9, time.perf_counter() - started), flush=True)
    spark = (SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config("spark.log.level", "ERROR")
             .config("spark.ui.showConsoleProgress", "false").config("spark.driver.memory", "3g").config("spark.local.dir", folder)
             .config("spark.sql.adaptive.enabled", "false").config("spark.python.worker.reuse", "false")
             .config("spark.sql.files.maxPartitionBytes", str(1 << 40)).config("spark.sql.shuffle.partitions", "1").getOrCreate())
    rows = spark.read.parquet(path)
    assert rows.rdd.getNumPartitions() == 1
    peak = Peak()
    rows.limit(100_000).mapInArrow(pass_on, rows.schema).write.format("noop").mode("overwrite").save()
    passing = peak.end()
    peak, started, before = Peak(), time.perf_counter(), ticks()
    groups = ws.groupby(rows, "t", ["count", "sum:v"], mode=args.mode, memory_bytes=args.memory_mib << 20)
    found = groups.selectExpr("count(*)", "sum(`count`)", "max(`count`)", "sum(cast(`sum(v)` as decimal(38,0)))").first()
    seconds, took_s = time.perf_counter() - started, busy_s(before)
    right = found[0] == args.groups and found[1] == args.rows and found[2] == -(-args.rows // args.groups) and \
        found[3] == args.rows * (args.rows - 1) // 2
    taken = peak.end()
    print("%d rows of %d bytes, %d groups, mode %s, memory_bytes %d MiB: %s, %.0f s, %.0f s of processors; the largest Python "
          "worker %d MiB, one that only passes rows on %d MiB, %d MiB less" %
          (args.rows, args.text_bytes + 8, found[0], args.mode, args.memory_mib, "right" if right else "WRONG", seconds, took_s,
           taken, passing, taken - passing))
    spark.stop()
    return 0 if right and taken - passing <= args.memory_mib else 1


main()
