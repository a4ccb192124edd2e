# SPDX-License-Identifier: Apache-2.0
"""Group-by on Apache Spark, by Warpage's operators, and sweeps of simulations in Spark's tasks:

    import warpage.spark as ws
    ws.groupby(df, ["user", "item"], ["count", "sum:price", "avg:price"])
    ws.sweep(["./nw", "--memory", "managed"], {"device": ["sim:k80", "sim:p100"], "l2.bytes": ["1MiB", "2MiB"]})

Takes pyspark from 4.0 on with pyarrow and pandas, and a Java runtime: pip install "pyspark[sql]".

From Spark 4.1 on, spark.conf.set("spark.sql.execution.arrow.maxBytesPerBatch", "2147483647") halves what passing rows to Python
costs: with less, Spark adds up a batch's bytes for each row. Batches then have spark.sql.execution.arrow.maxRecordsPerBatch rows.
"""
import functools
import importlib.util
import os
import shutil
import subprocess
import sys
import warnings

from warpage import interface, native, spark_tasks
from warpage.native import ArgumentError, ColumnError, TableTypeError, WarpageError  # noqa: F401
from warpage.operators import Named, check_names, key_names, parse_aggregate, parse_aggregates
from warpage.sampling import Sample, join

try:
    import pyarrow
    import pyspark
    from pyspark import cloudpickle
    from pyspark.errors import PySparkException
    from pyspark.sql import types
    from pyspark.sql.pandas.types import to_arrow_schema
except ImportError as _error:
    raise ImportError("warpage.spark needs the packages pyspark and pyarrow (%s): pip install \"pyspark[sql]\"" % _error) from None

if int(pyspark.__version__.split(".")[0]) < 4:
    raise ImportError("warpage.spark needs Spark 4.0 or later; pyspark is %s" % pyspark.__version__)

if importlib.util.find_spec("pandas") is None:
    raise ImportError("warpage.spark needs the package pandas, without which pyspark does not pass rows to Python: pip install \"pyspark[sql]\"")

from warpage.spark_sweep import sweep  # noqa: E402

if not (os.environ.get("JAVA_HOME") or os.environ.get("SPARK_REMOTE") or shutil.which("java")):
    warnings.warn("Spark needs a Java runtime, and there is neither a program java on the PATH nor JAVA_HOME: install one, such as "
                  "Debian's package openjdk-17-jre-headless", stacklevel=2)

cloudpickle.register_pickle_by_value(spark_tasks)

MODES = ["auto", "partial", "exchange"]
MEMORY_BYTES = 512 << 20
ROWS_SHARE = 4  # of a task's memory: rows from which groups are made at a time
HEAD_ROWS, HEAD_PARTITIONS = 1 << 16, 4  # that mode "auto" looks at

_INTEGERS = (types.ByteType, types.ShortType, types.IntegerType, types.LongType)
_FLOATS = (types.FloatType, types.DoubleType)
_TIMES = (types.DateType, types.TimestampType, types.TimestampNTZType)
_TEXTS = (types.StringType, types.BinaryType)
_DECIMAL = (types.DecimalType,)
_KEYS = _INTEGERS + _FLOATS + _TIMES + _TEXTS + _DECIMAL + (types.BooleanType, types.NullType, types.DayTimeIntervalType)
_DEVICES = ("cpu", "cuda", "sim:")  # what names of devices begin with


def _is_collated(type_):
    """Whether texts that differ may be equal to Spark."""
    return isinstance(type_, types.StringType) and getattr(type_, "collation", "UTF8_BINARY") != "UTF8_BINARY"


def _check_types(fields, keys, aggregates):
    for key in keys:
        type_ = fields[key].dataType
        if not isinstance(type_, _KEYS):
            raise TableTypeError("key '%s' has Spark's type %s, which is not grouped" % (key, type_.simpleString()))
        if _is_collated(type_):
            raise TableTypeError("key '%s' has Spark's type %s: texts are grouped by their bytes, not by a collation" % (key, type_.simpleString()))
    for operation, column, _ in aggregates:
        if column is None:
            continue
        type_ = fields[column].dataType
        if _is_collated(type_) and operation != "count":
            raise TableTypeError("%s:%s: the column has Spark's type %s: texts are compared by their bytes, not by a collation" %
                                 (operation, column, type_.simpleString()))
        numbers = _INTEGERS + _FLOATS
        known = tuple(kind for kind in _KEYS if kind is not types.NullType)
        wanted = {"count": _KEYS, "count_distinct": _KEYS, "min": known, "max": known}.get(operation, numbers + _DECIMAL)
        if not isinstance(type_, wanted):
            raise TableTypeError("%s:%s: the column has Spark's type %s, of which there is no %s" %
                               (operation, column, type_.simpleString(), operation))


