# SPDX-License-Identifier: Apache-2.0
"""warpage.spark on local[2] against Spark's own groupBy().agg(): random tables of every type, split every way. Exit
status 77: pyspark, pyarrow or Java is missing."""
import contextlib
import datetime
import decimal
import gzip
import importlib.util
import io
import math
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
from types import SimpleNamespace

try:
    import pyarrow  # noqa: F401
    from pyspark import cloudpickle
    from pyspark.sql import SparkSession, functions, types
except ImportError as error:
    print("skipped: %s" % error)
    sys.exit(77)
if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
    print("skipped: Spark needs Java: Debian's package openjdk-17-jre-headless")
    sys.exit(77)

os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
import warpage
import warpage.spark as ws

SEED = int(os.environ.get("SEED", "4"))
random_ = random.Random(SEED)
print("SEED=%d" % SEED)
said = subprocess.run([sys.executable, "-c", "import warpage.spark"], capture_output=True, text=True, check=True,
                      env={**{name: value for name, value in os.environ.items() if name != "JAVA_HOME"}, "PATH": ""}).stderr
assert "Spark needs a Java runtime" in said and "openjdk-17-jre-headless" in said, said
said = subprocess.run([sys.executable, "-c", "import sys; sys.modules['pandas'] = None; import warpage.spark"], capture_output=True, text=True,
                      check=False).stderr.splitlines()[-1]
assert "needs the package pandas" in said and 'pip install "pyspark[sql]"' in said, said
# Hundreds of queries over few rows: Spark interprets its plans, as generating and compiling Java for each takes longer.
spark = (SparkSession.builder.master("local[2]").config("spark.sql.codegen.wholeStage", "false").config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
         .config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "3")
         .config("spark.log.level", "OFF").config("spark.driver.host", "127.0.0.1").config("spark.sql.ansi.enabled", "true")
         .config("spark.sql.execution.arrow.maxRecordsPerBatch", "100").config("spark.sql.session.timeZone", "UTC")
         .config("spark.ui.showConsoleProgress", "false").config("spark.default.parallelism", "2")
         .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC").getOrCreate())

POOLS = {
    "b": (types.ByteType(), [-128, 0, 127]), "s": (types.ShortType(), [-5, 7]), "i": (types.IntegerType(), [-2**31, 2**31 - 1, 3]),
    "l": (types.LongType(), [-2**52, 2**52, 1]), "f": (types.FloatType(), [0.5, -0.0, math.nan, math.inf]),
    "d": (types.DoubleType(), [0.25, -0.0, 0.0, math.nan, -math.inf, 1e9]), "t": (types.StringType(), ["", "a", "zürich", "\0", "long " * 9]),
    "z": (types.BinaryType(), [b"", b"\0", b"xyz" * 9]), "o": (types.BooleanType(), [True, False]),
    "day": (types.DateType(), [datetime.date(2013, 1, 1), datetime.date(1960, 2, 29)]),
    "at": (types.TimestampType(), [datetime.datetime(2013, 1, 1, 5, 17), datetime.datetime(1999, 9, 9)]),
    "m": (types.DecimalType(12, 2), [decimal.Decimal("-7.25"), decimal.Decimal("9999999999.99"), decimal.Decimal("0.01")]),
    "n": (types.DecimalType(18, 0), [decimal.Decimal(-5), decimal.Decimal(10**17)]),
    "p": (types.DecimalType(38, 4), [decimal.Decimal(x) for x in ("1e30", "-1e30", "0.0001", "123456789012345678901234567.8901")]),
    "count": (types.IntegerType(), [4, 5]),
}
SCHEMA = types.StructType([types.StructField(name, type_) for name, (type_, _) in POOLS.items()])
AGGREGATES = ["count", "count:t", "sum:i", "sum:l", "avg:i", "min:l", "max:s", "sum:f", "avg:d", "min:d", "max:f", "max:day", "min:at", "sum:b", "sum:m", "min:m",
              "sum:n", "max:n", "min:t", "max:z", "max:o", "var:i", "stddev:s", "var:m", "var:d", "min:p", "max:p", "sum:p", "var:p"]
LISTS = ["median:i", "quantile:s:0.25", "quantile:m:0.9", "count_distinct:t", "count_distinct:d", "max:t", "stddev:b", "count", "sum:m",
         "median:p", "quantile:p:0.3", "count_distinct:p", "max:p"]


def rows(count, null_share, hot=False):
    return [tuple(None if random_.random() < null_share else pool[0] if hot else random_.choice(pool) for _, pool in POOLS.values())
            for _ in range(count)]


