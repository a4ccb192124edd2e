# SPDX-License-Identifier: Apache-2.0
"""What tasks of warpage.spark run. Shipped to workers by value, so nothing of warpage is imported before a task runs."""


class Rows:
    """Batches of rows up to a number of bytes, as a stream. Without a limit: all."""

    def __init__(self, batches, limit_bytes):
        self._batches, self._limit_bytes = batches, limit_bytes
        self._next = next(batches, None)

    def is_empty(self):
        return self._next is None

    def _part(self):
        taken_bytes = 0
        while self._next is not None and (taken_bytes == 0 or not self._limit_bytes or taken_bytes < self._limit_bytes):
            batch, self._next = self._next, next(self._batches, None)
            taken_bytes += max(1, batch.nbytes)
            yield batch

    def __arrow_c_stream__(self, requested_schema=None):
        import pyarrow
        return pyarrow.RecordBatchReader.from_batches(self._next.schema, self._part()).__arrow_c_stream__(requested_schema)


def load(version):
    """The package, of the driver's version."""
    import socket
    host = socket.gethostname()
    try:
        import warpage
    except ImportError as error:
        raise RuntimeError(
            "host %s: Warpage %s cannot be loaded by the workers' Python (%s): pip install its wheel there, or pass a packed "
            "virtual environment by spark.archives, and set PYSPARK_PYTHON" % (host, version, error)) from None
    if warpage.__version__ != version:
        raise RuntimeError("host %s: the workers have Warpage %s and the driver has %s: install the same version on both" %
                           (host, warpage.__version__, version))
    return warpage


def device_of(device):
    """The device of this task: "cuda" is the GPU that Spark has assigned to it."""
    from pyspark import TaskContext
    if device != "cuda":
        return device
    gpu = TaskContext.get().resources().get("gpu")
    if gpu is None:
        raise RuntimeError("Spark has assigned no GPU to the task: set spark.task.resource.gpu.amount, or name a device")
    return "cuda:%s" % gpu.addresses[0]


def threads():
    from pyspark import TaskContext
    return max(1, TaskContext.get().cpus())


def batches_of(groups, schema, batch_rows):
    """The groups under the schema's names and types."""
    import pyarrow
    table = pyarrow.table(groups)
    for batch in table.rename_columns(schema.names).to_batches(max_chunksize=batch_rows or None):
        yield batch if batch.schema.equals(schema) else batch.cast(schema)


def task(version, keys, aggs, stage, device, limit_bytes, batch_rows, schema, names):
    """The function of mapInArrow. `stage`: "partial", "merge" or "whole"; `schema`: of what it returns, by pyarrow;
    `names`: what the caller calls columns."""

    def run(batches):
        warpage = load(version)
        rows = Rows(batches, limit_bytes if stage == "partial" else 0)
        options = {"sort": False, "counts": "int64", "text": "utf8", "threads": threads()}
        while not rows.is_empty():
            try:
                if stage == "merge":
                    groups = warpage.merge(rows, keys, aggs, **options)
                else:
                    groups = warpage.groupby(rows, keys, aggs, partial=stage == "partial", device=device_of(device),
                                             **options)
            except warpage.WarpageError as error:
                message = str(error)
                for inside, name in names.items():
                    message = message.replace(":%s:" % inside, ":%s:" % name)
                raise RuntimeError(message) from None
            yield from batches_of(groups, schema, batch_rows)

    return run
