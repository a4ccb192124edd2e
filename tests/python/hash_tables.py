# SPDX-License-Identifier: Apache-2.0
"""warpage.Table on Python's own values, against a dictionary; with pyarrow, Polars and NumPy where they are."""
import array
import doctest
import os
import random
import sys
import tempfile

import warpage
from warpage import hash_table

try:
    import numpy
    import polars
    import pyarrow
    import pyarrow.parquet
except ImportError:
    pyarrow = None

random_ = random.Random(11)
COMBINE = {"add": lambda a, b: a + b, "min": min, "max": max, "or": lambda a, b: a | b}


def fails(kind, part, function, *arguments, **options):
    try:
        function(*arguments, **options)
    except kind as error:
        assert isinstance(error, warpage.WarpageError) and part in str(error), error
    else:
        raise AssertionError("no error that says '%s'" % part)


def some_keys(kind, count):
    numbers = [random_.randrange(700) for _ in range(count)]
    if kind is int:
        return [number - 300 for number in numbers]
    texts = ["é%s" % number + "x" * (number % 50) for number in numbers]
    return [text.encode() + b"\0" for text in texts] if kind is bytes else texts


def model_of(pairs, organisation, combiner):
    model = {}
    for key, value in pairs:
        if organisation == "combining":
            model[key] = COMBINE[combiner](model[key], value) if key in model else value
        else:
            model.setdefault(key, []).append(value)
    return model


def check(table, pairs, combiner=None):
    model = model_of(pairs, table.organisation, combiner)
    if table.organisation == "combining":
        assert dict(table) == model and len(table) == len(model) == table.key_count
    else:
        assert sorted(table) == sorted(pairs) and len(table) == len(pairs)
        assert table.key_count == (len(model) if table.organisation == "multi-valued" else len(pairs))
    for key in random_.sample(list(model), min(20, len(model))):
        found = table.find(key)
        assert found == model[key] if combiner else sorted(found) == sorted(model[key])
        assert key in table and table[key] == found


# Every organisation and type, by one pair and by columns, with little memory and with plenty; saved and opened.
folder = tempfile.mkdtemp()
path = os.path.join(folder, "t.table")
for number, (organisation, combiner, key, value) in enumerate([
        ("basic", None, str, str), ("basic", None, int, bytes), ("multi-valued", None, bytes, int), ("multi-valued", None, str, str),
        ("combining", "add", str, int), ("combining", "min", int, int), ("combining", "max", bytes, float), ("combining", "or", str, "uint64"),
        ("combining", "min", "uint64", "uint64"), ("combining", "add", int, float), ("basic", None, str, float)]):
    small = 1 << 20 if number % 2 == 0 else None
    with warpage.Table(organisation, combiner=combiner, key=key, value=value, memory_bytes=small, folder=folder, threads=2) as table:
        pairs = []
        for batch in range(4):
            count = 6000 if small else 400
            keys = some_keys(int if key == "uint64" else key, count)
            if key == "uint64":
                keys = [number + 2**63 for number in keys]
            values = [random_.randrange(-50, 10**6) for _ in range(count)]
            if value == "uint64":
                values = [2**40 + abs(number) for number in values]
            elif value is float:
                values = [number / 4 for number in values]
            elif value in (str, bytes):
                values = [value(b"\1" * (number % 90)) if value is bytes else "v%d" % number + "w" * 60 for number in values]
            table.insert_columns(keys, values)
            for one in range(3):
                table.insert(keys[one], values[one])
            pairs += list(zip(keys, values)) + list(zip(keys[:3], values[:3]))
            if batch == 1:
                check(table, pairs, combiner)
        check(table, pairs, combiner)
        assert not small or combiner or table.report["passes"] > 3
        table.save(path)
        with warpage.Table.open(path, key, value, mapped=number % 3 == 0) as opened:
            check(opened, pairs, combiner)
            fails(warpage.WarpageError, "cannot be added to", opened.insert, keys[0], values[0])
            if pyarrow:
                got = opened.to_arrow().to_pydict()
                assert sorted(zip(got["key"], got["value"])) == sorted(table)

