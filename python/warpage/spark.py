# SPDX-License-Identifier: Apache-2.0
"""Group-by on Apache Spark, by Warpage's operators, and sweeps of simulations in Spark's tasks:

    import warpage.spark as ws
    ws.groupby(df, ["user", "item"], ["count", "sum:price", "avg:price"])
    ws.sweep(["./nw", "--memory", "managed"], {"device": ["sim:k80", "sim:p100"], "l2.bytes": ["1MiB", "2MiB"]})

Takes pyspark from 4.0 on, and pyarrow: pip install warpage[spark].
"""
import math
from warpage import native, spark_tasks
from warpage.native import ArgumentError, TableTypeError, WarpageError  # noqa: F401
from warpage.operators import check_names, parse_aggregate, parse_aggregates, partial_names
from warpage.sampling import Sample, join

try:
    import pyarrow
    import pyspark
    from pyspark import cloudpickle
    from pyspark.sql import types
    from pyspark.sql.pandas.types import to_arrow_schema
except ImportError as _error:
    raise ImportError("warpage.spark needs the packages pyspark and pyarrow (%s): pip install warpage[spark]" % _error) from None

if int(pyspark.__version__.split(".")[0]) < 4:
    raise ImportError("warpage.spark needs Spark 4.0 or later; pyspark is %s" % pyspark.__version__)

from warpage.spark_sweep import sweep  # noqa: E402

cloudpickle.register_pickle_by_value(spark_tasks)

MODES = ["auto", "partial", "exchange"]
MEMORY_BYTES = 512 << 20
ROWS_SHARE = 4  # of a task's memory: rows from which groups are made at a time
HEAD_ROWS, HEAD_PARTITIONS = 1 << 16, 4  # that mode "auto" looks at
LEAST_RECURRENCE = 4  # rows to a group of a piece, from which on partial mode costs less

_INTEGERS = (types.ByteType, types.ShortType, types.IntegerType, types.LongType)
_FLOATS = (types.FloatType, types.DoubleType)
_TIMES = (types.DateType, types.TimestampType, types.TimestampNTZType)
_TEXTS = (types.StringType, types.BinaryType)
_DECIMAL = (types.DecimalType,)
_KEYS = _INTEGERS + _FLOATS + _TIMES + _TEXTS + _DECIMAL + (types.BooleanType,)


def _check_types(fields, keys, aggregates):
    for key in keys:
        if not isinstance(fields[key].dataType, _KEYS):
            raise TableTypeError("key '%s' has Spark's type %s, which is not grouped" % (key, fields[key].dataType.simpleString()))
    for operation, column, _ in aggregates:
        if column is None:
            continue
        type_ = fields[column].dataType
        numbers = _INTEGERS + _FLOATS
        wanted = {"count": _KEYS, "count_distinct": _KEYS, "avg": numbers, "min": _KEYS, "max": _KEYS}.get(
            operation, numbers + _DECIMAL)
        if not isinstance(type_, wanted):
            raise TableTypeError("%s:%s: the column has Spark's type %s, of which there is no %s" %
                               (operation, column, type_.simpleString(), operation))


def _sum_type(type_):
    if isinstance(type_, _FLOATS):
        return types.DoubleType()
    return types.DecimalType(min(38, type_.precision + 10), type_.scale) if isinstance(type_, _DECIMAL) else types.LongType()


def _partial_fields(fields, aggregates):
    """The columns of partials, with Spark's types, and the sums of 128 bits among them: {name: scale}, None for integers.
    Between stages these are two columns of 64 bits, as Spark makes an object of each decimal of 38 digits."""
    by_name, sums = {}, {}
    for operation, column, name in aggregates:
        if operation in ("sum", "avg"):
            type_ = fields[column].dataType
            by_name["sum_%s" % column] = types.DoubleType()
            if not isinstance(type_, _FLOATS):
                sums["sum_%s" % column] = type_.scale if isinstance(type_, _DECIMAL) else None
        if operation in ("min", "max"):
            by_name[name] = fields[column].dataType
        if operation in native.SPREADS:
            by_name["mean_%s" % column] = by_name["squares_%s" % column] = types.DoubleType()
    result = []
    for name in partial_names(aggregates):
        names = spark_tasks.halves(name) if name in sums else [name]
        result += [types.StructField(half, types.LongType() if name in sums else by_name.get(name, types.LongType()))
                   for half in names]
    return result, sums


