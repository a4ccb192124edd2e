# SPDX-License-Identifier: Apache-2.0
"""Tasks of warpage.spark without Spark: partitions that exceed a task's memory, in all stages, against a dictionary of
Python's; a process whose memory ends fails with a sentence. Exit status 77: pyarrow is not there.

spill.py ROWS MEMORY_BYTES: one partition of so many rows, all their texts different, and the memory that each stage takes
beyond that of a process that only counts what it is given."""
import array
import decimal
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile

try:
    import pyarrow
except ImportError:
    sys.exit(77)
import warpage
from warpage import interface, native, spark_tasks

spark_tasks.threads = lambda: 1
spark_tasks.device_of = lambda device: device
KEYS, AGGREGATES = ["t", "f", "i"], ["count", "sum:v", "avg:v", "max:v"]
random_ = random.Random(6)


def batches(rows, size):
    for first in range(0, len(rows), size):
        part = rows[first:first + size]
        yield pyarrow.RecordBatch.from_pydict({
            "t": pyarrow.array([row[0] for row in part], pyarrow.string()), "f": pyarrow.array([row[1] for row in part], pyarrow.float64()),
            "i": pyarrow.array([row[2] for row in part], pyarrow.int32()), "v": pyarrow.array([row[3] for row in part], pyarrow.int64())})


PLACES = [5, 0, 9]


def exchange(source, is_partial, limit_bytes, keys, aggregates, piece_bytes=100, parcel_bytes=300):
    """The first stage: parcels of a partition, lists of their pieces, for each place."""
    calls, sent = spark_tasks.Calls(warpage, keys, aggregates, "cpu"), {place: [] for place in PLACES}
    rows = spark_tasks.Rows((spark_tasks.ROWS, batch) for batch in source)
    for kind, table in spark_tasks.first_stage(rows, is_partial, limit_bytes, calls):
        for batch in spark_tasks.parcels(table, kind, keys, PLACES, piece_bytes, parcel_bytes):
            for row, (place, part) in enumerate(zip(batch.column(0).to_pylist(), batch.column(2).to_pylist())):
                if not sent[place] or not sent[place][-1][-1].column(2)[0].as_py() & 0xFFFFFFFF:
                    sent[place].append([])
                sent[place][-1].append(batch.slice(row, 1))
    return sent


def merge(sent, limit_bytes, keys, aggregates):
    """The second stage: groups of the parcels of each place."""
    calls = spark_tasks.Calls(warpage, keys, aggregates, "cpu")
    for parcels in sent.values():
        if parcels:
            pieces = (piece for parcel in parcels for piece in parcel)
            for groups in spark_tasks.second_stage(spark_tasks.Rows(spark_tasks.opened(pieces, limit_bytes)), limit_bytes, calls):
                yield from pyarrow.table(groups).to_batches()


def run(source, limit_bytes, keys, aggregates):
    yield from merge(exchange(source, False, limit_bytes, keys, aggregates, 1 << 19, 1 << 18), limit_bytes, keys, aggregates)


SPARK_ROWS, SPARK_BYTES = 10_000, 64 << 20  # of Spark's batches for Python


def partition(rows):
    """Batches as Spark makes them of a partition whose texts are all different."""
    for first in range(0, rows, SPARK_ROWS):
        texts = "".join("https://example.org/visitors/%012d" % (i * 7919 % rows) for i in range(first, first + SPARK_ROWS))
        columns = [(pyarrow.string(), array.array("i", range(0, len(texts) + 1, 41)), texts.encode()),
                   (pyarrow.int64(), array.array("q", range(SPARK_ROWS)))]
        yield pyarrow.RecordBatch.from_arrays([pyarrow.Array.from_buffers(type_, SPARK_ROWS, [None, *map(pyarrow.py_buffer, buffers)])
                                               for type_, *buffers in columns], ["t", "v"])