def _sum_type(type_):
    if isinstance(type_, _FLOATS):
        return types.DoubleType()
    return types.DecimalType(min(38, type_.precision + 10), type_.scale) if isinstance(type_, _DECIMAL) else types.LongType()


_NAMES = {"var": "var_samp(%s)", "count_distinct": "count(DISTINCT %s)"}
_DOUBLES = ("avg", "median", "quantile", *native.SPREADS)


def _name(operation, column):
    """Spark's."""
    if operation == "quantile":
        return "percentile(%s, %s, 1)" % (column, operation.share)
    return operation if column is None else _NAMES.get(operation, operation + "(%s)") % column


def _result_fields(fields, aggregates):
    """The result's, with Spark's names and types."""
    result = []
    for operation, column, name in aggregates:
        is_count = operation in ("count", "count_distinct")
        type_ = types.LongType() if is_count else types.DoubleType() if operation in _DOUBLES else None
        if operation == "sum":
            type_ = _sum_type(fields[column].dataType)
        elif operation == "avg" and isinstance(fields[column].dataType, _DECIMAL):
            type_ = types.DecimalType(min(38, fields[column].dataType.precision + 4), min(38, fields[column].dataType.scale + 4))
        name = str(name) if isinstance(name, Named) else _name(operation, column)
        result.append(types.StructField(name, type_ or fields[column].dataType, not is_count))
    return result


def _resolved(session, names, asked):
    """For each name that is asked for, the column's: as Spark, whatever its case unless spark.sql.caseSensitive is true."""
    if session.conf.get("spark.sql.caseSensitive") == "true":
        check_names(names, asked)
        return {name: name for name in asked}
    exact, any_case = set(names), {name.lower(): name for name in names}
    found = {name: name if name in exact else any_case.get(name.lower(), name) for name in asked}
    try:
        check_names(names, found.values())
    except ColumnError as error:
        absent = next(name for name in found.values() if name not in exact)
        if "." in absent and absent.partition(".")[0].lower() in any_case:
            raise ColumnError("the table has no column '%s'; select a field of a struct as a column of its own first" % absent) from None
        raise error
    return found


@functools.lru_cache(maxsize=None)
def _python_lacks(python):
    """What workers need and a Python that is named as theirs does not have; None: nothing."""
    done = subprocess.run([python, "-c", "import pyarrow, warpage"], capture_output=True, text=True, check=False)
    return (done.stderr.strip().splitlines() or ["exit status %d" % done.returncode])[-1] if done.returncode else None


def _is_local(context):
    """Whether workers are on the driver's host, by a local master."""
    return context.master.startswith("local[") or context.master == "local"


def _check_workers(session):
    """Workers of a local master take the Python that PYSPARK_PYTHON named when Spark started, else python3 of the PATH."""
    try:
        context = session.sparkContext
        python, is_local = shutil.which(context.pythonExec), _is_local(context)
    except (AttributeError, PySparkException):  # Spark Connect
        return
    if not is_local or python is None or os.path.abspath(python) == os.path.abspath(sys.executable):
        return
    lack = _python_lacks(python)
    if lack:
        raise WarpageError("Spark's workers take the Python %s, which lacks a package (%s): set PYSPARK_PYTHON to %s before Spark starts" %
                           (python, lack, sys.executable))