def spark_own(df, keys, aggregates):
    asked = []
    for aggregate in aggregates:
        operation, column, *share = (aggregate + ":").split(":")[:-1] if ":" in aggregate else (aggregate, "")
        own = {"var": "var_samp", "quantile": "percentile"}.get(operation, operation)
        if own != operation or operation in ("median", "count_distinct", "stddev"):
            asked.append(getattr(functions, own)(column, *map(float, share)))
            continue
        asked.append(getattr(functions, operation)(column or "*").alias("%s(%s)" % (operation, column) if column else operation))
    return df.groupBy(*keys).agg(*asked)


def plain(value):
    if isinstance(value, float):
        return "nan" if math.isnan(value) else "%.12g" % (value + 0.0)
    return bytes(value) if isinstance(value, bytearray) else value


def rows_of(df):
    return sorted((tuple(map(plain, row)) for row in df.collect()), key=repr)


def check(df, keys, aggregates=AGGREGATES, **options):
    ours, own = ws.groupby(df, keys, aggregates, **options), spark_own(df, keys, aggregates)
    assert ours.columns == own.columns, (ours.columns, own.columns)
    assert [f.dataType for f in ours.schema] == [f.dataType for f in own.schema], (ours.schema, own.schema)
    a, b = rows_of(ours), rows_of(own)
    assert a == b, (keys, options, [pair for pair in zip(a, b) if pair[0] != pair[1]][:2], len(a), len(b))


# Spark adds integers of an average as doubles, which is exact for these of 32 bits.
for count, null_share, partitions in [(0, 0.1, 1), (300, 0.1, 5), (40, 0.5, 8)]:
    df = spark.createDataFrame(rows(count, null_share), SCHEMA).repartition(partitions).cache()
    single = list(POOLS)
    random_.shuffle(single)
    for number, keys in enumerate([single[:1], single[1:3], single[3:7], ["t", "count"]][:2 if count == 0 else 4]):
        check(df, keys, mode=["partial", "exchange"][number % 4 == 1], memory_bytes=random_.choice([1, 1 << 28]))
check(df, ["t"], LISTS)
check(df, ["p"], LISTS)
check(df, ["p", "m"], ["count", "min:p", "max:t", "sum:i"], memory_bytes=1)
check(df, ["o", "day"], LISTS, mode="exchange", memory_bytes=1)
check(spark.createDataFrame(rows(300, 0, hot=True), SCHEMA).repartition(4), ["t", "l"])
many = spark.range(0, 4000, 1, 2).selectExpr("id % 1900 id", "string(id % 1900) t", "if(id % 5 = 0, null, id % 7) v")
for mode in ("exchange", "partial"):  # tasks that write partials to files
    check(many, ["id", "t"], ["count", "sum:v", "avg:v"], mode=mode, memory_bytes=100_000)

# Parcels: their numbers bring them to all partitions of the exchange, one each.
for count in ("1", "3", "64"):
    spark.conf.set("spark.sql.shuffle.partitions", count)
    places = spark.createDataFrame([(place,) for place in ws._places(spark)], "p int").repartition(int(count), "p")
    assert places.select(functions.spark_partition_id()).distinct().count() == int(count), count
check(spark.createDataFrame(rows(40, 0.2), SCHEMA).repartition(64), ["t", "i"], ["count", "sum:l", "min:t"])  # most are empty
check(spark.range(0, 500, 1, 7).selectExpr("id k", "id % 9 v"), ["k"], ["count", "sum:v"])  # all keys differ
spark.conf.set("spark.sql.shuffle.partitions", "3")
check(spark.createDataFrame(spark.sparkContext.emptyRDD(), SCHEMA), ["t", "i"], ["count", "sum:l", "min:t"])  # no partition
batch_bytes = "spark.sql.execution.arrow.maxBytesPerBatch"
for size in ("1048576b", "1"):  # Spark's batches for the second stage
    spark.conf.set(batch_bytes, size)
    check(many, ["t"], ["count", "sum:v"])
spark.conf.unset(batch_bytes)
for mode in ("exchange", "partial"):  # rows that are passed on, and partials of others
    check(spark.range(0, 60000, 1, 2).selectExpr("if(id < 30000, id, id % 100) k", "string(id % 40000) t", "id v"), ["k", "t"], ["count", "sum:v", "max:v"],
          mode=mode)

# Mode auto, and why.
for df, mode in ((spark.range(200000).selectExpr("id k"), "exchange"), (spark.range(200000).selectExpr("id % 9 k"), "partial"),
                 (spark.range(200000).selectExpr("id % 50000 k"), "partial"), (spark.range(0).selectExpr("id k"), "partial")):
    with contextlib.redirect_stdout(io.StringIO()) as said:
        assert ws.groupby(df, "k", mode="auto", explain=True).count() == df.distinct().count()
    assert said.getvalue().startswith("mode %s: " % mode), said.getvalue()

