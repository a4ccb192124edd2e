# SPDX-License-Identifier: Apache-2.0
"""warpage.spark when things fail: tasks that are retried, a damaged file. The right groups, or a failure that says why;
never wrong numbers. Exit status 77: pyspark, pyarrow or Java is missing."""
import os
import shutil
import sys
import tempfile

try:
    import pyarrow
    from pyarrow import parquet
    from pyspark import cloudpickle
    from pyspark.sql import SparkSession
except ImportError as error:
    print("skipped: %s" % error)
    sys.exit(77)
if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
    print("skipped: Spark needs Java: Debian's package openjdk-17-jre-headless")
    sys.exit(77)

os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
import warpage
import warpage.spark as ws

cloudpickle.register_pickle_by_value(sys.modules[__name__])
spark = (SparkSession.builder.master("local[2,3]").config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "2")
         .config("spark.log.level", "OFF").config("spark.driver.host", "127.0.0.1").config("spark.ui.showConsoleProgress", "false")
         .config("spark.sql.execution.arrow.maxRecordsPerBatch", "100").config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
         .getOrCreate())
folder = tempfile.TemporaryDirectory()


def failing(call, part):
    """Its message, which has `part`."""
    try:
        rows = call()
    except Exception as error:
        assert part in str(error), error
        return str(error)
    raise AssertionError("no error that says '%s', but %s" % (part, rows))


# Each task fails in its first attempt, after the first batches have been read; in each stage, too.
ROWS, GROUPS = 2000, 30
tried = os.path.join(folder.name, "tried")
os.mkdir(tried)


def fails_at_first(stage):
    def run(batches):
        from pyspark import TaskContext
        for number, batch in enumerate(batches):
            if number == 3 and TaskContext.get().attemptNumber() == 0:
                with open(os.path.join(tried, "%s-%d" % (stage, TaskContext.get().partitionId())), "w", encoding="utf8"):
                    raise RuntimeError("the first attempt fails")
            yield batch
    return run


wanted = {key: (len(range(key, ROWS, GROUPS)), sum(range(key, ROWS, GROUPS))) for key in range(GROUPS)}
rows = spark.range(0, ROWS, 1, 2).selectExpr("id %% %d k" % GROUPS, "id v")
for mode in ("partial", "exchange"):
    once = rows.mapInArrow(fails_at_first(mode), rows.schema)
    got = ws.groupby(once, "k", ["count", "sum:v"], mode=mode, memory_bytes=4000).collect()
    assert {row[0]: tuple(row[1:]) for row in got} == wanted and len(got) == GROUPS, (mode, got[:3])
    assert len([name for name in os.listdir(tried) if name.startswith(mode)]) == 2, os.listdir(tried)

# A failure that stays is the job's.
failing(ws.groupby(rows.selectExpr("k", "cast(raise_error('no luck') as bigint) v"), "k", "count:v").collect, "no luck")

# Parquet that the package reads: the file's middle is damaged; then its end is missing.
path = os.path.join(folder.name, "t.parquet")
parquet.write_table(pyarrow.table({"k": [i % 7 for i in range(20000)], "v": range(20000)}), path, compression="zstd",
                    write_page_checksum=True)
with open(path, "rb") as file:
    whole = file.read()
good = ws.groupby(spark.read.parquet(path), "k", "sum:v").collect()
assert sum(row[1] for row in good) == sum(range(20000))
for data, part in ((whole[:len(whole) // 2 - 200] + bytes(400) + whole[len(whole) // 2 + 200:], "t.parquet: could not verify"),
                   (whole[:-100], "t.parquet: ")):
    with open(path, "wb") as file:
        file.write(data)
    said = failing(lambda: warpage.groupby(path, "k", "sum:v"), part)
    assert len(said.splitlines()) == 1, said
spark.stop()
folder.cleanup()
