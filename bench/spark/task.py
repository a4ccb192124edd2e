#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the library takes of a task on Spark: the stages of warpage.spark without Spark, in this process, on batches as Spark
passes them on, by one thread.

    task.py [--rows 5000000] [--groups 1000,1000000] [--keys int,text] [--memory-mib 512]

Count and sum of an integer, by one key. Processor seconds of both stages of both modes: the first stage makes parcels of two
halves of the rows, of partials in mode partial where keys recur; the second one makes groups of each of four partitions,
in batches of 10,000 rows. Needs pyarrow, NumPy, and warpage on PYTHONPATH.
"""
import argparse
import time

import numpy
import pyarrow
from pyarrow import compute
import warpage
from warpage import spark_tasks

BATCH_ROWS = 10_000
PLACES = [0, 1, 2, 3]
spark_tasks.threads = lambda: 1
spark_tasks.device_of = lambda device: device


def make(rows, groups, kind):
    for first in range(0, rows, BATCH_ROWS):
        numbers = numpy.arange(first, min(rows, first + BATCH_ROWS), dtype=numpy.int64)
        keys = numbers * 2654435761 % groups
        keys = pyarrow.array(["https://example.org/%d" % key for key in keys.tolist()] if kind == "text" else keys)
        yield pyarrow.RecordBatch.from_arrays([keys, pyarrow.array(numbers * 7919 % 1000)], ["k", "v"])


def first(batches, is_partial, limit_bytes):
    """The parcels of a partition, and processor seconds."""
    calls, started = spark_tasks.Calls(warpage, ["k"], ["count", "sum:v"], "cpu"), time.process_time()
    rows = spark_tasks.Rows((spark_tasks.ROWS, batch) for batch in batches)
    parcels = [batch for kind, table in spark_tasks.first_stage(rows, is_partial, limit_bytes, calls)
               for batch in spark_tasks.parcels(table, kind, ["k"], PLACES, 2 * spark_tasks.PARCEL_BYTES)]
    return parcels, time.process_time() - started


def second(parcels, limit_bytes):
    """The groups of all partitions, and processor seconds."""
    calls, count, seconds = spark_tasks.Calls(warpage, ["k"], ["count", "sum:v"], "cpu"), 0, 0
    for place in PLACES:
        mine, started = [batch.filter(compute.equal(batch.column(0), place)) for batch in parcels], time.process_time()
        for groups in spark_tasks.second_stage(spark_tasks.Rows(spark_tasks.opened(iter(mine), limit_bytes)), limit_bytes, calls):
            batches = spark_tasks.table_of(groups).to_batches(max_chunksize=BATCH_ROWS)
            count += sum(batch.num_rows for batch in batches)
        seconds += time.process_time() - started
    return count, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--groups", default="1000,1000000")
    parser.add_argument("--keys", default="int,text")
    parser.add_argument("--memory-mib", type=int, default=512)
    args = parser.parse_args()
    limit_bytes = (args.memory_mib << 20) // 4
    print("%d rows, warpage %s, processor seconds" % (args.rows, warpage.__version__))
    print("| key | groups | partial: first | second | exchange: first | second |\n|---|---|---|---|---|---|")
    for kind in args.keys.split(","):
        for groups in map(int, args.groups.split(",")):
            batches = list(make(args.rows, groups, kind))
            half, times = len(batches) // 2, []
            for is_partial in (True, False):
                parcels, first_s = zip(*(first(part, is_partial, limit_bytes) for part in (batches[:half], batches[half:])))
                count, second_s = second(parcels[0] + parcels[1], limit_bytes)
                assert count == min(groups, args.rows), count
                times += [sum(first_s), second_s]
            print("| %s | %d | %s |" % (kind, groups, " | ".join("%.2f" % time_s for time_s in times)), flush=True)


main()
