# SPDX-License-Identifier: Apache-2.0
"""What tasks of warpage.spark run. Shipped to workers by value, so nothing of warpage is imported before a task runs."""


class Rows:
    """Batches of a task, in pieces."""

    def __init__(self, batches):
        self._batches = batches
        self._next = next(batches, None)

    def is_empty(self):
        return self._next is None

    def piece(self, limit_bytes):
        """The next batches, until they have so many bytes."""
        taken, taken_bytes = [], 0
        while self._next is not None and taken_bytes < max(1, limit_bytes):
            taken.append(self._next)
            taken_bytes += max(1, self._next.nbytes)
            self._next = next(self._batches, None)
        return taken


class Stream:
    """Batches that are read once, as a table. A batch is let go when it has been read."""

    def __init__(self, batches):
        self._batches = batches

    def _each(self):
        while self._batches:
            yield self._batches.pop(0)

    def __arrow_c_stream__(self, requested_schema=None):
        import pyarrow
        return pyarrow.RecordBatchReader.from_batches(self._batches[0].schema, self._each()).__arrow_c_stream__(requested_schema)


BUCKET_BITS = 7
LEAST_SPILL_BYTES = 4096
PARTS = 4  # of what is held: so much of it is divided at a time


JOINED_BYTES = 1 << 20  # of batches that are read from a file


def joined(batches, least_bytes):
    """Small batches, as larger ones: each costs a call."""
    import pyarrow
    taken, size = [], 0
    for batch in batches:
        taken.append(batch)
        size += batch.nbytes
        if size >= least_bytes:
            yield from pyarrow.Table.from_batches(taken).combine_chunks().to_batches()
            taken, size = [], 0
    if taken:
        yield from pyarrow.Table.from_batches(taken).combine_chunks().to_batches()


