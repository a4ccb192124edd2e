#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Groups a table on Apache Spark by Warpage and by Spark's own aggregate, and compares them:

    spark_groupby.py [--master URL] FILE KEY[,KEY...] [AGGREGATE,...]

    spark_groupby.py flights.csv origin,carrier count,avg:air_time
    spark_groupby.py access.tsv host count,sum:bytes

FILE: Parquet, or CSV or TSV with names in its first line, where NA and nothing are NULL. URL: Spark's master, such as
spark://127.0.0.1:7077; local[2] if there is none. Prints the largest groups.
"""
import argparse
import os
import sys
import time

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
from pyspark.sql import SparkSession, functions  # noqa: E402
import warpage.spark as ws  # noqa: E402


def read(spark, path):
    if path.endswith(".parquet"):
        return spark.read.parquet(path)
    return spark.read.csv(path, sep="\t" if path.endswith(".tsv") else ",", header=True, inferSchema=True, nullValue="NA")


def own(df, keys, aggregates):
    """By Spark's groupBy().agg()."""
    asked = []
    for aggregate in aggregates:
        operation, _, column = aggregate.partition(":")
        name = "%s(%s)" % (operation, column) if column else operation
        asked.append(getattr(functions, operation)(column or "*").alias(name))
    return df.groupBy(*keys).agg(*asked)


def timed(df):
    started = time.perf_counter()
    rows = df.collect()
    return rows, time.perf_counter() - started


def is_same(a, b):
    return a == b or isinstance(a, float) and abs(a - b) <= 1e-9 * max(abs(a), abs(b))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("file")
    parser.add_argument("keys")
    parser.add_argument("aggregates", nargs="?", default="count")
    args = parser.parse_args()
    keys, aggregates = args.keys.split(","), args.aggregates.split(",")
    spark = (SparkSession.builder.master(args.master).appName("groupby").config("spark.ui.enabled", "false")
             .config("spark.ui.showConsoleProgress", "false").config("spark.log.level", "ERROR").getOrCreate())
    df = read(spark, args.file)
    groups = ws.groupby(df, keys, aggregates)
    groups.orderBy(groups.columns[len(keys)], *keys, ascending=[False] + [True] * len(keys)).show(5, truncate=60)
    ours, ours_s = timed(groups)
    spark_own, own_s = timed(own(df, keys, aggregates))
    by_key = {tuple(row[:len(keys)]): row for row in spark_own}
    same = len(ours) == len(spark_own) and all(
        all(map(is_same, row, by_key.get(tuple(row[:len(keys)]), ()))) and tuple(row[:len(keys)]) in by_key for row in ours)
    print("%d groups, %s as Spark's own" % (len(ours), "the same" if same else "NOT the same"))
    print("warpage %.1f s, Spark %.1f s" % (ours_s, own_s), file=sys.stderr)
    spark.stop()
    sys.exit(0 if same else 1)


main()
