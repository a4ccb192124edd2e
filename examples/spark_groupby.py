#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Groups a table on Apache Spark by Warpage and by Spark's own aggregate, and compares them:

    spark_groupby.py [--master URL] FILE KEY[,KEY...] [AGGREGATE,...]

    spark_groupby.py flights.csv origin,carrier count,avg:air_time
    spark_groupby.py access.tsv.gz host,url count,sum:bytes

FILE: Parquet, or CSV or TSV with names in its first line, where NA and nothing are NULL; compressed, too
(.gz, .bz2, .zst). URL: Spark's master, such as spark://127.0.0.1:7077; local[2] if there is none. Prints the largest groups.
"""
import argparse
import math
import os
import sys
import time

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
from pyspark.errors import PySparkException  # noqa: E402
from pyspark.sql import SparkSession, functions  # noqa: E402
import warpage.spark as ws  # noqa: E402


COMPRESSED = (".gz", ".bz2", ".zst")
SPARKS = {"var": "var_samp", "quantile": "percentile"}  # functions whose names differ


def read(spark, path):
    if path.endswith(".parquet"):
        return spark.read.parquet(path)
    plain = os.path.splitext(path)[0] if path.endswith(COMPRESSED) else path
    return spark.read.csv(path, sep="\t" if plain.endswith(".tsv") else ",", header=True, inferSchema=True, nullValue="NA")


def own(df, keys, aggregates):
    """By Spark's groupBy().agg()."""
    asked = []
    for aggregate in aggregates:
        operation, column, share = (aggregate.split(":") + ["*", None])[:3]
        asked.append(getattr(functions, SPARKS.get(operation, operation))(column, *([float(share)] if operation == "quantile" else [])))
    return df.groupBy(*keys).agg(*asked)


def timed(df):
    started = time.perf_counter()
    rows = df.collect()
    return rows, time.perf_counter() - started


def is_same(a, b):
    return a == b or isinstance(a, float) and isinstance(b, float) and (
        math.isnan(a) and math.isnan(b) or abs(a - b) <= 1e-9 * max(abs(a), abs(b)))


def are_same(groups, others, key_count):
    """Whether rows of groups are equal, in any order."""
    def by_key(rows):
        return {tuple(repr(value + 0.0) if isinstance(value, float) else value for value in row[:key_count]): row[key_count:] for row in rows}

    a, b = by_key(groups), by_key(others)
    return len(groups) == len(others) == len(a) and a.keys() == b.keys() and all(all(map(is_same, row, b[key])) for key, row in a.items())


def run(args):
    keys, aggregates = args.keys.split(","), args.aggregates.split(",")
    spark = (SparkSession.builder.master(args.master).appName("groupby").config("spark.ui.enabled", "false")
             .config("spark.ui.showConsoleProgress", "false").config("spark.log.level", "ERROR").getOrCreate())
    df = read(spark, args.file)
    groups = ws.groupby(df, keys, aggregates)
    groups.orderBy(groups.columns[len(keys)], *keys, ascending=[False] + [True] * len(keys)).show(5, truncate=60)
    ours, ours_s = timed(groups)
    spark_own, own_s = timed(own(df, keys, aggregates))
    same = are_same(ours, spark_own, len(keys))
    print("%d groups, %s as Spark's own" % (len(ours), "the same" if same else "NOT the same"))
    print("warpage %.1f s, Spark %.1f s" % (ours_s, own_s), file=sys.stderr)
    spark.stop()
    return same


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("file")
    parser.add_argument("keys")
    parser.add_argument("aggregates", nargs="?", default="count")
    args = parser.parse_args()
    try:
        same = run(args)
    except (ws.WarpageError, PySparkException) as error:
        sys.exit("spark_groupby: %s" % (str(error).strip().splitlines() or [repr(error)])[0])
    sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()