_NAMES = {"var": "var_samp(%s)", "stddev": "stddev_samp(%s)", "count_distinct": "count(DISTINCT %s)"}
_DOUBLES = ("avg", "median", "quantile", *native.SPREADS)


def _name(operation, column):
    """Spark's."""
    if operation == "quantile":
        return "percentile(%s, %s, 1)" % (column, operation.share)
    return operation if column is None else _NAMES.get(operation, operation + "(%s)") % column


def _result_fields(fields, aggregates):
    """The result's, with Spark's names and types."""
    result = []
    for operation, column, _ in aggregates:
        is_count = operation in ("count", "count_distinct")
        type_ = types.LongType() if is_count else types.DoubleType() if operation in _DOUBLES else None
        if operation == "sum":
            type_ = _sum_type(fields[column].dataType)
        result.append(types.StructField(_name(operation, column), type_ or fields[column].dataType, not is_count))
    return result


def _group_count(rows, groups):
    """How many equally frequent groups there are, if so many rows have so many of them."""
    if groups >= rows:
        return math.inf
    low, high = float(groups), float(groups)
    while high * -math.expm1(-rows / high) < groups:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if middle * -math.expm1(-rows / middle) < groups else (low, middle)
    return high


def _choose(rows, keys, limit_bytes):
    """The mode that costs less, and why: a sample of the first rows of a few partitions."""
    schema = types.StructType([types.StructField(name, types.LongType()) for name in ("rows", "bytes", "groups")] +
                              [types.StructField("has_more", types.BooleanType())])
    task = spark_tasks.head_task(native.__version__, keys, HEAD_ROWS, HEAD_PARTITIONS)
    heads = rows.mapInArrow(task, schema).collect()
    if not heads:
        return "partial", "no rows in the first %d partitions" % HEAD_PARTITIONS
    seen = sum(head["rows"] for head in heads)
    pieces, groups = 0, 0
    for head in heads:  # what a task would make of a piece of rows
        piece = max(head["rows"], limit_bytes * head["rows"] // max(1, head["bytes"])) if head["has_more"] else head["rows"]
        count = _group_count(head["rows"], head["groups"])
        pieces += piece
        groups += piece if count == math.inf else min(piece, count * -math.expm1(-piece / count))
    recurrence = pieces / max(1, groups)
    mode = "partial" if recurrence >= LEAST_RECURRENCE else "exchange"
    return mode, "the first %d rows of %d partitions have %d groups; a task's piece would have %.1f rows to a group, " \
        "and from %d on partial costs less" % (seen, len(heads), sum(head["groups"] for head in heads), recurrence, LEAST_RECURRENCE)


def groupby(df, keys, aggs=None, *, device="cpu", mode=None, memory_bytes=MEMORY_BYTES, explain=False, **named):
    """Groups of a Spark DataFrame's rows: a DataFrame with the columns of df.groupBy(*keys).agg(...), lazy.

    df            a DataFrame of Spark 4.0 or later
    keys          a column's name or several: integers, floats, text, binary, dates, timestamps, booleans, decimals
    aggs          "count", "count:c", "sum:c", "avg:c", "min:c", "max:c", "var:c", "stddev:c", "median:c",
                  "quantile:c:0.9", "count_distinct:c"; or pairs, ("c", "sum"); or by name, sum="c"
    device        where tasks group: "cpu", "cuda" (the GPU that Spark has assigned to the task), or a device's name
    mode          None: "partial". Or "partial": each partition is grouped, then groups are exchanged by key and merged: for keys that recur.
                  "exchange": rows are exchanged by key, then grouped: for keys that hardly recur. A median, a
                  quantile and count_distinct need all rows of a key at once, so they always take this mode.
                  "auto": one of them, by the first rows of a few partitions, for which a job runs now
    memory_bytes  of a task: beyond its quarter, rows of a partition are grouped piece by piece, and groups are written
                  to files as partials
    explain       print the mode, and why

    A name that does not exist, a type that is not grouped and the like raise WarpageError before a job starts. A sum of
    integers that does not fit 64 bits fails the job.
    """
    keys = [keys] if isinstance(keys, str) else list(keys)
    aggregates = parse_aggregates(aggs, named)
    if not keys:
        raise ArgumentError("by which columns?")
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
    columns = list(dict.fromkeys(keys + [column for _, column, _ in aggregates if column is not None]))
    check_names(df.columns, columns)
    fields = {field.name: field for field in df.schema}
    for name in columns:
        if df.columns.count(name) > 1:
            raise ArgumentError("the table has the column '%s' twice" % name)
    _check_types(fields, keys, aggregates)

    # Columns have names of their own until the end, so that a key may be called "count", too.
    keys_in = ["k%d" % i for i in range(len(keys))]
    wanted = list(dict.fromkeys(column for _, column, _ in aggregates if column is not None))
    values_in = {column: "v%d" % i for i, column in enumerate(wanted)}
    inside = [parse_aggregate(_text(operation, column and values_in[column])) for operation, column, _ in aggregates]
    inside_fields = {values_in[column]: fields[column] for column in wanted}
    key_fields = [types.StructField(name, fields[key].dataType) for name, key in zip(keys_in, keys)]
    rows = df.select(*[df[_quoted(key)].alias(name) for name, key in zip(keys_in, keys)],
                     *[df[_quoted(column)].alias(values_in[column]) for column in wanted])
    session = df.sparkSession
    batch_rows = max(0, int(session.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch")))
    zone = session.conf.get("spark.sql.session.timeZone")

    limit_bytes, reason = max(1, memory_bytes // ROWS_SHARE), "as asked" if is_chosen else "the default"
    if lists and (mode == "auto" or not is_chosen):
        mode, reason = "exchange", "%s:%s needs all rows of a key at once" % lists[0]
    if mode == "auto":
        mode, reason = _choose(rows, keys_in, limit_bytes)
    if explain:
        print("mode %s: %s" % (mode, reason))

    def stage(source, kind, returned):
        schema = types.StructType(key_fields + returned)
        function = spark_tasks.task(native.__version__, keys_in, [_text(*aggregate[:2]) for aggregate in inside], kind, device,
                                    limit_bytes, batch_rows, to_arrow_schema(schema, timezone=zone),
                                    {name: column for column, name in values_in.items()}, sums)
        return source.mapInArrow(function, schema)

    partial, sums = _partial_fields(inside_fields, inside)
    result = _result_fields(fields, aggregates)
    returned = [types.StructField("a%d" % i, field.dataType, field.nullable) for i, field in enumerate(result)]
    if mode == "exchange":
        groups = stage(rows.repartition(*keys_in), "rows" if lists else "whole", returned)
    else:
        partials = stage(rows, "partial", partial)
        groups = stage(partials.repartition(*keys_in), "merge", returned)
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
    check_names(df.columns, [column])
    type_ = df.schema[column].dataType
    if not isinstance(type_, _INTEGERS + _FLOATS):
        raise TableTypeError("column '%s' has Spark's type %s, of which there are no means" % (column, type_.simpleString()))
    if not isinstance(n, int) or n <= 0:
        raise ArgumentError("n is %r: how many values are to be read, 1 at least" % (n,))
    if not 0 < confidence < 1:
        raise ArgumentError("confidence is %r: a number between 0 and 1" % (confidence,))
    rows = df.select(df[_quoted(column)].alias("v"))
    count = rows.count()
    if not count:
        raise ArgumentError("column '%s' has no rows to sample" % column)
    fields = [(name, types.LongType() if name in ("rows", "reads") else types.DoubleType())
              for name in Sample.__dataclass_fields__]
    task = spark_tasks.sample_task(native.__version__, "v", n / count, seed, confidence, device)
    parts = rows.mapInArrow(task, types.StructType([types.StructField(*field) for field in fields])).collect()
    return join([Sample(**part.asDict()) for part in parts])


def _quoted(name):
    return "`%s`" % name.replace("`", "``")


def _text(operation, column):
    share = ":%r" % operation.share if operation == "quantile" else ""
    return str(operation) if column is None else "%s:%s%s" % (operation, column, share)