# More pairs than memory go to a file; no pair is lost, and the file ends with the table.
with warpage.Table("multi-valued", value=int, memory_bytes=1 << 20, folder=folder) as table:
    for first in range(0, 60000, 20000):
        table.insert_columns(["key %d" % (row % 9999) for row in range(first, first + 20000)], range(first, first + 20000))
    report = table.report
    assert report["file_bytes"] > 1 << 20 and report["host_bytes"] <= 1 << 19 and report["passes"] > 5, report
    assert len(table) == 60000 and sorted(value for _, value in table) == list(range(60000))
    assert sorted(table["key 7"]) == list(range(7, 60000, 9999))

# Keys that come again in later passes are made again; a saved table has them once.
for organisation, options in (("combining", {"combiner": "add"}), ("multi-valued", {"value": int})):
    with warpage.Table(organisation, memory_bytes=1 << 20, folder=folder, **options) as table:
        for turn in range(6):
            table.insert_columns(["key %d" % row for row in range(20000)], [turn] * 20000)
        assert table.report["passes"] > 3, table.report
        sizes = []
        for compact in (False, True):
            table.save(path, compact=compact)
            sizes.append(os.path.getsize(path))
            with warpage.Table.open(path, value=int) as opened:
                assert len(opened) == len(table) and opened.key_count == 20000
                assert opened["key 7"] == 15 if organisation == "combining" else sorted(opened["key 7"]) == list(range(6))
        assert sizes[1] < (0.4 if organisation == "combining" else 0.9) * sizes[0], sizes

# One value for all keys; empty columns; texts of nothing; a table that is empty.
with warpage.Table("combining", combiner="add") as table:
    assert len(table) == 0 and list(table) == [] and table.find("a") is None
    table.insert_columns([], [])
    table.insert_columns(["", "a", ""], 1)
    table.insert_columns(iter(["b"]), array.array("h", [-5]))
    assert sorted(table) == [("", 2), ("a", 1), ("b", -5)]
    assert repr(table).splitlines()[0] == "key  value" and repr(table).endswith("[3 pairs, combining by add]"), repr(table)
    items = iter(table)
    next(items)
    assert warpage.Table.from_arrow({"k": ["a", "b"], "v": [3, 4]}, "k", "v", "combining", combiner="max")["b"] == 4
with warpage.Table() as table:
    table.insert_columns(["k%d" % i for i in range(12)], "v")
    assert repr(table).splitlines()[-2:] == ["…", "[12 pairs, basic]"]

# Errors are Python's types.
T = warpage.Table
fails(ValueError, "closed", table.insert, "a", "b")
fails(ValueError, "is none of basic, multi-valued, combining", T, "hash")
fails(ValueError, "one of add", T, "combining")
fails(ValueError, "has none", T, "basic", combiner="add")
fails(ValueError, "takes 1048576 at least", T, memory_bytes=1000)
fails(ValueError, "'1MiB': how many bytes", T, memory_bytes="1MiB")
fails(TypeError, "is none of str, bytes, int", T, key=float)
fails(TypeError, "takes integers", T, "combining", combiner="or", value=float)
fails(TypeError, "is none of int, float", T, "combining", combiner="add", value=str)
with T("combining", combiner="add", key=int) as table:
    fails(TypeError, "'a' is not int64", table.insert, "a", 1)
    fails(TypeError, "outside of int64", table.insert, 2**63, 1)
    fails(TypeError, "outside of int64", table.insert_columns, [2**64], [1])
    fails(TypeError, "the value of row 1 is None", table.insert_columns, [1, 2], [1, None])
    fails(TypeError, "the key of row 0 is True", table.insert_columns, [True], [1])
    fails(TypeError, "keys are one int", table.insert_columns, 1, 1)
    fails(TypeError, "values of type 'd' of 8 bytes", table.insert_columns, [1], array.array("d", [1]))
    fails(ValueError, "more keys than values", table.insert_columns, [1, 2], [1])
    fails(ValueError, "more values than keys", table.insert_columns, [1], [1, 2])
    fails(KeyError, "no column 'prise'; did you mean 'price'", table.insert_table, {"k": [1], "price": [1]}, "k", "prise")
    try:
        table[5]
    except KeyError as error:
        assert error.args == (5,)
    table.insert(1, 2**63 - 1)
    fails(OverflowError, "does not fit 64 bits", table.insert, 1, 1)
    fails(ValueError, "can only be closed", table.find, 1)
