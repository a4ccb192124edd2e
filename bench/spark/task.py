#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the library takes of a task on Spark: the stages of warpage.spark without Spark, in this process, on batches as Spark
passes them on, by one thread.

    task.py [--rows 5000000] [--groups 1000,1000000] [--keys int,text] [--memory-mib 512]

Count and sum of an integer, by one key. Processor seconds of: the first stage of mode partial over all rows ("partial"), the
second one over the partials of two halves ("merge"), and mode exchange's ("whole"), each with the making of batches of 10,000
rows; what is counted is not made within. Needs pyarrow, NumPy, and warpage on PYTHONPATH.
"""
import argparse
import gc
import time

import numpy
import pyarrow
import warpage
from warpage import spark_tasks

BATCH_ROWS = 10_000
spark_tasks.threads = lambda: 1
spark_tasks.device_of = lambda device: device


def make(rows, groups, kind):
    for first in range(0, rows, BATCH_ROWS):
        numbers = numpy.arange(first, min(rows, first + BATCH_ROWS), dtype=numpy.int64)
        keys = numbers * 2654435761 % groups
        keys = pyarrow.array(["https://example.org/%d" % key for key in keys.tolist()] if kind == "text" else keys)
        yield pyarrow.RecordBatch.from_arrays([keys, pyarrow.array(numbers * 7919 % 1000)], ["k", "v"])


def run(batches, stage, limit_bytes):
    """The batches that the stage returns, and its processor seconds."""
    calls = spark_tasks.Calls(warpage, ["k"], ["count", "sum:v"], "cpu")
    gc.collect()
    result, started = [], time.process_time()
    for groups in spark_tasks._groups(spark_tasks.Rows(iter(batches)), stage, limit_bytes, calls):
        result += spark_tasks.table_of(groups).to_batches(max_chunksize=BATCH_ROWS)
    return result, time.process_time() - started


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--groups", default="1000,1000000")
    parser.add_argument("--keys", default="int,text")
    parser.add_argument("--memory-mib", type=int, default=512)
    args = parser.parse_args()
    limit_bytes = (args.memory_mib << 20) // 4
    print("%d rows, warpage %s, processor seconds" % (args.rows, warpage.__version__))
    print("| key | groups | partial | merge | whole |\n|---|---|---|---|---|")
    for kind in args.keys.split(","):
        for groups in map(int, args.groups.split(",")):
            batches = list(make(args.rows, groups, kind))
            half = len(batches) // 2
            _, partial_s = run(batches, "partial", limit_bytes)
            partials = run(batches[:half], "partial", limit_bytes)[0] + run(batches[half:], "partial", limit_bytes)[0]
            merged, merge_s = run(partials, "merge", limit_bytes)
            whole, whole_s = run(batches, "whole", limit_bytes)
            assert sum(batch.num_rows for batch in merged) == sum(batch.num_rows for batch in whole) == min(groups, args.rows)
            print("| %s | %d | %.2f | %.2f | %.2f |" % (kind, groups, partial_s, merge_s, whole_s), flush=True)


main()
