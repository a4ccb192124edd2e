# SPDX-License-Identifier: Apache-2.0
"""warpage.spark on a session of Spark Connect: group-bys in each mode against Spark's own, samples, failures of tasks, and
sweeps, which refuse it. Exit status 77: pyspark, what its Connect client needs, or Java is missing."""
import contextlib
import io
import os
import shutil
import socket
import subprocess
import sys

try:
    import pyarrow  # noqa: F401
    import grpc_status  # noqa: F401
    import zstandard  # noqa: F401
    from google.rpc import error_details_pb2  # noqa: F401
    from pyspark.sql import SparkSession, functions
except ImportError as error:
    print("skipped: %s" % error)
    sys.exit(77)
if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
    print("skipped: Spark needs Java: Debian's package openjdk-17-jre-headless")
    sys.exit(77)

os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
import warpage
import warpage.spark as ws

SERVER = """
import sys
from pyspark.sql import SparkSession
SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "3") \\
    .config("spark.log.level", "OFF").config("spark.driver.host", "127.0.0.1").config("spark.sql.ansi.enabled", "true") \\
    .config("spark.plugins", "org.apache.spark.sql.connect.SparkConnectPlugin").config("spark.connect.grpc.binding.port", sys.argv[1]) \\
    .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC").config("spark.ui.showConsoleProgress", "false").getOrCreate()
print("ready", flush=True)
sys.stdin.read()
"""
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
server = subprocess.Popen([sys.executable, "-c", SERVER, str(port)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
assert server.stdout.readline() == "ready\n", "no server"
spark = SparkSession.builder.remote("sc://127.0.0.1:%d" % port).getOrCreate()
assert type(spark).__module__.startswith("pyspark.sql.connect"), type(spark)


def failing(call, part):
    try:
        rows = call()
    except Exception as error:
        assert part in str(error), error
        return error
    raise AssertionError("no error that says '%s', but %s" % (part, rows))


table = spark.range(0, 70000, 1, 3).selectExpr("id % 100 count", "if(id % 7 = 0, null, string(id % 7)) `t.x`", "if(id % 5 = 0, null, id) v")
own = table.groupBy("count", "`t.x`").agg(functions.count("*").alias("count"), functions.sum("v"), functions.avg("v"), functions.median("v"))
wanted = sorted(map(tuple, own.collect()), key=repr)
for mode, aggregates in (("partial", 3), ("exchange", 4), ("auto", 3)):
    with contextlib.redirect_stdout(io.StringIO()) as said:
        groups = ws.groupby(table, ["count", "t.x"], ["count", "sum:v", "avg:v", "median:v"][:aggregates], mode=mode, explain=True)
    assert said.getvalue().startswith("mode %s: " % ("partial" if mode == "auto" else mode)), said.getvalue()
    assert groups.dtypes == own.dtypes[:2 + aggregates], groups.dtypes
    assert sorted(map(tuple, groups.collect()), key=repr) == sorted((row[:2 + aggregates] for row in wanted), key=repr), mode

sample = ws.sample(table, "v", 20000, seed=5, confidence=0.9999)
mean = table.agg(functions.avg("v")).collect()[0][0]
assert sample.rows == 70000 and abs(sample.mean - mean) < 1.5 * sample.mean_error, (sample, mean)

assert isinstance(failing(lambda: ws.groupby(table, "cuont"), "no column 'cuont'; did you mean 'count'?"), warpage.WarpageError)
big = spark.createDataFrame([(1, 2**63 - 1), (1, 2**63 - 1)], "k int, v long")
failing(lambda: ws.groupby(big, "k", "sum:v").collect(), "sum:v: a sum does not fit int64")
failing(lambda: ws.groupby(big, "k", device="cuda").collect(), "Spark has assigned no GPU")
failing(lambda: ws.sweep("./app", {"device": ["sim:k80"]}), "begin the session by master(…), not by remote(…)")
spark.stop()
server.communicate("")
