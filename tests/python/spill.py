# SPDX-License-Identifier: Apache-2.0
"""Tasks of warpage.spark without Spark: partitions that exceed a task's memory, in all stages, against a dictionary of
Python's; a process whose memory ends fails with a sentence. Exit status 77: pyarrow is not there.

spill.py ROWS MEMORY_BYTES: one partition of so many rows, all their texts different, and the memory that each stage takes."""
import os
import random
import resource
import subprocess
import sys
import tempfile

try:
    import pyarrow
except ImportError:
    sys.exit(77)
import warpage
from warpage import spark_tasks

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


def exchange(source, is_partial, limit_bytes, keys, aggregates, parcel_bytes=300):
    """The first stage: parcels of a partition, for each place."""
    calls, sent = spark_tasks.Calls(warpage, keys, aggregates, "cpu"), {place: [] for place in PLACES}
    rows = spark_tasks.Rows((spark_tasks.ROWS, batch) for batch in source)
    for kind, table in spark_tasks.first_stage(rows, is_partial, limit_bytes, calls):
        for batch in spark_tasks.parcels(table, kind, keys, PLACES, parcel_bytes):
            for row in range(batch.num_rows):
                sent[batch.column(0)[row].as_py()].append(batch.slice(row, 1))
    return sent


def merge(sent, limit_bytes, keys, aggregates):
    """The second stage: groups of the parcels of each place."""
    calls = spark_tasks.Calls(warpage, keys, aggregates, "cpu")
    for parcels in sent.values():
        if parcels:
            for groups in spark_tasks.second_stage(spark_tasks.Rows(spark_tasks.opened(parcels)), limit_bytes, calls):
                yield from pyarrow.table(groups).to_batches()


def run(source, limit_bytes, keys, aggregates):
    yield from merge(exchange(source, False, limit_bytes, keys, aggregates, 1 << 18), limit_bytes, keys, aggregates)


def peak_mib():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


SPARK_ROWS, SPARK_BYTES = 10_000, 64 << 20  # of Spark's batches for Python


def measured_first(rows, memory_bytes, path):
    """The first stage of a partition whose texts are all different."""
    def source():
        for first in range(0, rows, SPARK_ROWS):
            texts = ["https://example.org/visitors/%012d" % (i * 7919 % rows) for i in range(first, first + SPARK_ROWS)]
            yield pyarrow.RecordBatch.from_pydict({"t": texts, "v": range(SPARK_ROWS)})

    calls, writer = spark_tasks.Calls(warpage, ["t"], ["count", "sum:v"], "cpu"), None
    size = spark_tasks.parcel_bytes(memory_bytes // 4, SPARK_ROWS, SPARK_BYTES)
    stage = spark_tasks.first_stage(spark_tasks.Rows((spark_tasks.ROWS, batch) for batch in source()), True, memory_bytes // 4, calls)
    before = peak_mib()
    for kind, table in stage:
        for batch in spark_tasks.parcels(table, kind, ["t"], [0], size):
            writer = writer or pyarrow.ipc.new_stream(path, batch.schema)
            writer.write_batch(batch)
        table = batch = None
    writer.close()
    print("first stage: memory %d MiB beyond the %d MiB before" % (peak_mib() - before, before))


def measured_second(memory_bytes, path):
    """The second stage of its parcels, in batches as Spark makes them."""
    def batches(reader):
        taken = []
        for batch in reader:
            taken.append(batch)
            if sum(part.nbytes for part in taken) >= SPARK_BYTES or sum(part.num_rows for part in taken) >= SPARK_ROWS:
                yield from pyarrow.Table.from_batches(taken).combine_chunks().to_batches()
                taken = []
        if taken:
            yield from pyarrow.Table.from_batches(taken).combine_chunks().to_batches()

    groups = size = 0
    with pyarrow.OSFile(path) as file:
        before = peak_mib()
        calls = spark_tasks.Calls(warpage, ["t"], ["count", "sum:v"], "cpu")
        for result in spark_tasks.second_stage(spark_tasks.Rows(spark_tasks.opened(batches(pyarrow.ipc.open_stream(file)))),
                                               memory_bytes // 4, calls):
            for batch in spark_tasks.table_of(result).to_batches():
                groups, size = groups + batch.num_rows, size + batch.nbytes
            result = batch = None
    print("second stage: %d groups, %d MiB; memory %d MiB beyond the %d MiB before" % (groups, size >> 20, peak_mib() - before, before))


def measured(rows, memory_bytes):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "parcels")
        for words in (["first", rows, memory_bytes, path], ["second", memory_bytes, path]):
            subprocess.run([sys.executable, __file__, *map(str, words)], check=True)


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


def main():
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
    for count, kind in ((40_000, spark_tasks.PARTIALS), (10**9, spark_tasks.ROWS)):  # keys that recur, and that hardly do
        table = pyarrow.Table.from_pydict({"k": [i * 7919 % count for i in range(400_000)]})
        stage = spark_tasks.first_stage(spark_tasks.Rows((spark_tasks.ROWS, batch) for batch in table.to_batches(10_000)), True, 1 << 30,
                                        spark_tasks.Calls(warpage, ["k"], ["count"], "cpu"))
        assert {kind for kind, _ in stage} == {kind}, count
    done = subprocess.run([sys.executable, __file__, "limited"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout.startswith("failed: ") and "memory" in done.stdout, done


if sys.argv[1:] == ["limited"]:
    limited()
elif sys.argv[1:2] == ["first"]:
    measured_first(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
elif sys.argv[1:2] == ["second"]:
    measured_second(int(sys.argv[2]), sys.argv[3])
elif len(sys.argv) > 1:
    measured(*map(int, sys.argv[1:3]))
else:
    main()
