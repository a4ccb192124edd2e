# SPDX-License-Identifier: Apache-2.0
"""What tasks of warpage.spark run. Shipped to workers by value, so nothing of warpage is imported before a task runs."""
import contextlib
import gc


class Rows:
    """Batches of a task, in pieces. They are marked: (what they are, batch)."""

    def __init__(self, batches):
        self._batches, self.taken_bytes = batches, 0  # of the last piece
        self._next = next(batches, None)

    def is_empty(self):
        return self._next is None

    def piece(self, limit_bytes):
        """The next batches, until they have so many bytes."""
        taken, taken_bytes = [], 0
        while self._next is not None and taken_bytes < max(1, limit_bytes):
            taken.append(self._next)
            taken_bytes += max(1, self._next[1].nbytes)
            self._next = next(self._batches, None)
        self.taken_bytes = taken_bytes
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


def popped(batches):
    """Those of a list, which lets each go."""
    batches.reverse()
    while batches:
        yield batches.pop()


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


def divided(table, keys, shift, bucket_count, changed=None):
    """(bucket, its rows), for each bucket that rows of a table of one chunk have; by 32 bits of the keys' hashes.
    `changed`: makes the table that is divided."""
    import pyarrow
    from warpage import native
    from warpage.table import row_hashes
    (hashes,) = row_hashes(table, keys)
    rows, starts = native.rows_divide(hashes, table.num_rows, shift, bucket_count)
    del hashes
    table = changed(table) if changed else table
    table = table.take(pyarrow.Array.from_buffers(pyarrow.uint32(), table.num_rows, [None, pyarrow.py_buffer(rows)]))
    del rows
    for bucket in range(bucket_count):
        if starts[bucket] < starts[bucket + 1]:
            yield bucket, table.slice(starts[bucket], starts[bucket + 1] - starts[bucket])


class Spill:
    """Rows or partials of a partition: in memory up to a part of a number of bytes, then in files of up to so many each, by
    the keys' hashes."""

    def __init__(self, keys, limit_bytes, level=0):
        self._keys, self._limit_bytes, self._level = keys, max(LEAST_SPILL_BYTES, limit_bytes), level
        self._held, self._held_bytes, self._folder, self._writers, self._bytes = [], 0, None, {}, {}

    def is_empty(self):
        return not self._held and self._folder is None

    def add(self, table):
        self._held.append(table)
        self._held_bytes += table.nbytes
        if self._held_bytes > self._limit_bytes // PARTS or self._folder is not None:
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
        for bucket, part in divided(table, self._keys, 32 - BUCKET_BITS * self._level, 1 << BUCKET_BITS):
            if bucket not in self._writers:
                path = os.path.join(self._folder.name, "%d" % bucket)
                self._writers[bucket] = (path, pyarrow.ipc.new_stream(path, table.schema))
            self._writers[bucket][1].write_table(part)
            self._bytes[bucket] = self._bytes.get(bucket, 0) + part.nbytes

    def sources(self):
        """Tables or streams, each with all partials of its keys."""
        import pyarrow
        if self._folder is None:
            if self._held:
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


def load(version, fingerprint=None):
    """The package, of the driver's version; and of its build, if a fingerprint is given."""
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
    if fingerprint is not None:
        try:
            from warpage import interface
            own = interface.fingerprint()
        except ImportError:
            own = "none"
        if own != fingerprint:
            raise RuntimeError("host %s: the workers and the driver have different builds of Warpage %s (fingerprints %s and %s): "
                               "install the same wheel on both" % (host, version, own, fingerprint))
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


def row_count(batch):
    return batch.num_rows


def table_of(groups):
    """By pyarrow. Its function `table` loads pandas, which takes 45 MiB."""
    import pyarrow
    return pyarrow.RecordBatchReader.from_stream(groups).read_all()


# ---- between stages: parcels, rows of Spark that are batches of ours, so that Spark moves few rows ------------------