def measured_first(rows, memory_bytes, path):
    """The first stage: its parcels in batches as Spark makes them for the second one."""
    writer = None
    calls = spark_tasks.Calls(warpage, ["t"], ["count", "sum:v"], "cpu")
    size = spark_tasks.piece_bytes(memory_bytes // 4, SPARK_ROWS, SPARK_BYTES)
    stage = spark_tasks.first_stage(spark_tasks.Rows((spark_tasks.ROWS, batch) for batch in partition(rows)), True, memory_bytes // 4, calls)
    for kind, table in stage:
        for batch in spark_tasks.parcels(table, kind, ["t"], [0], size):
            writer = writer or pyarrow.ipc.new_stream(path, batch.schema)
            writer.write_batch(batch)
        table = batch = None
    writer.close()


def spark_batches(path):
    """Of the parcels' pieces of one file into another."""
    with pyarrow.ipc.open_stream(path) as reader, pyarrow.ipc.new_stream(path + ".spark", reader.schema) as writer:
        rows = (batch.slice(row, 1) for batch in reader for row in range(batch.num_rows))
        taken, size = [], 0
        for row in rows:
            taken.append(row)
            size += row.nbytes
            if size >= SPARK_BYTES or len(taken) == SPARK_ROWS:
                writer.write_table(pyarrow.Table.from_batches(taken).combine_chunks())
                taken, size = [], 0
        if taken:
            writer.write_table(pyarrow.Table.from_batches(taken).combine_chunks())


def measured_second(memory_bytes, path):
    """The second stage."""
    groups = 0
    with pyarrow.OSFile(path + ".spark") as file:
        calls = spark_tasks.Calls(warpage, ["t"], ["count", "sum:v"], "cpu")
        rows = spark_tasks.Rows(spark_tasks.opened(iter(pyarrow.ipc.open_stream(file)), memory_bytes // 4))
        for result in spark_tasks.second_stage(rows, memory_bytes // 4, calls):
            for batch in spark_tasks.table_of(result).to_batches():
                groups += batch.num_rows
            result = batch = None
    print("groups", groups)


def counted(batches):
    print("rows", sum(batch.num_rows for batch in batches))


def memory_of(*words):
    """What a process of this file prints, and the most memory that it has, in bytes."""
    said = subprocess.run([sys.executable, __file__, *map(str, words)], capture_output=True, text=True, check=True).stdout
    return said.split("\n")[:-2], int(said.split()[-1])


def measured(rows, memory_bytes):
    """Memory of each stage, beyond that of a process that only counts, in bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "parcels")
        _, counting = memory_of("count-first", rows)
        _, first = memory_of("first", rows, memory_bytes, path)
        memory_of("spark-batches", path)
        said, second = memory_of("second", memory_bytes, path)
        assert said == ["groups %d" % rows], said
        return first - counting, second - counting


STEPS = {"count-first": lambda rows: counted(partition(int(rows))),
         "first": lambda rows, memory_bytes, path: measured_first(int(rows), int(memory_bytes), path),
         "spark-batches": spark_batches,
         "second": lambda memory_bytes, path: measured_second(int(memory_bytes), path)}


def limited():
    """A task of a process that may take 48 MiB more: a sentence, or the groups if they fit."""
    def source():
        for first in range(0, 2_000_000, 50_000):
            yield pyarrow.RecordBatch.from_pydict({"k": range(first, first + 50_000)})

    list(run(iter([next(source())]), 1 << 30, ["k"], ["count"]))  # everything is loaded
    with open("/proc/self/statm", encoding="utf8") as file:
        size = int(file.read().split()[0]) * resource.getpagesize() + (48 << 20)
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    try:
        groups = sum(batch.num_rows for batch in run(source(), 1 << 30, ["k"], ["count"]))
    except (warpage.WarpageError, MemoryError, pyarrow.ArrowException) as error:
        print("failed: %s" % error)
        return
    print("groups: %d" % groups)


def are_sent():
    """Columns that are sent in shorter types have their own again; pieces that are missing or in another order are found."""
    def decimals(*values):
        return pyarrow.array([value if value is None else decimal.Decimal(value) for value in values], pyarrow.decimal128(38, 0))

    table = pyarrow.Table.from_arrays(
        [pyarrow.array([1, None, 300, -5]), pyarrow.array([2**62, -2**63, 0, 1]), pyarrow.array([None] * 4, pyarrow.int32()),
         decimals(1, None, 2**40, -7), decimals(1, None, 2**70, -7), pyarrow.array([1, 2, 3, 4], pyarrow.uint64()),
         pyarrow.array([0, 1, 2, 3], pyarrow.date32()), pyarrow.array(["a", None, "", "b"])], list("abcdefgh"))
    table = table.replace_schema_metadata(None).set_column(3, table.schema.field(3).with_metadata({b"warpage.sum": b"uint64"}), table.column(3))
    short = spark_tasks.shortened(table)
    assert list(map(str, short.schema.types)) == \
        ["int16", "int64", "int8", "int64", "decimal128(38, 0)", "uint64", "date32[day]", "string"], short.schema
    for first in (0, 1, 4):
        for batch in short.slice(first).to_batches():
            long = pyarrow.Table.from_batches([spark_tasks.lengthened(batch)])
            assert long.equals(table.slice(first), check_metadata=True), (first, long)
            assert spark_tasks.long_bytes(batch) >= batch.nbytes
    pieces = [batch.slice(row, 1) for batch in spark_tasks.parcels(table, spark_tasks.ROWS, ["a"], [0], 256) for row in range(batch.num_rows)]
    assert len(pieces) > 3
    ((kind, batch),) = spark_tasks.opened(iter(pieces), 1 << 20)
    assert kind == spark_tasks.ROWS and sorted(batch.column(1).to_pylist()) == sorted(table.column(1).to_pylist())
    for wrong in (pieces[:-1], pieces[:1] + pieces[2:], [pieces[1], pieces[0]] + pieces[2:], pieces[:2] + pieces):
        try:
            list(spark_tasks.opened(iter(wrong), 1 << 20))
        except RuntimeError as error:
            assert "between the stages" in str(error)
        else:
            raise AssertionError("pieces in a wrong order are taken")


def are_compared():
    """A driver and workers of one version whose packages differ are told apart; a copy is the same."""
    own = interface.fingerprint()
    spark_tasks.load(warpage.__version__, own)
    for fingerprint, wrong in (("0" * 16, warpage.__version__), (own, "9.9")):
        try:
            spark_tasks.load(wrong, fingerprint)
        except RuntimeError as error:
            assert "install the same" in str(error), error
        else:
            raise AssertionError("another build is taken")
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "warpage")
        shutil.copytree(os.path.dirname(warpage.__file__), copy, ignore=shutil.ignore_patterns("__pycache__"))
        for change in ("", "# another build\n"):
            with open(os.path.join(copy, "spark_tasks.py"), "a", encoding="utf8") as file:
                file.write(change)
            said = subprocess.run([sys.executable, "-c", "from warpage import interface; print(interface.fingerprint())"], check=True,
                                  capture_output=True, text=True,
                                  env={**os.environ, "PYTHONPATH": folder, "WARPAGE_LIBRARY": native.FOLDER}).stdout.strip()
            assert (said == own) == (not change), (said, own)


def main():
    are_sent()
    are_compared()
    pool = [(random_.choice([None, "", "zürich", "x%d" % i]), random_.choice([None, -0.0, 0.0, float("nan"), i / 4]), i % 5)
            for i in range(400)]
    rows = [(*random_.choice(pool), random_.choice([None, random_.randrange(-9, 10**6)])) for _ in range(2500)]
    own = {}
    for t, f, i, v in rows:
        own.setdefault((t, "nan" if f is not None and f != f else None if f is None else f + 0.0, i), []).append(v)
    own = {key: (len(values), sum(known), sum(known) / len(known), max(known)) if known else (len(values), None, None, None)
           for key, values in own.items() for known in [[v for v in values if v is not None]]}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SPARK_LOCAL_DIRS"] = folder
        for limit_bytes in (1, 20_000, 1 << 30):
            halves = [(batches(half, 500), is_partial) for half, is_partial in ((rows[:1000], True), (rows[1000:], False))]
            for name, parts in (("partials", [(batches(rows, 500), True)]), ("rows", [(batches(rows, 500), False)]), ("both", halves)):
                sent = {place: [] for place in PLACES}
                for source, is_partial in parts:
                    for place, parcels in exchange(source, is_partial, limit_bytes, KEYS, AGGREGATES).items():
                        sent[place] += parcels
                random_.shuffle(sent[PLACES[0]])
                got = {}
                for batch in merge(sent, limit_bytes, KEYS, AGGREGATES):
                    for row in batch.to_pylist():
                        t, f, i, *values = row.values()
                        key = (t, "nan" if f is not None and f != f else f, i)
                        assert key not in got, ("twice", name, limit_bytes, key)
                        got[key] = tuple(values)
                assert got == own, (name, limit_bytes)
                assert not os.listdir(folder), "files are left"
    del os.environ["SPARK_LOCAL_DIRS"]
    for count, kind in ((40_000, spark_tasks.PARTIALS), (10**9, spark_tasks.ROWS)):  # keys that recur, and that hardly do
        table = pyarrow.Table.from_pydict({"k": [i * 7919 % count for i in range(400_000)]})
        stage = spark_tasks.first_stage(spark_tasks.Rows((spark_tasks.ROWS, batch) for batch in table.to_batches(10_000)), True, 1 << 30,
                                        spark_tasks.Calls(warpage, ["k"], ["count"], "cpu"))
        assert {kind for kind, _ in stage} == {kind}, count
    stages = measured(1_000_000, 64 << 20)  # half of it, and 30 MiB of libraries and of what they keep
    assert max(stages) < 88 << 20, [size >> 20 for size in stages]
    done = subprocess.run([sys.executable, __file__, "limited"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout.startswith("failed: ") and "memory" in done.stdout, done


if sys.argv[1:] == ["limited"]:
    limited()
elif sys.argv[1:2] and sys.argv[1] in STEPS:
    STEPS[sys.argv[1]](*sys.argv[2:])
    with open("/proc/self/status", encoding="utf8") as status:
        print(next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM:")))
elif len(sys.argv) > 1:
    print("first stage: memory %d MiB beyond a process that only counts, second stage: %d MiB" %
          tuple(size >> 20 for size in measured(*map(int, sys.argv[1:3]))))
else:
    main()
