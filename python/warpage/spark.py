# SPDX-License-Identifier: Apache-2.0
"""Group-by on Apache Spark, by Warpage's operators:

    import warpage.spark as ws
    ws.groupby(df, ["user", "item"], ["count", "sum:price", "avg:price"])

Takes pyspark from 4.0 on, and pyarrow: pip install warpage[spark].
"""
from warpage import native, spark_tasks
from warpage.native import WarpageError
from warpage.operators import check_names, parse_aggregate, partial_names

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

cloudpickle.register_pickle_by_value(spark_tasks)

MODES = ["partial", "exchange"]
MEMORY_BYTES = 512 << 20
ROWS_SHARE = 4  # of a task's memory: rows from which groups are made at a time

_INTEGERS = (types.ByteType, types.ShortType, types.IntegerType, types.LongType)
_FLOATS = (types.FloatType, types.DoubleType)
_TIMES = (types.DateType, types.TimestampType, types.TimestampNTZType)
_TEXTS = (types.StringType, types.BinaryType)
_KEYS = _INTEGERS + _FLOATS + _TIMES + _TEXTS + (types.BooleanType,)


def _check_types(fields, keys, aggregates):
    for key in keys:
        if not isinstance(fields[key].dataType, _KEYS):
            raise WarpageError("key '%s' has Spark's type %s, which is not grouped" % (key, fields[key].dataType.simpleString()))
    for operation, column, _ in aggregates:
        if column is None:
            continue
        type_ = fields[column].dataType
        wanted = {"count": _KEYS, "sum": _INTEGERS + _FLOATS, "avg": _INTEGERS + _FLOATS,
                  "min": _INTEGERS + _FLOATS + _TIMES, "max": _INTEGERS + _FLOATS + _TIMES}[operation]
        if not isinstance(type_, wanted):
            raise WarpageError("%s:%s: the column has Spark's type %s, of which there is no %s" %
                               (operation, column, type_.simpleString(), operation))


def _sum_type(type_, is_partial):
    if isinstance(type_, _FLOATS):
        return types.DoubleType()
    return types.DecimalType(38, 0) if is_partial else types.LongType()


def _partial_fields(fields, aggregates):
    """The columns of partials, with Spark's types."""
    by_name = {}
    for operation, column, name in aggregates:
        if operation in ("sum", "avg"):
            by_name["sum_%s" % column] = _sum_type(fields[column].dataType, True)
        if operation in ("min", "max"):
            by_name[name] = fields[column].dataType
    return [types.StructField(name, by_name.get(name, types.LongType())) for name in partial_names(aggregates)]


def _result_fields(fields, aggregates):
    """The result's, with Spark's names and types."""
    result = []
    for operation, column, _ in aggregates:
        type_ = {"count": types.LongType(), "avg": types.DoubleType()}.get(operation)
        if operation == "sum":
            type_ = _sum_type(fields[column].dataType, False)
        name = operation if column is None else "%s(%s)" % (operation, column)
        result.append(types.StructField(name, type_ or fields[column].dataType, operation != "count"))
    return result


def groupby(df, keys, aggs=("count",), *, device="cpu", mode="partial", memory_bytes=MEMORY_BYTES):
    """Groups of a Spark DataFrame's rows: a DataFrame with the columns of df.groupBy(*keys).agg(...), lazy.

    df            a DataFrame of Spark 4.0 or later
    keys          a column's name or several: integers, floats, text, binary, dates, timestamps, booleans
    aggs          "count", "count:c", "sum:c", "avg:c", "min:c", "max:c"
    device        where tasks group: "cpu", "cuda" (the GPU that Spark has assigned to the task), or a device's name
    mode          "partial": each partition is grouped, then groups are exchanged by key and merged: for keys that recur.
                  "exchange": rows are exchanged by key, then grouped: for keys that hardly recur
    memory_bytes  of a task: beyond its quarter, rows of a partition are grouped piece by piece

    A name that does not exist, a type that is not grouped and the like raise WarpageError before a job starts. A sum of
    integers that does not fit 64 bits fails the job.
    """
    keys = [keys] if isinstance(keys, str) else list(keys)
    aggregates = [parse_aggregate(a) for a in ([aggs] if isinstance(aggs, str) else aggs)]
    if not keys:
        raise WarpageError("by which columns?")
    if mode not in MODES:
        raise WarpageError("mode '%s' is none of %s" % (mode, ", ".join(MODES)))
    if len(set(keys)) < len(keys):
        raise WarpageError("a key is named twice: %s" % ", ".join(keys))
    columns = list(dict.fromkeys(keys + [column for _, column, _ in aggregates if column is not None]))
    check_names(df.columns, columns)
    fields = {field.name: field for field in df.schema}
    for name in columns:
        if df.columns.count(name) > 1:
            raise WarpageError("the table has the column '%s' twice" % name)
    _check_types(fields, keys, aggregates)

    # Columns have names of their own until the end, so that a key may be called "count", too.
    keys_in = ["k%d" % i for i in range(len(keys))]
    wanted = list(dict.fromkeys(column for _, column, _ in aggregates if column is not None))
    values_in = {column: "v%d" % i for i, column in enumerate(wanted)}
    inside = [parse_aggregate(operation if column is None else (operation, values_in[column]))
              for operation, column, _ in aggregates]
    inside_fields = {values_in[column]: fields[column] for column in wanted}
    key_fields = [types.StructField(name, fields[key].dataType) for name, key in zip(keys_in, keys)]
    rows = df.select(*[df[_quoted(key)].alias(name) for name, key in zip(keys_in, keys)],
                     *[df[_quoted(column)].alias(values_in[column]) for column in wanted])
    session = df.sparkSession
    batch_rows = max(0, int(session.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch")))
    zone = session.conf.get("spark.sql.session.timeZone")

    def stage(source, kind, returned):
        schema = types.StructType(key_fields + returned)
        function = spark_tasks.task(native.__version__, keys_in, [_text(a) for a in inside], kind, device,
                                    max(1, memory_bytes // ROWS_SHARE), batch_rows, to_arrow_schema(schema, timezone=zone),
                                    {name: column for column, name in values_in.items()})
        return source.mapInArrow(function, schema)

    result = _result_fields(fields, aggregates)
    returned = [types.StructField("a%d" % i, field.dataType, field.nullable) for i, field in enumerate(result)]
    if mode == "exchange":
        groups = stage(rows.repartition(*keys_in), "whole", returned)
    else:
        partials = stage(rows, "partial", _partial_fields(inside_fields, inside))
        groups = stage(partials.repartition(*keys_in), "merge", returned)
    return groups.toDF(*keys, *[field.name for field in result])


def _quoted(name):
    return "`%s`" % name.replace("`", "``")


def _text(aggregate):
    operation, column, _ = aggregate
    return operation if column is None else "%s:%s" % (operation, column)
