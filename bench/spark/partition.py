#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The memory of a Spark task that groups a partition larger than it: one partition of texts, all in one task, and all
its groups merged by one task.

    partition.py [--rows 5000000] [--groups 2500000] [--text-bytes 200] [--memory-mib 128] [--mode partial]

Counts and sums by a text. Checks the number of groups, their counts and their sums by Spark. Prints the seconds, and the
peak resident memory of the Python workers beside that of one which only passes rows on (VmHWM of /proc). Needs
pyspark, pyarrow, a Java runtime, and warpage on PYTHONPATH.
"""
import argparse
import os
import sys
import threading
import time

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
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
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--groups", type=int, default=2_500_000)
    parser.add_argument("--text-bytes", type=int, default=200)
    parser.add_argument("--memory-mib", type=int, default=128)
    parser.add_argument("--mode", default="partial")
    args = parser.parse_args()
    spark = (SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config("spark.log.level", "ERROR")
             .config("spark.ui.showConsoleProgress", "false").config("spark.driver.memory", "3g")
             .config("spark.sql.adaptive.enabled", "false").config("spark.python.worker.reuse", "false")
             .config("spark.sql.shuffle.partitions", "1").getOrCreate())
    text = "lpad(cast((id * 7919) %% %d as string), %d, 'https://example.org/visitors/of/pages/')" % (args.groups, args.text_bytes)
    rows = spark.range(0, args.rows, 1, 1).selectExpr(text + " as t", "id as v")
    peak = Peak()
    rows.limit(100_000).mapInArrow(pass_on, rows.schema).write.format("noop").mode("overwrite").save()
    passing = peak.end()
    peak, started = Peak(), time.perf_counter()
    groups = ws.groupby(rows, "t", ["count", "sum:v"], mode=args.mode, memory_bytes=args.memory_mib << 20)
    found = groups.selectExpr("count(*)", "sum(`count`)", "max(`count`)", "sum(cast(`sum(v)` as decimal(38,0)))").first()
    seconds = time.perf_counter() - started
    right = found[0] == args.groups and found[1] == args.rows and found[2] == -(-args.rows // args.groups) and \
        found[3] == args.rows * (args.rows - 1) // 2
    print("%d rows of %d bytes, %d groups, mode %s, memory_bytes %d MiB: %s, %.0f s; the largest Python worker %d MiB, one that "
          "only passes rows on %d MiB" % (args.rows, args.text_bytes + 8, found[0], args.mode, args.memory_mib,
                                          "right" if right else "WRONG", seconds, peak.end(), passing))
    spark.stop()
    sys.exit(0 if right else 1)


main()