ROWS, PARTIALS = 0, 1  # what a parcel has
PARCEL_BYTES = 256 << 10  # at most, besides what Arrow adds
LEAST_PIECE_BYTES = 256
SENT_BYTES = 2 << 20  # of parcels, that Spark takes at a time
STREAM_END_BYTES = 8  # of an Arrow stream
PARCEL_NAMES = ["place", "kind", "part", "data"]


def piece_bytes(limit_bytes, batch_rows, batch_bytes):
    """Of the pieces, rows of Spark, in which a parcel is sent. Spark makes batches of `batch_rows` of them for the second
    stage, or of `batch_bytes`, which None and 0 do not limit; a task's memory is to hold two."""
    if batch_bytes and batch_bytes <= limit_bytes // 2 or not batch_rows:
        return 2 * PARCEL_BYTES
    return max(LEAST_PIECE_BYTES, min(2 * PARCEL_BYTES, limit_bytes // 2 // batch_rows))


def _array(type_, code, values):
    """By pyarrow. Its function `array` loads pandas."""
    import array
    import pyarrow
    return pyarrow.Array.from_buffers(type_, len(values), [None, pyarrow.py_buffer(array.array(code, values))])


SENT_AS = b"warpage.sent-as"  # metadata of a column that is sent in a shorter type: its own
_SUMS = "decimal128(38, 0)"  # partial sums of integers


def _shorter(column):
    """A column of one chunk in the shortest type of integers that has its values; itself if that saves nothing."""
    import ctypes
    import pyarrow
    from pyarrow import compute
    from warpage import native
    array, type_ = column.chunk(0), column.type
    if str(type_) == _SUMS:
        memory = (ctypes.c_int64 * max(1, len(array)))()
        if not native.decimals_narrow(array.buffers()[1].address + 16 * array.offset, len(array), native.TYPES.index("int64"), memory):
            return column
        valid = compute.is_valid(array).buffers()[1] if array.null_count else None
        array = pyarrow.Array.from_buffers(pyarrow.int64(), len(array), [valid, pyarrow.py_buffer(memory)])
    elif type_ not in (pyarrow.int64(), pyarrow.int32(), pyarrow.int16()):
        return column
    ends = compute.min_max(array)
    low, high = ends["min"].as_py() or 0, ends["max"].as_py() or 0
    bits = next(bits for bits in (8, 16, 32, 64) if -1 << bits - 1 <= low and high < 1 << bits - 1)
    return array.cast(getattr(pyarrow, "int%d" % bits)(), safe=False)


def shortened(table):
    """Columns of a table of one chunk as they are sent: integers as short as they are, with their types as metadata."""
    import pyarrow
    columns, fields = [], []
    for field, column in zip(table.schema, table.columns):
        short = _shorter(column) if column.num_chunks == 1 else column
        columns.append(short)
        metadata = dict(field.metadata or {})
        if short.type != field.type:
            metadata[SENT_AS] = str(field.type).encode()
        fields.append(pyarrow.field(field.name, short.type, metadata=metadata))
    return pyarrow.Table.from_arrays(columns, schema=pyarrow.schema(fields))


def long_bytes(batch):
    """Of a batch, when it has its types again."""
    import pyarrow
    more = [getattr(pyarrow, type_)().bit_width if type_ != _SUMS else 128 for type_ in
            ((field.metadata or {}).get(SENT_AS, b"").decode() or None for field in batch.schema) if type_]
    less = [field.type.bit_width for field in batch.schema if SENT_AS in (field.metadata or {})]
    return batch.nbytes + batch.num_rows * (sum(more) - sum(less)) // 8


def lengthened(batch):
    """A batch that was sent, with the types that it had."""
    import ctypes
    import pyarrow
    from pyarrow import compute
    from warpage import native
    columns, fields = [], []
    for field, column in zip(batch.schema, batch.columns):
        metadata = dict(field.metadata or {})
        type_ = metadata.pop(SENT_AS, b"").decode()
        if type_ == _SUMS:
            column, memory = column.cast(pyarrow.int64()), (ctypes.c_uint64 * (2 * max(1, len(column))))()
            native.decimals_widen(column.buffers()[1].address + 8 * column.offset, len(column), memory)
            valid = compute.is_valid(column).buffers()[1] if column.null_count else None
            column = pyarrow.Array.from_buffers(pyarrow.decimal128(38, 0), len(column), [valid, pyarrow.py_buffer(memory)])
        elif type_:
            column = column.cast(getattr(pyarrow, type_)())
        columns.append(column)
        fields.append(pyarrow.field(field.name, column.type, metadata=metadata))
    return pyarrow.RecordBatch.from_arrays(columns, schema=pyarrow.schema(fields))


def parcels(table, kind, keys, places, piece_bytes_, parcel_bytes=PARCEL_BYTES):
    """Batches of pieces of parcels (place, kind, part, data) with the rows of a table of one chunk. Rows whose keys are
    equal have the same place, which is one of `places`. `part`: the parcel's number, and how many pieces follow."""
    import random
    import pyarrow
    waiting, waiting_bytes, parcel = [], 0, random.getrandbits(31)  # (place, batch), that are sent together

    def send():
        """In memory of the size that they take: a stream that grows would copy them twice, into pages that are new."""
        nonlocal parcel
        memory, ends, numbers, parts = pyarrow.allocate_buffer(waiting_bytes), [0], [], []
        sink = pyarrow.FixedSizeBufferWriter(memory)
        for place, batch in waiting:
            with pyarrow.ipc.new_stream(sink, batch.schema) as writer:
                writer.write_batch(batch)
            begin, end = ends[-1], sink.tell()
            pieces = -(-(end - begin) // piece_bytes_)
            ends += range(begin + piece_bytes_, end, piece_bytes_)
            ends.append(end)
            numbers += [place] * pieces
            parts += range((parcel << 32) + pieces - 1, (parcel << 32) - 1, -1)
            parcel = parcel + 1 & 0x7FFFFFFF
        waiting.clear()
        offsets = _array(pyarrow.int32(), "i", ends)
        data = pyarrow.Array.from_buffers(pyarrow.binary(), len(numbers), [None, offsets.buffers()[1], memory])
        return pyarrow.RecordBatch.from_arrays([_array(pyarrow.int32(), "i", numbers), _array(pyarrow.int32(), "i", [kind] * len(numbers)),
                                                _array(pyarrow.int64(), "q", parts), data], PARCEL_NAMES)

    for bucket, rows in divided(table, keys, 0, len(places), shortened):
        step = max(1, rows.num_rows * parcel_bytes // max(1, rows.nbytes))
        for batch in rows.to_batches(max_chunksize=step):
            waiting.append((places[bucket], batch))
            waiting_bytes += pyarrow.ipc.get_record_batch_size(batch) + batch.schema.serialize().size + STREAM_END_BYTES
            if waiting_bytes >= SENT_BYTES:
                yield send()
                waiting_bytes = 0
    if waiting:
        yield send()


def _whole_parcels(batches):
    """(what it is, its bytes) of each parcel, and None at the end of each of Spark's batches, of which bytes may be views."""
    pieces, expected = [], None  # of a parcel whose end has not come
    batch = next(batches, None)
    while batch is not None:
        kinds, parts, data = batch.column(1).to_pylist(), batch.column(2).to_pylist(), batch.column(3)
        del batch
        for row, (kind, part) in enumerate(zip(kinds, parts)):
            if pieces and (kind, part) != expected:
                raise RuntimeError("Spark has changed the order of rows between the stages of a group-by")
            pieces.append(data[row].as_buffer())
            expected = (kind, part - 1)
            if not part & 0xFFFFFFFF:
                yield kind, pieces[0] if len(pieces) == 1 else b"".join(pieces)
                pieces = []
        pieces = [b"".join(pieces)] if pieces else []
        yield None
        del data
        batch = next(batches, None)
    if pieces:
        raise RuntimeError("Spark has left out rows between the stages of a group-by")


def opened(batches, limit_bytes):
    """The batches within parcels, marked by what they are, small ones as larger ones. They are copies: a view of a parcel
    would keep all parcels that Spark brought together with it. Free memory is returned after a part of `limit_bytes`."""
    import itertools
    import pyarrow
    waiting, size, opened_bytes = {ROWS: [], PARTIALS: []}, {ROWS: 0, PARTIALS: 0}, 0

    def joined_of(kind):
        taken, waiting[kind], size[kind] = waiting[kind], [], 0
        for schema, batches in itertools.groupby(taken, lambda batch: batch.schema):
            batches = list(batches)
            if len(batches) == 1:  # would not be copied
                batches = [pyarrow.ipc.read_record_batch(batches[0].serialize(), schema)]
            for batch in pyarrow.Table.from_batches(batches).combine_chunks().to_batches():
                yield kind, lengthened(batch)

    for parcel in _whole_parcels(batches):
        if parcel is None:
            for kind, taken in waiting.items():
                if taken:
                    yield from joined_of(kind)
            taken = None
            if opened_bytes >= limit_bytes // PARTS:
                opened_bytes = 0
                _trim()  # while Spark's next batch is read
            continue
        kind, data = parcel
        for batch in pyarrow.ipc.open_stream(data):
            waiting[kind].append(batch)
            batch_bytes = long_bytes(batch)
            size[kind] += batch_bytes
            opened_bytes += batch_bytes
        parcel = data = batch = None
        if size[kind] >= JOINED_BYTES:
            yield from joined_of(kind)


def averages(sums, counts, type_):
    """A column of decimals divided by one of integers, of a decimal type, rounded as by Spark."""
    import ctypes
    import pyarrow
    from pyarrow import compute
    from warpage import native
    sums, counts, rows = sums.combine_chunks(), counts.combine_chunks(), len(sums)
    memory = (ctypes.c_uint64 * (2 * max(1, rows)))()
    if rows:
        valid = None if not sums.null_count else compute.is_valid(sums).buffers()[1]
        quotient = (ctypes.c_uint32 * 3)(type_.precision, type_.scale, type_.scale - sums.type.scale)
        if not native.decimals_divide(sums.buffers()[1].address + 16 * sums.offset, counts.buffers()[1].address + 8 * counts.offset,
                                      rows, quotient, memory):
            raise native.SumError("an average of decimals does not fit %s" % type_)
        return pyarrow.Array.from_buffers(type_, rows, [valid, pyarrow.py_buffer(memory)])
    return pyarrow.array([], type_)


def shaped(table, schema, places):
    """The columns of the schema. `places`: each one's column, or two of sums and counts, of which it is the average."""
    import pyarrow
    return pyarrow.Table.from_arrays(
        [averages(*map(table.column, place), schema.field(number).type) if isinstance(place, tuple) else table.column(place)
         for number, place in enumerate(places)], schema.names)


def batches_of(table, schema, batch_rows):
    """Groups under the schema's types."""
    for batch in table.to_batches(max_chunksize=batch_rows or None):
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
    gc.collect()
    _trim()


@contextlib.contextmanager
def _few_collections():
    """Collections need not look at all modules of Python."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def first_stage(rows, is_partial, limit_bytes, calls):
    """Of a task's rows: (what it is, table of one chunk), rows or partials. Memory is that of a few pieces of
    `limit_bytes`, whatever the partition has. Rows of a piece in which keys hardly recur are passed on."""
    import pyarrow
    seen_bytes = 0  # since memory was returned to the system, whose pages cost more than the work on them
    with _few_collections():
        while not rows.is_empty():
            piece = [batch for _, batch in rows.piece(limit_bytes if is_partial else limit_bytes // PARTS)]
            seen_bytes += rows.taken_bytes
            if is_partial and calls.recur(piece):
                groups = calls.group(piece, True)
                _trim()  # the piece's rows
                table = table_of(groups)
                del groups  # with its texts
                for first in range(0, table.num_rows, step_of(table, limit_bytes // PARTS)):
                    yield PARTIALS, table.slice(first, step_of(table, limit_bytes // PARTS)).combine_chunks()
                del table
            else:
                piece.reverse()
                while piece:
                    taken, size = [], 0
                    while piece and size < max(1, limit_bytes // PARTS):
                        taken.append(piece.pop())
                        size += taken[-1].nbytes
                    table = pyarrow.Table.from_batches(taken).combine_chunks()
                    del taken
                    yield ROWS, table
                    del table
            if not rows.is_empty() and seen_bytes >= limit_bytes:
                seen_bytes = 0
                _return_memory()


def step_of(table, size):
    """How many rows have so many bytes."""
    return max(1, table.num_rows * size // max(1, table.nbytes))


def second_stage(rows, limit_bytes, calls):
    """Groups of rows and partials, in tables."""
    import pyarrow
    with _few_collections():
        piece = rows.piece(limit_bytes)
        if rows.is_empty():
            yield calls.whole(piece)
            return
        _trim()
        spills = {kind: Spill(calls.keys, limit_bytes) for kind in (ROWS, PARTIALS)}
        while piece:
            while piece:  # a part at a time, which is let go
                part, size = {kind: [] for kind in spills}, 0
                while piece and size < max(1, limit_bytes // PARTS):
                    kind, batch = piece.pop(0)
                    part[kind].append(batch)
                    size += batch.nbytes
                del batch
                for kind, spill in spills.items():
                    if part[kind]:
                        spill.add(pyarrow.Table.from_batches(part.pop(kind)))
                        _trim()
            piece = rows.piece(limit_bytes // PARTS)
        _return_memory()
        is_mixed = not any(spill.is_empty() for spill in spills.values())
        for source in spills[ROWS].sources():
            groups = calls.group_table(source, is_mixed)
            source = None
            if is_mixed:
                spills[PARTIALS].add(table_of(groups))
            else:
                yield groups
            groups = None
            _return_memory()
        for source in spills[PARTIALS].sources():
            yield calls.merge(source)
            source = None
            _return_memory()


LEAST_RECURRENCE = 6  # rows to a group of a piece, from which on partials cost less than rows that are passed on
# Of a piece: so many rows at most, such a part of it, and in so many places, say how often keys recur.
LOOK_ROWS, LOOK_SHARE, LOOKS = 1 << 16, 8, 16


def group_count(rows, groups):
    """How many equally frequent groups there are, if so many rows have so many of them."""
    import math
    if groups >= rows:
        return math.inf
    low, high = float(groups), float(groups)
    while high * -math.expm1(-rows / high) < groups:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if middle * -math.expm1(-rows / middle) < groups else (low, middle)
    return high


def groups_of(rows, seen_rows, seen_groups):
    """How many groups so many rows would have."""
    import math
    count = group_count(seen_rows, seen_groups)
    return rows if count == math.inf else min(rows, count * -math.expm1(-rows / count))


class Calls:
    """The library's."""

    def __init__(self, warpage, keys, aggs, device):
        self._warpage, self.keys, self._aggs, self._device = warpage, keys, aggs, device
        self._options = {"sort": False, "counts": "int64", "text": "utf8", "threads": threads()}

    def recur(self, batches):
        """Whether the keys of a piece do so often that partials cost less than its rows."""
        import random
        rows = sum(batch.num_rows for batch in batches)
        look = min(LOOK_ROWS, rows // LOOK_SHARE)
        if look < 1024:
            return True
        random_, looks, seen = random.Random(1), [], 0
        while seen < look:  # runs of rows at random places
            batch = random_.choice(batches)
            count = min(batch.num_rows, -(-look // LOOKS))
            looks.append(batch.slice(random_.randrange(batch.num_rows - count + 1), count))
            seen += count
        groups = self._warpage.groupby(Stream(looks), self.keys, "count", sort=False, threads=self._options["threads"])
        return rows >= LEAST_RECURRENCE * groups_of(rows, seen, len(groups))

    def group(self, batches, is_partial):
        return self.group_table(Stream(batches), is_partial)

    def group_table(self, table, is_partial=False):
        return self._warpage.groupby(table, self.keys, self._aggs, partial=is_partial, device=device_of(self._device),
                                     **self._options)

    def merge(self, partials):
        return self._warpage.merge(partials, self.keys, self._aggs, **self._options)

    def whole(self, marked):
        """Groups of rows and partials."""
        import pyarrow
        batches = {kind: [batch for of, batch in marked if of == kind] for kind in (ROWS, PARTIALS)}
        marked.clear()

        def stream(kind):
            schema = batches[kind][0].schema
            return pyarrow.RecordBatchReader.from_batches(schema, joined(popped(batches[kind]), JOINED_BYTES))

        if not batches[PARTIALS]:
            return self.group_table(stream(ROWS))
        groups = [self.group_table(stream(ROWS), True)] if batches[ROWS] else []
        return self.merge(groups + [stream(PARTIALS)])


@contextlib.contextmanager
def _errors(warpage, names):
    """Those of the library, with the names that the caller has for columns, `names`."""
    try:
        yield
    except warpage.WarpageError as error:
        message = str(error)
        for inside, name in names.items():
            message = message.replace(":%s:" % inside, ":%s:" % name)
        if isinstance(error, MemoryError):
            message += "; give executors more memory, or pass a smaller memory_bytes"
        raise RuntimeError(message) from None


def first_task(build, keys, aggs, is_partial, device, limit_bytes, places, piece_bytes_, names):
    """The function of mapInArrow that makes parcels of a partition: of rows, or of partials where keys recur, if asked.
    `build`: the driver's version and fingerprint."""

    def run(batches):
        warpage = load(*build)
        rows = Rows(((ROWS, batch) for batch in filter(row_count, batches)))
        with _errors(warpage, names):
            for kind, table in first_stage(rows, is_partial, limit_bytes, Calls(warpage, keys, aggs, device)):
                yield from parcels(table, kind, keys, places, piece_bytes_)
                table = None  # the next one begins without this one

    return run


def second_task(build, keys, aggs, device, limit_bytes, batch_rows, schema, places, names):
    """The function of mapInArrow that makes groups of parcels.
    `schema`: of what it returns, by pyarrow; `places`: see shaped."""

    def run(batches):
        warpage = load(*build)
        rows = Rows(opened(filter(row_count, batches), limit_bytes))
        if rows.is_empty():
            return
        with _errors(warpage, names):
            for groups in second_stage(rows, limit_bytes, Calls(warpage, keys, aggs, device)):
                _trim()
                table = shaped(table_of(groups), schema, places)
                del groups
                yield from batches_of(table, schema, batch_rows)
                table = None

    return run


# ---- looks at the input ----------------------------------------------------------------------------------------

def head_task(build, keys, rows_max, partitions):
    """For mapInArrow: of the first rows of the first partitions, how many there are, their bytes, their groups, and
    whether the partition has more."""

    def run(batches):
        import pyarrow
        from pyspark import TaskContext
        if TaskContext.get().partitionId() >= partitions:
            return
        warpage = load(*build)
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


def sample_task(build, column, share, seed, confidence, device):
    """For mapInArrow: the sample of a partition's rows, one row. `share`: of the rows, is read."""

    def run(batches):
        import pyarrow
        from pyspark import TaskContext
        warpage = load(*build)
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
