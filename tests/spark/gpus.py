# SPDX-License-Identifier: Apache-2.0
"""Tasks that group on the GPU that Spark has assigned to them, on the stand-in for NVIDIA's driver: two workers, whose GPUs
are cuda:0 and cuda:1. Run by cluster.sh --gpus."""
import os

from pyspark.sql import SparkSession
import warpage.spark as ws

ROWS = 3_000


def session(devices):
    """Executors whose driver has so many GPUs."""
    return (SparkSession.builder.master(os.environ["SPARK_MASTER"]).config("spark.log.level", "OFF")
            .config("spark.ui.showConsoleProgress", "false").config("spark.executor.resource.gpu.amount", "1")
            .config("spark.task.resource.gpu.amount", "1").config("spark.sql.adaptive.enabled", "false")
            .config("spark.task.maxFailures", "1").config("spark.executorEnv.FAKE_CUDA_DEVICES", str(devices))
            .config("spark.executorEnv.WARPAGE_LIBCUDA", os.environ["WARPAGE_LIBCUDA"]).getOrCreate())


def table(spark):
    return spark.range(0, ROWS, 1, 4).selectExpr("id % 37 k", "if(id % 5 = 0, null, concat('t', id % 3)) t", "id v")


spark = session(2)
spark.range(4).repartition(4).mapInArrow(lambda batches: batches, "id long").count()  # every worker has its Python


def addresses(batches):
    import time
    import pyarrow
    from pyspark import TaskContext
    time.sleep(1)  # so that each worker has a task
    yield pyarrow.RecordBatch.from_pydict({"a": [TaskContext.get().resources()["gpu"].addresses[0]]})


seen = {row.a for row in spark.range(8).repartition(8).mapInArrow(addresses, "a string").collect()}
assert seen == {"0", "1"}, seen
wanted = {}
for row in range(ROWS):
    count, total, most = wanted.get((row % 37, None if row % 5 == 0 else "t%d" % (row % 3)), (0, 0, 0))
    wanted[row % 37, None if row % 5 == 0 else "t%d" % (row % 3)] = count + 1, total + row, max(most, row)
for mode in ("partial", "exchange"):
    groups = ws.groupby(table(spark), ["k", "t"], ["count", "sum:v", "max:v"], device="cuda", mode=mode).collect()
    assert {(row[0], row[1]): tuple(row[2:]) for row in groups} == wanted and len(groups) == len(wanted), mode
print("%d groups on the GPUs %s" % (len(wanted), ", ".join(sorted(seen))))
sample = ws.sample(table(spark), "v", n=4_000, device="cuda")
assert abs(sample.mean - (ROWS - 1) / 2) < 3 * sample.mean_error, sample
spark.stop()

# The address is what reaches the driver: with one GPU there is no cuda:1.
spark = session(1)
try:
    ws.groupby(table(spark).repartition(8), "k", "count", device="cuda").collect()
except Exception as error:
    assert "cuda:1" in str(error) and "1 GPU" in str(error), error
else:
    raise AssertionError("a GPU that is not there")
spark.stop()
