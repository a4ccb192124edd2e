# SPDX-License-Identifier: Apache-2.0
"""warpage.spark.sweep: the combinations of `warpage compare`, each in a task.

    compare --plan ─► cells ─► a job of one task for each ─► reports in a folder ─► compare --finished ─► DataFrame
    (trace, recorded)  └── trace or program, broadcast ──┘
"""
import concurrent.futures
import contextlib
import os
import shutil
import tempfile
from warpage import command, native, spark_tasks
from warpage.native import WarpageError

_DOUBLES = ("_pct", "times_best")
_TEXTS = ("how", "mark")


class _Shipped:
    """Files as broadcast variables: unlike SparkContext.addFile's, they can be withdrawn."""

    def __init__(self, context):
        self._context, self._variables = context, {}

    def __call__(self, path):
        if path not in self._variables:
            with open(path, "rb") as file:
                self._variables[path] = self._context.broadcast(file.read())
        return self._variables[path]

    def withdraw(self):
        for variable in self._variables.values():
            variable.destroy()


@contextlib.contextmanager
def _folder(output):
    if output is not None:
        yield os.fspath(output)
    else:
        with tempfile.TemporaryDirectory(prefix="warpage-sweep-") as folder:
            yield folder


def _run(context, cell, task):
    """The failure of a cell, or None: its report is in its place."""
    try:
        report, failure = context.parallelize([cell["command"]], 1).map(task).collect()[0]
    except Exception as error:  # pylint: disable=broad-except  # the job failed: a row, like every failure
        java = getattr(error, "java_exception", None)
        return str(java.getMessage() if java is not None else error).split("\n")[0]
    if failure is None:
        part = cell["report"] + ".part"
        with open(part, "wb") as file:
            file.write(report)
        os.replace(part, cell["report"])
    return failure


def _tasks(context, cells, program, shipped):
    """What each cell's task runs."""
    words = command.program_words(program)
    path = words[0] if os.sep in words[0] else shutil.which(words[0])
    for cell in cells:
        file = cell["trace"] or path
        yield spark_tasks.cell_task(native.__version__, shipped(file), cell["trace"], cell["report"], words[0], os.getcwd(),
                                    dict(word.split("=", 1) for word in cell["environment"]))


def _type(name, keys):
    from pyspark.sql import types
    if name in keys or name in _TEXTS:
        return types.StringType()
    return types.DoubleType() if name.endswith(_DOUBLES) else types.LongType()


def _table(spark, cells, failures, finished, keys, shown):
    """Rows of compare's table; of a failed cell: its values, and the failure."""
    from pyspark.sql import types
    rows, at = [], iter(finished)
    names = list(finished[0]) if finished else list(keys)
    kinds = {name: types.StringType() if name in shown else _type(name, keys) for name in names}
    for cell, failure in zip(cells, failures):
        row = next(at) if failure is None else cell["values"]
        rows.append([_value(row.get(name), kinds[name]) for name in names] + [failure])
    schema = types.StructType([types.StructField(name, kind) for name, kind in kinds.items()] +
                              [types.StructField("failure", types.StringType())])
    return spark.createDataFrame(rows, schema)


def _value(text, kind):
    name = kind.typeName()
    if text is None or name == "string":
        return text if text is None else str(text)
    return float(text) if name == "double" else int(text)


def sweep(program, vary, *, spark=None, output=None, **options):
    """The table of `warpage compare`: a program under every combination of a simulated GPU's numbers, each simulated in
    a task of Spark. A DataFrame: a row for each combination, with compare's columns and "failure", the sentence of a
    combination that failed, else NULL.

    program  a program that wpcc built, with its arguments: ["./nw", "--memory", "managed"]
    vary     {"device": ["sim:k80", "sim:p100"], "migrate": ["first-touch", "payback"]}: as --vary of compare
    spark    the session; the active one
    output   a folder for the trace, the reports of the combinations and the pages of `compare --output`. Reports that
             are there are not made again, so that a sweep that was interrupted goes on
    options  compare's: device="sim:k80", oversubscribe="125%", functional=True, show="dram_read_bytes"

    The program is recorded once, on the driver; its trace is sent to the tasks. Where the trace may not be replayed, the
    program is sent and runs there: in the driver's folder if the host has the program in it, else in a folder of its
    own. Workers need Warpage installed, with wpcc. A combination whose worker is lost is simulated on another.
    """
    from pyspark.sql import SparkSession
    spark = spark or SparkSession.getActiveSession()
    if spark is None:
        raise WarpageError("there is no active Spark session: pass spark=...")
    context = getattr(spark, "_sc", None)
    if context is None:
        raise WarpageError("a sweep needs a Spark context, which a session of Spark Connect does not have: begin the session by master(…), not by remote(…)")
    keys = list(vary)
    with _folder(output) as folder:
        words = [*command.compare_words(vary, options), "--output", folder]
        cells = command.compare_json(program, *words, "--plan")
        failures, shipped = [None] * len(cells), _Shipped(context)
        numbers = [number for number, cell in enumerate(cells) if not os.path.exists(cell["report"])]
        try:
            missing = [cells[number] for number in numbers]
            jobs = list(zip(numbers, missing, _tasks(context, missing, program, shipped)))
            with concurrent.futures.ThreadPoolExecutor(max_workers=max(1, context.defaultParallelism)) as pool:
                started = {pool.submit(_run, context, cell, task): number for number, cell, task in jobs}
                try:
                    for future in concurrent.futures.as_completed(started):
                        failures[started[future]] = future.result()
                except BaseException:
                    for future in started:
                        future.cancel()
                    raise
        finally:
            shipped.withdraw()
        finished = []
        if None in failures:
            finished = command.compare_json(program, *words, "--finished", "--format", "json")
        shown = str(options.get("show") or "").split(",")
        return _table(spark, cells, failures, finished, keys, shown)
