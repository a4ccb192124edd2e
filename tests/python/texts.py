# SPDX-License-Identifier: Apache-2.0
"""Keys of text, bytes, booleans, dates and dictionaries, in every layout of Arrow's, against a dictionary of
Python's. Exit status 77: pyarrow is not there."""
import os
import random
import sys

try:
    import pyarrow as pa
except ImportError:
    sys.exit(77)
import warpage

SEED = int(os.environ.get("SEED", "31"))
random_ = random.Random(SEED)
print("SEED=%d" % SEED)
ROWS = 5000


def texts(count):
    """With zeros, some of one beginning, some longer than what a view holds."""
    letters = "\0a\u00e9\u6f22"
    return ["".join(random_.choice(letters) for _ in range(random_.choice([0, 1, 2, 3, 4, 5, 11, 30, 200])))
            for _ in range(count)]


def drawn(pool, null_share):
    return [None if random_.random() < null_share else random_.choice(pool) for _ in range(ROWS)]


def in_batches(values, make, pieces):
    """A chunked array, each piece made by itself: dictionaries differ."""
    cuts = [0] + sorted(random_.randint(0, len(values)) for _ in range(pieces - 1)) + [len(values)]
    chunks = []
    for first, outer in zip(cuts, cuts[1:]):
        chunks.append(make(values[first:outer]))
    return pa.chunked_array(chunks, type=chunks[0].type)


def dictionary(index, value_type):
    def make(values):
        array = pa.array(values, value_type).dictionary_encode()
        return pa.DictionaryArray.from_arrays(array.indices.cast(index), array.dictionary)
    return make


def null_in_dictionary(values):
    words = sorted({value for value in values if value is not None}) + [None]
    return pa.DictionaryArray.from_arrays(pa.array([words.index(value) for value in values], pa.int16()), pa.array(words, pa.string()))


WORDS, BYTES = texts(90), [bytes(random_.randrange(256) for _ in range(random_.choice([0, 1, 12, 13, 40]))) for _ in range(70)]
KINDS = {
    "utf8": (WORDS, lambda v: pa.array(v, pa.string())),
    "large_utf8": (WORDS, lambda v: pa.array(v, pa.large_string())),
    "utf8_view": (WORDS, lambda v: pa.array(v, pa.string_view())),
    "binary": (BYTES, lambda v: pa.array(v, pa.binary())),
    "large_binary": (BYTES, lambda v: pa.array(v, pa.large_binary())),
    "binary_view": (BYTES, lambda v: pa.array(v, pa.binary_view())),
    "dictionary": (WORDS, dictionary(pa.int32(), pa.string())),
    "dictionary of bytes": (BYTES, dictionary(pa.int8(), pa.large_binary())),
    "dictionary, uint8": (WORDS, dictionary(pa.uint8(), pa.large_string())),
    "dictionary, null in it": (WORDS, null_in_dictionary),
    "bool": ([False, True], lambda v: pa.array(v, pa.bool_())),
    "date": (list(range(-40, 40)), lambda v: pa.array(v, pa.int32()).cast(pa.date32())),
    "int64": ([-2**63, 2**63 - 1, 0, 5], lambda v: pa.array(v, pa.int64())),
}


def place(key):
    return tuple((part is None, b"" if part is None else part.encode() if isinstance(part, str) else part) for part in key)


def plain(value):
    return value.toordinal() - 719163 if hasattr(value, "toordinal") else value


def check(kinds, null_share, pieces, **options):
    keys = [drawn(KINDS[kind][0], null_share) for kind in kinds]
    values = [random_.randint(-100, 100) for _ in range(ROWS)]
    wanted = {}
    for row, key in enumerate(zip(*keys)):
        wanted.setdefault(key, []).append(values[row])
    wanted = {key: (len(v), sum(v)) for key, v in wanted.items()}
    names = ["k%d" % i for i in range(len(kinds))]
    table = pa.table([in_batches(k, KINDS[kind][1], pieces) for k, kind in zip(keys, kinds)] + [pa.array(values)],
                     names=names + ["v"])
    groups = warpage.groupby(table, names, ["count", "sum:v"], **options)
    rows = [tuple(map(plain, row.values())) for row in groups.to_arrow().to_pylist()]
    assert {row[:-2]: row[-2:] for row in rows} == wanted and len(rows) == len(wanted), (kinds, null_share, pieces)
    if options.get("sort", True):
        assert [row[:-2] for row in rows] == sorted(wanted, key=place), (kinds, null_share, pieces)
    assert [tuple(map(plain, row)) for row in zip(*groups.to_dict().values())] == rows
    # Not the first rows of a table: its columns have offsets.
    part = table.slice(ROWS // 3, ROWS // 3)
    assert sum(warpage.groupby(part, names).to_dict()["count"]) == ROWS // 3


for kind in KINDS:
    for null_share in (0, 0.1, 1):
        for pieces in (1, 7):
            check([kind], null_share, pieces)
    check([kind], 0.1, 3, sort=False, threads=1)
for _ in range(30):
    check(random_.sample(list(KINDS), random_.choice([2, 2, 3])), random_.choice([0, 0.1]), random_.choice([1, 5]),
          sort=random_.random() < 0.7)

# A key beside a text is NULL for the first time in a late batch, and more texts come with it.
for is_sorted in (True, False) * 20:
    batches, wanted = [], {}
    for number in range(6):
        texts = [random_.choice("abcdefghijkl") * random_.choice([1, 20]) for _ in range(8)]
        numbers = [None if number >= 3 and random_.random() < 0.3 else random_.randint(0, 3) for _ in range(8)]
        batches.append(pa.record_batch({"t": texts, "i": pa.array(numbers, pa.int32())}))
        for key in zip(texts, numbers):
            wanted[key] = wanted.get(key, 0) + 1
    columns = warpage.groupby(pa.RecordBatchReader.from_batches(batches[0].schema, batches), ["t", "i"], sort=is_sorted).to_dict()
    rows = list(zip(*columns.values()))
    assert {row[:2]: row[2] for row in rows} == wanted, (rows, wanted)
    assert not is_sorted or [row[:2] for row in rows] == sorted(wanted, key=place), rows

# Types come back: booleans, bytes, dates; counts of texts that are NULL in the dictionary.
t = pa.table({"b": pa.array([True, None, False, True]), "z": pa.array([b"\0", b"", None, b"\0"]),
              "n": pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, None], pa.int8()), pa.array(["x", None])), "w": ["a", None, "b", "c"]})
groups = warpage.groupby(t, "b", ["count:n", "count:w", "count:z"]).to_arrow()
assert groups.schema.field("b").type == pa.bool_()
assert groups.to_pydict() == {"b": [False, True, None], "count_n": [1, 1, 0], "count_w": [1, 2, 0], "count_z": [0, 2, 1]}, groups.to_pydict()
assert warpage.groupby(t, "z").to_arrow().schema.field("z").type == pa.dictionary(pa.int32(), pa.large_binary())
assert warpage.groupby(t.slice(0, 0), ["z", "w"]).to_arrow().num_rows == 0
for device in ("cpu",):
    assert warpage.groupby(t, ["w"], device=device).to_dict() == {"w": ["a", "b", "c", None], "count": [1, 1, 1, 1]}
