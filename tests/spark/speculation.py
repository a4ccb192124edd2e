# SPDX-License-Identifier: Apache-2.0
"""Slow tasks that Spark speculates (spark.speculation), in each stage of each mode: a copy runs on the other host, the
first attempt is ended, and no group comes twice. Run by cluster.sh --apart."""
import os
import sys
import tempfile
import time

from pyarrow import parquet
from pyspark import cloudpickle
from pyspark.sql import SparkSession
import warpage.spark as ws

cloudpickle.register_pickle_by_value(sys.modules[__name__])
ROWS, GROUPS, PARTITIONS, SLOW_S = 4000, 300, 4, 240
spark = (SparkSession.builder.master(os.environ["SPARK_MASTER"]).config("spark.log.level", "OFF")
         .config("spark.ui.showConsoleProgress", "false").config("spark.speculation", "true")
         .config("spark.speculation.interval", "100ms").config("spark.speculation.quantile", "0.25")
         .config("spark.sql.adaptive.enabled", "false").config("spark.sql.shuffle.partitions", str(PARTITIONS))
         .config("spark.sql.execution.arrow.maxRecordsPerBatch", "100").getOrCreate())


def slow_at_first(folder, name):
    """Passes batches on; the first attempt of the task of partition 0 then takes long to end."""
    def run(batches):
        from pyspark import TaskContext
        where = TaskContext.get()
        yield from batches
        if where.partitionId() == 0:
            path = os.path.join(folder, "%s-%d" % (name, where.attemptNumber()))
            with open(path, "w", encoding="utf8") as file:
                file.write("begun")
            if where.attemptNumber() == 0:
                time.sleep(SLOW_S)
                os.rename(path, path + "-ended")
    return run


wanted = {"t%d" % key: (len(range(key, ROWS, GROUPS)), sum(range(key, ROWS, GROUPS))) for key in range(GROUPS)}
rows = spark.range(0, ROWS, 1, PARTITIONS).selectExpr("concat('t', id %% %d) k" % GROUPS, "id v")
with tempfile.TemporaryDirectory() as folder:
    os.chmod(folder, 0o777)
    spark.range(8).repartition(4).mapInArrow(lambda batches: batches, "id long").count()  # every worker has its Python
    for mode in ("partial", "exchange"):
        for stage in ("first", "last"):
            name, started = "%s-%s" % (mode, stage), time.monotonic()
            slow = slow_at_first(folder, name)
            given = rows.mapInArrow(slow, rows.schema) if stage == "first" else rows
            groups = ws.groupby(given, "k", ["count", "sum:v"], mode=mode, memory_bytes=20_000)
            if stage == "last":
                groups = groups.withColumnsRenamed({"count": "n", "sum(v)": "s"})
                groups = groups.mapInArrow(slow, groups.schema)
            path = os.path.join(folder, name + ".parquet")
            groups.toDF("k", "n", "s").write.parquet(path)
            took_s = time.monotonic() - started
            got = [tuple(row.values()) for row in parquet.read_table(path).to_pylist()]
            assert len(got) == GROUPS and {row[0]: row[1:] for row in got} == wanted, (name, len(got))
            begun = sorted(file for file in os.listdir(folder) if file.startswith(name + "-"))
            assert begun[:2] == [name + "-0", name + "-1"] and took_s < SLOW_S, (begun, took_s)
            print("%s: a copy of the slow task won, %.1f s" % (name, took_s))
spark.stop()