with contextlib.redirect_stdout(io.StringIO()) as said:
    assert ws.groupby(spark.range(100).selectExpr("id % 9 k", "id v"), "k", "median:v", mode="auto", explain=True).count() == 9
assert said.getvalue().splitlines()[0] == "mode exchange: median:v needs all rows of a key at once", said.getvalue()

# A sample: the truth lies within 1.5 intervals of 99.99 %.
values = spark.range(0, 300000, 1, 5).selectExpr("if(id % 10 = 0, null, double(id * 7919 % 1000)) v")
mean, total = values.agg({"v": "avg"}).collect()[0][0], values.agg({"v": "sum"}).collect()[0][0]
sample = ws.sample(values, "v", 20000, seed=5, confidence=0.9999)
assert sample.rows == 300000 and 20000 <= sample.reads < 30000, sample
assert abs(sample.mean - mean) < 1.5 * sample.mean_error and abs(sample.sum - total) < 1.5 * sample.sum_error, (sample, mean, total)
assert 0 < sample.mean_error < 20, sample
half = ws.sample(spark.range(0, 4000, 1, 4).selectExpr("if(id < 2000, null, 5) v"), "v", 400)  # partitions without a value
assert half.rows == 4000 and half.mean == half.min == half.max == 5 and half.sum == 10000, half

# Lazy, and goes on.
groups = ws.groupby(spark.range(100).selectExpr("id % 3 k", "id v"), "k", "sum:v")
assert groups.join(spark.createDataFrame([(1, "one")], "k long, name string"), "k").collect()[0].asDict() == {"k": 1, "sum(v)": 1617, "name": "one"}

# Sums: partial ones leave 64 bits and the whole does not; the whole does.
big = spark.createDataFrame([(1, 2**63 - 1), (1, 2**63 - 1), (1, -2**63), (1, -2**63)], "k int, v long").coalesce(1)
assert ws.groupby(big, "k", "sum:v", memory_bytes=1).collect()[0]["sum(v)"] == -2
for df, aggregates, part in ((big.filter("v > 0"), "sum:v", "sum:v: a sum does not fit int64"),):
    try:
        ws.groupby(df, "k", aggregates).collect()
    except Exception as error:
        assert part in str(error), error
    else:
        raise AssertionError("no error that says '%s'" % part)

# Columns of NULL alone, and intervals of days.
spans = spark.range(0, 60, 1, 4).selectExpr("if(id % 7 = 0, null, id % 4 * interval '1' day) i", "null v", "id % 3 k", "id")
for number, keys in enumerate((["i"], ["v"], ["v", "k", "i"])):
    check(spans, keys, ["count", "count:v", "sum:id", "min:i", "count:i"], mode=["partial", "exchange"][number % 2], memory_bytes=1)
check(spans, ["k"], ["count_distinct:i", "count_distinct:v", "max:i"])

# Names as Spark has them: whatever their case, unless it is to count; aggregates as a dict.
named = spark.createDataFrame([(1, 2, 3), (1, 5, 7)], "Key int, `a.b` int, Value int")
check(named, ["kEY"], ["sum:VALUE", "max:Value", "count"])
assert ws.groupby(named, "Key", {"a.b": ["min", "max"], "*": "count"}).collect() == [(1, 2, 5, 2)]
asked = ws.groupby(named, "Key", least=("a.b", "min"), rows="count")
assert asked.columns == ["Key", "least", "rows"] and asked.collect() == [(1, 2, 2)]
spark.conf.set("spark.sql.caseSensitive", "true")
try:
    ws.groupby(named, "key")
except KeyError as error:
    assert "no column 'key'; did you mean 'Key'?" in str(error), error
else:
    raise AssertionError("another case")
spark.conf.unset("spark.sql.caseSensitive")
for table, options, part in ((named.groupBy("Key"), {}, "not a DataFrame of Spark: an object of type pyspark.sql.group.GroupedData"),
                             (7, {}, "not a DataFrame of Spark"), (named, {"device": "gpu"}, "device is 'gpu'"), (named, {"device": 7}, "device is 7"),
                             (named.selectExpr("collate(string(Key), 'UTF8_LCASE') Key"), {}, "by their bytes, not by a collation"),
                             (named.selectExpr("Key", "collate(string(Key), 'UTF8_LCASE') t"), {"max": "t"}, "max:t: the column has Spark's type string collate"),
                             (named.selectExpr("struct(Key) s", "Value Key"), {"sum": "s.Key"}, "select a field of a struct"),
                             (spans.selectExpr("k Key", "v"), {"min": "v"}, "min:v: the column has Spark's type void")):
    try:
        ws.groupby(table, "Key", **options)
    except warpage.WarpageError as error:
        assert part in str(error), error
    else:
        raise AssertionError("no error that says '%s'" % part)