with T(value=int) as table:
    table.insert_columns(["a", "b"], [1, 2])
    items = iter(table)
    next(items)
    table.insert("c", 3)
    items = table._batches()
    next(items)
    table.insert("d", 3)
    fails(warpage.WarpageError, "added to while it was read", next, items)
    fails(OSError, "No such file", table.save, "/nowhere/t.table")
    table.save(path)
fails(OSError, "nowhere", T.open, "/nowhere/t.table")
with T(key=bytes, value=bytes) as table:
    table.insert(b"\xff", b"abc")
    table.save(path)
fails(TypeError, "open the table with key=bytes", list, T.open(path, value=bytes))
fails(TypeError, "a value of 3 bytes is not int64", T.open(path, key=bytes, value=int).find, b"\xff")
with open(path, "r+b") as file:
    file.seek(200)
    file.write(b"\x55\x55\x55")
fails(OSError, "damaged", T.open, path)

assert doctest.testmod(hash_table).failed == 0

if pyarrow:
    texts = ["t%d" % (row % 501) + "y" * (row % 30) for row in range(5000)]
    numbers = [row * 6 - 900 for row in range(5000)]
    chunks = pyarrow.chunked_array([texts[:1234], texts[1234:]])
    for kind in ("string", "large_string", "string_view"):
        for width in ("int16", "int32", "int64"):
            with T("combining", combiner="max") as table:
                table.insert_columns(chunks.cast(kind)[1:], pyarrow.array(numbers, width).slice(1))
                assert dict(table) == model_of(zip(texts[1:], numbers[1:]), "combining", "max")
    for values in (numpy.array(numbers), numpy.array(numbers * 2)[::1][:5000], polars.Series(numbers), pyarrow.array(numbers),
                   numpy.repeat(numbers, 2)[::2]):
        with T(value=int) as table:
            table.insert_columns(polars.Series(texts), values)
            assert sorted(table) == sorted(zip(texts, numbers))
    rows = pyarrow.table({"url": texts, "bytes": numbers, "w": pyarrow.array([b"ab", b"cd"] * 2500, pyarrow.binary(2))})
    pyarrow.parquet.write_table(rows, os.path.join(folder, "t.parquet"), row_group_size=700)
    for source in (rows, polars.from_arrow(rows), os.path.join(folder, "t.parquet"), pyarrow.RecordBatchReader.from_batches(rows.schema, rows.to_batches(999))):
        with T.from_arrow(source, "url", "bytes", "combining", combiner="add") as table:
            assert dict(table) == model_of(zip(texts, numbers), "combining", "add")
            assert polars.DataFrame(table).sort("key").equals(polars.DataFrame(sorted(table), ["key", "value"], orient="row"))
    with T.from_arrow(rows, "w", "url", "multi-valued") as table:
        assert len(table[b"ab"]) == 2500
        got = table.to_arrow()
        assert got.schema.types == [pyarrow.large_binary(), pyarrow.large_string()] and got.num_rows == 5000
        assert len(table.to_pandas()) == len(table.to_polars()) == 5000
    fails(KeyError, "did you mean 'url'", T.from_arrow, rows, "ur", "bytes")
    fails(TypeError, "a dictionary: cast", T.from_arrow, {"k": pyarrow.array(["a"]).dictionary_encode(), "v": [1]}, "k", "v")
    with T(value=int) as table:
        fails(ValueError, "the value of row 1 is NULL", table.insert_columns, ["a", "b"], pyarrow.array([1, None]))
        fails(TypeError, "of Arrow, but the table has int64", table.insert_columns, ["a"], pyarrow.array(["x"]))
        assert len(table) == 0