def _check_table(df):
    if not hasattr(df, "mapInArrow"):
        raise TableTypeError("not a DataFrame of Spark: an object of type %s.%s%s" % (
            type(df).__module__, type(df).__name__,
            "; spark.createDataFrame makes one of it, or warpage.groupby takes it" if hasattr(df, "__arrow_c_stream__") else ""))
    version = df.sparkSession.version  # of a server or SPARK_HOME, which may be another than pyspark's
    if int(version.split(".")[0]) < 4:
        raise ArgumentError("the session's Spark is %s: warpage.spark needs Spark 4.0 or later" % version)
    if df.isStreaming:
        raise TableTypeError("the DataFrame is a stream, which has no last row: call this for each of its batches, which "
                             "df.writeStream.foreachBatch passes on")


def _check_device(device, session):
    if not isinstance(device, str) or not device.startswith(_DEVICES):
        raise ArgumentError("device is %r: \"cpu\", \"cuda\" for the GPU that Spark has assigned to the task, or a device's name such as "
                            "\"cuda:0\" or \"sim:k80\"" % (device,))
    try:
        context = session.sparkContext
        settings = dict(context.getConf().getAll())
    except (AttributeError, PySparkException):  # Spark Connect: tasks say it
        return
    if device == "cuda":
        if "spark.task.resource.gpu.amount" not in settings:
            raise ArgumentError("device is \"cuda\" and Spark assigns no GPUs to tasks: set spark.task.resource.gpu.amount when Spark starts, "
                                "or name a device, such as \"cuda:0\"")
    elif _is_local(context) and not any(name.startswith("spark.executorEnv.") for name in settings):
        with native.Device(device):  # what a worker can open, the driver can
            pass


def _build():
    """What workers are to have, too."""
    return native.__version__, interface.fingerprint()