# Workers whose Python lacks a package: known before a job starts, where they are on this host.
kept, spark.sparkContext.pythonExec = spark.sparkContext.pythonExec, "/bin/false"
try:
    ws.groupby(named, "Key")
except warpage.WarpageError as error:
    assert "workers take the Python /bin/false, which lacks a package (exit status 1): set PYSPARK_PYTHON to " in str(error), error
else:
    raise AssertionError("workers without packages")
spark.sparkContext.pythonExec = kept

# The example: compressed TSV, where NA and nothing are NULL.
spec = importlib.util.spec_from_file_location("example", pathlib.Path(__file__).resolve().parents[2] / "examples/spark_groupby.py")
example = importlib.util.module_from_spec(spec)
spec.loader.exec_module(example)
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "log.tsv.gz")
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write("host\turl\tcode\tbytes\tshare\n")
        file.writelines("%s\t/%d,%d\t%s\t%s\t%s\n" % ("" if i % 13 == 0 else "h%d" % (i % 7), i % 3, i % 5, "NA" if i % 11 == 0 else 200 + i % 2, i * 7919 % 1000,
                                                   "NaN" if i % 17 == 0 else i / 8) for i in range(2000))
    logged = example.read(spark, path)
    assert dict(logged.dtypes) == {"host": "string", "url": "string", "code": "int", "bytes": "int", "share": "double"}, logged.dtypes
    asked = ["count", "count:code", "sum:bytes", "avg:bytes", "var:share", "quantile:bytes:0.9", "count_distinct:url"]
    own = example.own(logged, ["host", "code"], asked).collect()
    assert len(own) == 24 and example.are_same(ws.groupby(logged, ["host", "code"], asked).collect(), own, 2), own
    assert not example.are_same([own[1], *own[1:]], own, 2) and not example.are_same(own[1:], own, 2)

# Errors before a job starts.
df = spark.createDataFrame([(1, "a", [1], decimal.Decimal(1))], "user int, item string, list array<int>, price decimal(9,2)")
for keys, aggregates, options, part in (
        ("usr", "count", {}, "no column 'usr'; did you mean 'user'?"), ([], "count", {}, "there are no keys: name the columns"),
        ("list", "count", {}, "key 'list' has Spark's type array<int>"), ("user", "avg:item", {}, "avg:item: the column has Spark's type string"),
        ("user", "median:item", {}, "median:item: the column has Spark's type string"), ("user", "quantile:user:2", {}, "from 0 to 1"),
        ("user", "median:user", {"mode": "partial"}, "median:user has no partial form: use mode \"exchange\""),
        ("user", "sum:item", {}, "sum:item: the column has Spark's type string"), ("user", "middle:user", {}, "the aggregates are"),
        ("user", "count", {"mode": "fast"}, "mode 'fast' is none of auto, partial, exchange"),
        ("user", "count", {"memory_bytes": 0}, "memory_bytes is 0"), (["user", "user"], "count", {}, "named twice")):
    try:
        ws.groupby(df, keys, aggregates, **options)
    except warpage.WarpageError as error:
        assert part in str(error), error
    else:
        raise AssertionError("no error that says '%s'" % part)

for column, options, part in (("usr", {}, "no column 'usr'; did you mean 'user'?"), ("item", {}, "column 'item' has Spark's type string"),
                              ("user", {"n": 0}, "n is 0"), ("user", {"confidence": 1}, "confidence is 1")):
    try:
        ws.sample(df, column, **options)
    except warpage.WarpageError as error:
        assert part in str(error), error
    else:
        raise AssertionError("no error that says '%s'" % part)

# Sums of decimals beyond 64 bits.
wide = spark.range(0, 2000, 1, 3).selectExpr("id % 7 k", "cast(id - 999 as decimal(28, 2)) * 1000000000000000003 w")
own = wide.groupBy("k").agg(functions.sum("w"), functions.count("w"))
for mode in ("partial", "exchange"):
    got = ws.groupby(wide, "k", ["sum:w", "count:w"], mode=mode)
    assert got.schema["sum(w)"].dataType == own.schema["sum(w)"].dataType and sorted(got.collect()) == sorted(own.collect()), mode

