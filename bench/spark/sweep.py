#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A sweep of 24 simulations by warpage.spark.sweep on local[2] beside `warpage compare --jobs 2`, which take turns.

    sweep.py [--runs 2] [--program "apps/nw/nw --memory managed"]

Prints seconds by the clock of each run, without Spark's start, and the ratio of the least. Exit status 1: a
report differs. Needs pyspark, pyarrow, a Java runtime, the command warpage on the PATH, and warpage on PYTHONPATH.
"""
import argparse
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
from pyspark.sql import SparkSession  # noqa: E402
from warpage import command  # noqa: E402
import warpage.spark as ws  # noqa: E402

VARY = {"device": ["sim:gtx1080ti", "sim:p100"], "tlb.l1.entries": [16, 64, 128], "walker.count": [1, 2, 4, 8]}


def reports(folder):
    return {path.name: path.read_bytes() for path in pathlib.Path(folder).glob("*.json")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--program", default="apps/nw/nw --memory managed")
    args = parser.parse_args()
    program = shlex.split(args.program)
    spark = (SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.log.level", "OFF")
             .config("spark.ui.showConsoleProgress", "false").getOrCreate())
    spark.range(4).repartition(4).mapInArrow(lambda batches: batches, "id long").count()  # workers have started
    print("%s, 24 cells, load %.1f at the start" % (args.program, os.getloadavg()[0]))
    least = {}
    for run in range(args.runs):
        with tempfile.TemporaryDirectory() as folder:
            words = [command.find("warpage"), "compare", "--jobs", "2", "--output", folder + "/alone", *command.compare_words(VARY, {}), "--", *program]
            calls = {"compare": lambda: subprocess.run(words, check=True, stdout=subprocess.DEVNULL),
                     "sweep": lambda: ws.sweep(program, VARY, output=folder + "/swept")}
            for name, call in calls.items():
                started = time.perf_counter()
                result = call()
                clock_s = time.perf_counter() - started
                print("run %d: %s %.1f s" % (run, name, clock_s), flush=True)
                least[name] = min(clock_s, least.get(name, clock_s))
            failures = [row.failure for row in result.select("failure").collect() if row.failure]
            if failures:
                sys.exit("sweep.py: %d cells failed: %s" % (len(failures), failures[0]))
            if reports(folder + "/alone") != reports(folder + "/swept") or len(reports(folder + "/swept")) != 24:
                sys.exit("sweep.py: reports differ")
    print("sweep takes %.2f of compare's time by the clock" % (least["sweep"] / least["compare"]))
    spark.stop()


main()