def _choose(rows, keys, limit_bytes):
    """The mode that costs less, and why: a sample of the first rows of a few partitions."""
    schema = types.StructType([types.StructField(name, types.LongType()) for name in ("rows", "bytes", "groups")] +
                              [types.StructField("has_more", types.BooleanType())])
    task = spark_tasks.head_task(_build(), keys, HEAD_ROWS, HEAD_PARTITIONS)
    heads = rows.mapInArrow(task, schema).collect()
    if not heads:
        return "partial", "no rows in the first %d partitions" % HEAD_PARTITIONS
    seen = sum(head["rows"] for head in heads)
    pieces, groups = 0, 0
    for head in heads:  # what a task would make of a piece of rows
        piece = max(head["rows"], limit_bytes * head["rows"] // max(1, head["bytes"])) if head["has_more"] else head["rows"]
        pieces += piece
        groups += spark_tasks.groups_of(piece, head["rows"], head["groups"])
    recurrence = pieces / max(1, groups)
    mode = "partial" if recurrence >= spark_tasks.LEAST_RECURRENCE else "exchange"
    return mode, "the first %d rows of %d partitions have %d groups; a task's piece would have %.1f rows to a group, " \
        "and from %d on partial costs less" % (seen, len(heads), sum(head["groups"] for head in heads), recurrence, spark_tasks.LEAST_RECURRENCE)


_PARCEL = types.StructType([types.StructField(name, type_, False) for name, type_ in
                            zip(spark_tasks.PARCEL_NAMES,
                                (types.IntegerType(), types.IntegerType(), types.LongType(), types.BinaryType()))])


def _spark_hash(number):
    """Of an integer of 32 bits, by which Spark's exchange divides rows: Murmur3 with seed 42."""
    mask = 0xFFFFFFFF

    def rotated(word, bits):
        return (word << bits | word >> 32 - bits) & mask

    word = rotated(number * 0xCC9E2D51 & mask, 15) * 0x1B873593 & mask
    word = (rotated(42 ^ word, 13) * 5 + 0xE6546B64 & mask) ^ 4
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        word = (word ^ word >> shift) * factor & mask
    return word - (word >> 31 << 32)


def _places(session):
    """A number for each partition of an exchange, which Spark's hash brings there."""
    count = session.conf.get("spark.sql.adaptive.coalescePartitions.initialPartitionNum", None)
    if session.conf.get("spark.sql.adaptive.enabled") != "true" or \
            session.conf.get("spark.sql.adaptive.coalescePartitions.enabled") != "true":
        count = None
    count = int(count or session.conf.get("spark.sql.shuffle.partitions"))
    places, number = {}, 0
    while len(places) < count:
        places.setdefault(_spark_hash(number) % count, number)
        number += 1
    return [places[partition] for partition in range(count)]


_BATCH_BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"
_NO_LIMIT = (1 << 31) - 1  # with which Spark does not add up a batch's bytes for each row


def _batch_bytes(session):
    """Of Spark's batches for Python; 0: no limit, as before Spark 4.1."""
    try:
        text = session.conf.get(_BATCH_BYTES).rstrip("b")
    except PySparkException:
        return 0
    return int(text) if text.isdigit() and int(text) < _NO_LIMIT else 0


def groupby(df, keys, aggs=None, *, device="cpu", mode=None, memory_bytes=MEMORY_BYTES, explain=False, **named):
    """Groups of a Spark DataFrame's rows: a DataFrame with the columns of df.groupBy(*keys).agg(...), lazy.

    df            a DataFrame of Spark 4.0 or later
    keys          a column's name or several: integers, floats, text (by its bytes, without a collation), binary, dates,
                  timestamps, intervals of days, booleans, decimals
    aggs          "count", "count:c", "sum:c", "avg:c", "min:c", "max:c", "var:c", "stddev:c", "median:c",
                  "quantile:c:0.9", "count_distinct:c"; or pairs, ("c", "sum"); or a dict, {"c": ["sum", "max"], "*": "count"};
                  or by name, sum="c"
    device        where tasks group: "cpu", "cuda" (the GPU that Spark has assigned to the task), or a device's name
    mode          "partial", the default: each partition is grouped, then groups are exchanged by key and merged; a task
                  in whose rows keys hardly recur sends the rows instead.
                  "exchange": rows are exchanged by key, then grouped. A median, a quantile and count_distinct need all
                  rows of a key at once, so they always take this mode.
                  "auto": one of them, by the first rows of a few partitions, for which a job runs now
    memory_bytes  of a task: beyond its quarter, rows of a partition are grouped piece by piece, and groups are written
                  to files as partials
    explain       print the mode, and why; and whether a setting of Spark slows the passing of rows to Python

    A name that does not exist, a type that is not grouped and the like raise WarpageError before a job starts. A sum of
    integers that does not fit 64 bits fails the job.
    """
    _check_table(df)
    _check_device(device, df.sparkSession)
    keys, aggregates = key_names(keys), parse_aggregates(aggs, named)
    if not isinstance(memory_bytes, int) or memory_bytes <= 0:
        raise ArgumentError("memory_bytes is %r: how many bytes may a task take, such as 512 << 20" % (memory_bytes,))
    lists = [(operation, column) for operation, column, _ in aggregates if operation in native.DISTRIBUTIONS]
    if mode == "partial" and lists:
        raise ArgumentError("%s:%s has no partial form: use mode \"exchange\"" % lists[0])
    mode, is_chosen = mode or ("exchange" if lists else "partial"), mode is not None
    if mode not in MODES:
        raise ArgumentError("mode '%s' is none of %s" % (mode, ", ".join(MODES)))
    if len(set(keys)) < len(keys):
        raise ArgumentError("a key is named twice: %s" % ", ".join(keys))
    session = df.sparkSession
    columns = list(dict.fromkeys(keys + [column for _, column, _ in aggregates if column is not None]))
    found = _resolved(session, df.columns, columns)
    for name in columns:
        if df.columns.count(found[name]) > 1:
            raise ArgumentError("the table has the column '%s' twice" % name)
    types_of = {field.name: field for field in df.schema}
    fields = {name: types_of[found[name]] for name in columns}
    _check_types(fields, keys, aggregates)
    _check_workers(session)

    # Columns have names of their own until the end, so that a key may be called "count", too.
    keys_in = ["k%d" % i for i in range(len(keys))]
    wanted = list(dict.fromkeys(column for _, column, _ in aggregates if column is not None))
    values_in = {column: "v%d" % i for i, column in enumerate(wanted)}
    inside = [parse_aggregate(_text(operation, column and values_in[column])) for operation, column, _ in aggregates]
    inside_fields = {values_in[column]: fields[column] for column in wanted}
    key_fields = [types.StructField(name, fields[key].dataType) for name, key in zip(keys_in, keys)]
    rows = df.select(*[df[_quoted(found[key])].alias(name) for name, key in zip(keys_in, keys)],
                     *[df[_quoted(found[column])].alias(values_in[column]) for column in wanted])
    batch_rows = max(0, int(session.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch")))
    zone = session.conf.get("spark.sql.session.timeZone")

    limit_bytes, reason = max(1, memory_bytes // ROWS_SHARE), "as asked" if is_chosen else "the default"
    if lists and (mode == "auto" or not is_chosen):
        mode, reason = "exchange", "%s:%s needs all rows of a key at once" % lists[0]
    if mode == "auto":
        mode, reason = _choose(rows, keys_in, limit_bytes)
    if explain:
        print("mode %s: %s" % (mode, reason))
        if _batch_bytes(session):
            print("%s is %s: Spark adds up a batch's bytes for each row that it passes to Python; with %d it does not" %
                  (_BATCH_BYTES, session.conf.get(_BATCH_BYTES), _NO_LIMIT))

    result = _result_fields(fields, aggregates)
    returned = [types.StructField("a%d" % i, field.dataType, field.nullable) for i, field in enumerate(result)]
    schema = types.StructType(key_fields + returned)
    names = {name: column for column, name in values_in.items()}
    texts, places = [], list(range(len(keys)))  # what tasks ask for, and where a column of the result is in that
    for operation, column, _ in inside:
        at = len(keys) + len(texts)
        is_quotient = operation == "avg" and isinstance(inside_fields[column].dataType, _DECIMAL)
        texts += ["sum:" + column, "count:" + column] if is_quotient else [_text(operation, column)]
        places.append((at, at + 1) if is_quotient else at)
    first = spark_tasks.first_task(
        _build(), keys_in, texts, mode == "partial", device, limit_bytes, _places(session),
        spark_tasks.piece_bytes(limit_bytes, batch_rows, _batch_bytes(session)), names)
    second = spark_tasks.second_task(_build(), keys_in, texts, device, limit_bytes, batch_rows,
                                     to_arrow_schema(schema, timezone=zone), places, names)
    groups = rows.mapInArrow(first, _PARCEL).repartition("place").mapInArrow(second, schema)
    return groups.toDF(*keys, *[field.name for field in result])


def sample(df, column, n=1_000_000, *, seed=0, confidence=0.95, device="cpu"):
    """Estimates of a column's mean and sum with confidence intervals, from about n of its values: a warpage.Sample.

    df          a DataFrame of Spark 4.0 or later; its rows are counted, and read once
    column      of integers or floats
    n           values to read, at random positions, with replacement
    seed        of the generators of positions
    confidence  level of the intervals
    device      where tasks sample, as in groupby

    Each task returns one row: the estimate of its partition.
    """
    _check_table(df)
    _check_device(device, df.sparkSession)
    column = _resolved(df.sparkSession, df.columns, [column])[column]
    type_ = df.schema[column].dataType
    if not isinstance(type_, _INTEGERS + _FLOATS):
        raise TableTypeError("column '%s' has Spark's type %s, of which there are no means" % (column, type_.simpleString()))
    if not isinstance(n, int) or n <= 0:
        raise ArgumentError("n is %r: how many values are to be read, 1 at least" % (n,))
    if not 0 < confidence < 1:
        raise ArgumentError("confidence is %r: a number between 0 and 1" % (confidence,))
    _check_workers(df.sparkSession)
    rows = df.select(df[_quoted(column)].alias("v"))
    count = rows.count()
    if not count:
        raise ArgumentError("column '%s' has no rows to sample" % column)
    fields = [(name, types.LongType() if name in ("rows", "reads") else types.DoubleType())
              for name in Sample.__dataclass_fields__]
    task = spark_tasks.sample_task(_build(), "v", n / count, seed, confidence, device)
    parts = rows.mapInArrow(task, types.StructType([types.StructField(*field) for field in fields])).collect()
    return join([Sample(**part.asDict()) for part in parts])


def _quoted(name):
    return "`%s`" % name.replace("`", "``")


def _text(operation, column):
    share = ":%r" % operation.share if operation == "quantile" else ""
    return str(operation) if column is None else "%s:%s%s" % (operation, column, share)