# Averages of decimals: Spark's type and rounding. Their sums fit 38 digits.
for precision, scale, digits in ((9, 2, 9), (18, 0, 18), (30, 5, 30), (38, 37, 30), (38, 38, 34), (38, 30, 33)):
    numbers = [decimal.Decimal(random_.randrange(-10**digits + 1, 10**digits)).scaleb(-scale, decimal.Context(prec=40)) for _ in range(400)]
    table = spark.createDataFrame([(i * 7919 % 61, None if i % 11 == 0 or i * 7919 % 61 == 5 else number) for i, number in enumerate(numbers)],
                                  "k int, d decimal(%d, %d)" % (precision, scale)).repartition(3)
    check(table, ["k"], ["avg:d", "sum:d", "count:d", "avg:k", "min:d"], mode=["partial", "exchange"][scale % 2])
try:
    ws.groupby(spark.range(3).selectExpr("1 k", "cast(1e30 as decimal(38,4)) d"), "k", "avg:d").collect()
except Exception as error:
    assert "an average of decimals does not fit decimal128(38, 8)" in str(error), error
else:
    raise AssertionError("an average beyond its type")

# A device that no worker has, before a job starts. The driver cannot know where workers have an environment of their own.
for call in (ws.groupby, ws.sample):
    for device, part in (("cuda", "Spark assigns no GPUs to tasks: set spark.task.resource.gpu.amount"), ("cuda:0", "CUDA driver"),
                         ("sim:k8", "did you mean 'k80'?")):
        try:
            call(df, "user", device=device)
        except warpage.WarpageError as error:
            assert part in str(error), error
        else:
            raise AssertionError("no error that says '%s'" % part)
kept, spark.sparkContext._conf = spark.sparkContext._conf, spark.sparkContext.getConf().set("spark.executorEnv.WARPAGE_LIBCUDA", "/none")
try:
    ws.groupby(df, "user", device="cuda:0").collect()
except Exception as error:
    assert not isinstance(error, warpage.WarpageError) and "CUDA driver" in str(error), error
else:
    raise AssertionError("a worker's CUDA driver that is not there")
spark.sparkContext._conf = kept

# A stream has no last row; its batches are tables.
with tempfile.TemporaryDirectory() as folder:
    spark.range(0, 60, 1, 2).selectExpr("id % 7 k", "id v").write.parquet(folder + "/in")
    stream = spark.readStream.schema("k long, v long").parquet(folder + "/in")
    for call in (ws.groupby, ws.sample):
        try:
            call(stream, "k")
        except TypeError as error:
            assert "the DataFrame is a stream" in str(error) and "foreachBatch" in str(error), error
        else:
            raise AssertionError("a stream")
    batches = []
    (stream.writeStream.trigger(availableNow=True).option("checkpointLocation", folder + "/state")
     .foreachBatch(lambda batch, number: batches.append(ws.groupby(batch, "k", "sum:v").collect())).start().awaitTermination())
    assert [sorted(map(tuple, batch)) for batch in batches] == [[(k, sum(range(k, 60, 7))) for k in range(7)]], batches

# A session whose Spark is older than pyspark: of a server, or of SPARK_HOME.
try:
    ws.groupby(SimpleNamespace(mapInArrow=None, sparkSession=SimpleNamespace(version="3.5.1")), "k")
except ValueError as error:
    assert str(error) == "the session's Spark is 3.5.1: warpage.spark needs Spark 4.0 or later", error
else:
    raise AssertionError("an old Spark")
spark.stop()

# A worker with another version or build, and one without the package: the function that is shipped says so.
code = "import sys; from pyspark import cloudpickle; list(cloudpickle.loads(bytes.fromhex(sys.argv[1]))(iter([])))"


def shipped(*build):
    return cloudpickle.dumps(ws.spark_tasks.first_task(build, ["k0"], ["count"], True, "cpu", 1, [0], 4096, {})).hex()


is_installed = subprocess.run([sys.executable, "-I", "-c", "import warpage"], capture_output=True, check=False).returncode == 0
for flags, build, parts in (([], ("9.9", "0"), ["the workers have Warpage %s and the driver has 9.9" % warpage.__version__, "host "]),
                            ([], (warpage.__version__, "0"), ["different builds of Warpage %s" % warpage.__version__, "host "]),
                            (["-I"], ("9.9", "0"), ["cannot be loaded by the workers' Python", "host ", "pip install"])):
    if flags and is_installed:
        continue
    out = subprocess.run([sys.executable, *flags, "-c", code, shipped(*build)], capture_output=True, text=True, check=False).stderr
    assert all(part in out for part in parts), out