class Spill:
    """Partials of a partition: in memory up to a number of bytes, then in files, by the keys' hashes."""

    def __init__(self, keys, limit_bytes, level=0):
        self._keys, self._limit_bytes, self._level = keys, max(LEAST_SPILL_BYTES, limit_bytes), level
        self._held, self._held_bytes, self._folder, self._writers, self._bytes = [], 0, None, {}, {}

    def add(self, table):
        self._held.append(table)
        self._held_bytes += table.nbytes
        if self._held_bytes > self._limit_bytes or self._folder is not None:
            self._write()

    def _write(self):
        import os
        import tempfile
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(dir=os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0] or None)
        while self._held:
            table = self._held.pop(0)
            step = max(1, table.num_rows * self._limit_bytes // PARTS // max(1, table.nbytes))
            for first in range(0, table.num_rows, step):
                self._divide(table.slice(first, step).combine_chunks())
        self._held_bytes = 0

    def _divide(self, table):
        """Rows of a table, each to the file of its bucket."""
        import os
        import pyarrow
        from pyarrow import compute
        from warpage.table import row_hashes
        (hashes,) = row_hashes(table, self._keys)
        numbers = pyarrow.Array.from_buffers(pyarrow.uint64(), table.num_rows, [None, pyarrow.py_buffer(hashes)])
        shift = 64 - BUCKET_BITS * (self._level + 1)
        buckets = compute.bit_wise_and(compute.shift_right(numbers, pyarrow.scalar(shift, pyarrow.uint64())),
                                       pyarrow.scalar((1 << BUCKET_BITS) - 1, pyarrow.uint64()))
        table, first = table.take(compute.array_sort_indices(buckets)), 0
        for bucket, count in sorted((pair["values"], pair["counts"]) for pair in compute.value_counts(buckets).to_pylist()):
            part = table.slice(first, count)
            first += count
            if bucket not in self._writers:
                path = os.path.join(self._folder.name, "%d" % bucket)
                self._writers[bucket] = (path, pyarrow.ipc.new_stream(path, table.schema))
            self._writers[bucket][1].write_table(part)
            self._bytes[bucket] = self._bytes.get(bucket, 0) + part.nbytes

    def sources(self):
        """Tables or streams, each with all partials of its keys."""
        import pyarrow
        if self._folder is None:
            yield pyarrow.concat_tables(self._held)
            return
        self._write()
        for _, writer in self._writers.values():
            writer.close()
        with self._folder:
            for bucket, (path, _) in self._writers.items():
                yield from self._bucket(path, self._bytes[bucket])

    def _bucket(self, path, size):
        import os
        import pyarrow
        with pyarrow.OSFile(path) as file:
            reader = pyarrow.ipc.open_stream(file)
            if size <= self._limit_bytes or self._level == 2:
                yield pyarrow.RecordBatchReader.from_batches(reader.schema, joined(reader, JOINED_BYTES))
            else:
                inner = Spill(self._keys, self._limit_bytes, self._level + 1)
                for batch in joined(reader, self._limit_bytes // PARTS):
                    inner.add(pyarrow.Table.from_batches([batch]))
                yield from inner.sources()
        os.remove(path)


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


def table_of(groups):
    """By pyarrow. Its function `table` loads pandas, which takes 45 MiB."""
    import pyarrow
    return pyarrow.RecordBatchReader.from_stream(groups).read_all()


# ---- sums of 128 bits, between stages: two columns of 64 bits each -----------------------------------------------

def halves(name):
    return [name + "_high", name + "_low"]


def split_sums(table, sums):
    """A table of partials, whose sums become two columns each."""
    import ctypes
    import pyarrow
    from pyarrow import compute
    from warpage import native
    columns, names = [], []
    for name, column in zip(table.column_names, table.columns):
        if name not in sums:
            columns.append(column)
            names.append(name)
            continue
        column = column.combine_chunks()
        count = len(column)
        decimals = column.buffers()[1].address + 16 * column.offset if count else 0
        valid = compute.is_valid(column).buffers()[1] if column.null_count else None
        high, low = ((ctypes.c_int64 * max(1, count))() for _ in range(2))
        native.decimals_piece(decimals, count, native.DECIMAL_PIECES["high"][0], high)
        native.decimals_narrow(decimals, count, native.TYPES.index("uint64"), low)
        columns += [pyarrow.Array.from_buffers(pyarrow.int64(), count, [valid, pyarrow.py_buffer(half)]) for half in (high, low)]
        names += halves(name)
    return pyarrow.Table.from_arrays(columns, names)


def join_sums(batch, sums):
    """The reverse, of a batch."""
    import ctypes
    import pyarrow
    from pyarrow import compute
    from warpage import native
    columns, fields = [], []
    for field, column in zip(batch.schema, batch.columns):
        name, _, half = field.name.rpartition("_")
        if name not in sums:
            columns.append(column)
            fields.append(field)
        elif half == "high":
            words = [part.buffers()[1].address + 8 * part.offset for part in (column, batch.column(halves(name)[1]))]
            count = len(column)
            memory = (ctypes.c_uint64 * (2 * count))()
            native.decimals_join(words[0], None, words[1], count, memory)
            valid = compute.is_valid(column).buffers()[1] if column.null_count else None
            type_ = pyarrow.decimal128(38, sums[name] or 0)
            columns.append(pyarrow.Array.from_buffers(type_, count, [valid, pyarrow.py_buffer(memory)]))
            fields.append(pyarrow.field(name, type_, metadata={} if sums[name] is None else {"warpage.sum": "decimal"}))
    return pyarrow.RecordBatch.from_arrays(columns, schema=pyarrow.schema(fields))


def batches_of(table, schema, batch_rows, sums):
    """Groups under the schema's names and types. `sums`: those that become two columns."""
    if sums:
        table = split_sums(table, sums)
    for batch in table.rename_columns(schema.names).to_batches(max_chunksize=batch_rows or None):
        yield batch if batch.schema.equals(schema) else batch.cast(schema)


def _trim():
    """Returns free memory to the system: pieces of many sizes leave gaps that malloc and Arrow's pool keep."""
    import ctypes
    import pyarrow
    pyarrow.default_memory_pool().release_unused()
    if hasattr(ctypes.CDLL(None), "malloc_trim"):
        ctypes.CDLL(None).malloc_trim(0)


def _return_memory():
    """The same, after Python's own garbage is free."""
    import gc
    gc.collect()
    _trim()


def _groups(rows, stage, limit_bytes, calls):
    """Groups of a task's rows, in tables. Memory is that of a few pieces of `limit_bytes`, whatever the partition has."""
    import gc
    gc.collect()
    gc.freeze()  # collections need not look at all modules of Python
    try:
        yield from _pieces(rows, stage, limit_bytes, calls)
    finally:
        gc.unfreeze()


def _pieces(rows, stage, limit_bytes, calls):
    import pyarrow
    if stage == "partial":
        while not rows.is_empty():
            yield calls.group(rows.piece(limit_bytes), True)
            _return_memory()
        return
    first = rows.piece(limit_bytes)
    if rows.is_empty():
        yield calls.merge(Stream(first)) if stage == "merge" else calls.group(first, False)
        return
    spill, piece = Spill(calls.keys, limit_bytes), first
    del first
    while piece:
        spill.add(table_of(calls.group(piece, True)) if stage == "whole" else pyarrow.Table.from_batches(piece))
        piece = None
        _return_memory()
        piece = rows.piece(limit_bytes if stage == "whole" else limit_bytes // PARTS)
    for source in spill.sources():
        yield calls.group_table(source) if stage == "rows" else calls.merge(source)
        source = None
        _return_memory()


class Calls:
    """The library's."""

    def __init__(self, warpage, keys, aggs, device):
        self._warpage, self.keys, self._aggs, self._device = warpage, keys, aggs, device
        self._options = {"sort": False, "counts": "int64", "text": "utf8", "threads": threads()}

    def group(self, batches, is_partial):
        return self.group_table(Stream(batches), is_partial)

    def group_table(self, table, is_partial=False):
        return self._warpage.groupby(table, self.keys, self._aggs, partial=is_partial, device=device_of(self._device),
                                     **self._options)

    def merge(self, partials):
        return self._warpage.merge(partials, self.keys, self._aggs, **self._options)


def task(version, keys, aggs, stage, device, limit_bytes, batch_rows, schema, names, sums):
    """The function of mapInArrow. `stage`: "partial", "merge", "whole", or "rows":
    whole, by aggregates that have no partials; `schema`: of what it returns, by pyarrow;
    `names`: what the caller calls columns; `sums`: of partials, {name: scale}, None for integers."""

    def run(batches):
        warpage = load(version)
        rows = Rows(batches if stage != "merge" or not sums else (join_sums(batch, sums) for batch in batches if batch.num_rows))
        if rows.is_empty():
            return
        try:
            for groups in _groups(rows, stage, limit_bytes, Calls(warpage, keys, aggs, device)):
                _trim()  # the piece's rows
                table = table_of(groups)
                del groups  # with its texts
                yield from batches_of(table, schema, batch_rows, sums if stage == "partial" else None)
                table = None  # the next piece begins without this one
        except warpage.WarpageError as error:
            message = str(error)
            for inside, name in names.items():
                message = message.replace(":%s:" % inside, ":%s:" % name)
            if isinstance(error, MemoryError):
                message += "; give executors more memory, or pass a smaller memory_bytes"
            raise RuntimeError(message) from None

    return run


# ---- looks at the input ----------------------------------------------------------------------------------------

def head_task(version, keys, rows_max, partitions):
    """For mapInArrow: of the first rows of the first partitions, how many there are, their bytes, their groups, and
    whether the partition has more."""

    def run(batches):
        import pyarrow
        from pyspark import TaskContext
        if TaskContext.get().partitionId() >= partitions:
            return
        warpage = load(version)
        taken, count, has_more = [], 0, False
        for batch in batches:
            if count >= rows_max:
                has_more = True
                break
            taken.append(batch)
            count += batch.num_rows
        if not count:
            return
        size = sum(batch.nbytes for batch in taken)
        groups = warpage.groupby(Stream(taken), keys, "count", sort=False, threads=threads())
        yield pyarrow.RecordBatch.from_pydict({"rows": [count], "bytes": [size], "groups": [len(groups)],
                                               "has_more": [has_more]})

    return run


SAMPLED_ROWS = 1 << 20  # of a stratum


def sample_task(version, column, share, seed, confidence, device):
    """For mapInArrow: the sample of a partition's rows, one row. `share`: of the rows, is read."""

    def run(batches):
        import pyarrow
        from pyspark import TaskContext
        warpage = load(version)
        from warpage import sampling
        number = TaskContext.get().partitionId()
        parts, taken, count = [], [], 0

        def draw():
            table = pyarrow.Table.from_batches(taken).combine_chunks()
            try:
                parts.append(warpage.sample(table, column, max(sampling.LEAST_READS, int(share * count + 1)),
                                            seed=seed + (number << 32) + len(parts), confidence=confidence,
                                            device=device_of(device), threads=threads()))
            except warpage.WarpageError as error:
                raise RuntimeError(str(error)) from None

        for batch in batches:
            if batch.num_rows:
                taken.append(batch)
                count += batch.num_rows
            if count >= SAMPLED_ROWS:
                draw()
                taken, count = [], 0
        if count:
            draw()
        if parts:
            whole = vars(sampling.join(parts))
            yield pyarrow.RecordBatch.from_pydict({name: [value] for name, value in whole.items()})

    return run


# ---- cells of a sweep ------------------------------------------------------------------------------------------

def warpage_command(version):
    """The path of the command `warpage`, of the driver's version."""
    import socket
    import subprocess
    load(version)
    from warpage import command
    program = command.find("warpage")
    host = socket.gethostname()
    if program is None:
        raise RuntimeError("host %s: the command warpage is not there: install Warpage by `make install`, and put its bin "
                           "folder on the workers' PATH" % host)
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    if version not in said.split():
        raise RuntimeError("host %s: %s is version %s and the driver has %s: install the same version on both" %
                           (host, program, said.strip().rpartition(" ")[2], version))
    return program


def _is_same(path, data):
    import os
    if not os.path.isfile(path) or os.path.getsize(path) != len(data):
        return False
    with open(path, "rb") as file:
        return file.read() == data


def _place_program(data, name, driver_folder, folder):
    """The folder to run in, where `name` is the program; it is put there unless the host has it."""
    import os
    import socket
    if os.sep in name and _is_same(os.path.join(driver_folder, name), data):
        return driver_folder
    path = os.path.normpath(os.path.join(folder, name))
    if not path.startswith(folder + os.sep):
        raise RuntimeError("host %s has no %s: name the program by a path within the current folder, so that it can be "
                           "sent to the workers, or install it on each" % (socket.gethostname(), name))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    os.chmod(path, 0o755)
    return folder


def cell_task(version, shipped, trace, report, program, driver_folder, environment):
    """A function of a cell's command that returns its report, or None and its failure. `shipped`: the trace, or else the
    program; paths are the driver's."""

    def run(words):
        import os
        import subprocess
        import tempfile
        from pyspark import SparkFiles
        with tempfile.TemporaryDirectory(dir=SparkFiles.getRootDirectory()) as folder:
            folder = os.path.realpath(folder)
            made = os.path.join(folder, "report.json")
            here = {"--report=" + report: "--report=" + made}
            where, path = folder, os.environ.get("PATH", "")
            try:
                if trace is not None:
                    here[trace] = os.path.join(folder, "trace.wpt")
                    with open(here[trace], "wb") as file:
                        file.write(shipped.value)
                else:
                    where = _place_program(shipped.value, program, driver_folder, folder)
                    path = folder + os.pathsep + path
                words = [warpage_command(version)] + [here.get(word, word) for word in words[1:]]
            except RuntimeError as error:
                return None, str(error)
            done = subprocess.run(words, cwd=where, env={**os.environ, **environment, "PATH": path},
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
            if done.returncode != 0 or not os.path.exists(made):
                said = done.stderr.decode(errors="replace").strip()
                return None, "exit status %d: %.400s" % (done.returncode, said)
            with open(made, "rb") as file:
                return file.read(), None

    return run
