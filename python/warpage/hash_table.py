# SPDX-License-Identifier: Apache-2.0
"""A hash table that may be larger than the memory that it is given: warpage.Table."""
import array
import ctypes
import itertools
import os
import struct
import threading
from ctypes import byref, c_char_p, c_void_p
from typing import Any, Iterator, List, Optional, Tuple, Union
from warpage import arrow, native, native_table
from warpage.groups import SHOWN_ROWS
from warpage.native import ArgumentError, ColumnError, Error, TableTypeError, WarpageError
from warpage.native_table import (COMBINERS, CONSTANT, FIXED, FLOATS, NUMBERS, OFFSETS_32, OFFSETS_64, ORGANISATIONS, SIGNED, UNSIGNED, VIEWS,
                                  Column, Cursor, Pair, Report, Rows, Spec)
from warpage.operators import check_names
from warpage.table import open_table

HEAP_BYTES = 64 << 20
MEMORY_BYTES_MIN = 1 << 20
BUCKETS = 1 << 20
BATCH_BYTES = 8 << 20  # of pairs that are read at a time
SLICE = 1 << 20  # rows that are inserted at a time

_NAMES = {str: "text", bytes: "bytes", int: "int64", float: "float64"}
_KINDS = ["text", "bytes", "int64", "uint64", "float64"]
_FORMATS = {"text": "U", "bytes": "Z", "int64": "l", "uint64": "L", "float64": "g"}  # of Arrow
_PACKERS = {"int64": struct.Struct("=q"), "uint64": struct.Struct("=Q"), "float64": struct.Struct("=d")}
_CODES = {"int64": "q", "uint64": "Q", "float64": "d"}
_RANGES = {"int64": (-2**63, 2**63 - 1), "uint64": (0, 2**64 - 1)}
_LAYOUTS = {"u": OFFSETS_32, "U": OFFSETS_64, "vu": VIEWS, "z": OFFSETS_32, "Z": OFFSETS_64, "vz": VIEWS}
_TAKEN = {"text": ("u", "U", "vu"), "bytes": ("z", "Z", "vz"), "int64": "cCsSiIl", "uint64": "CSIL", "float64": "fg"}
_SIZES = {"c": 1, "C": 1, "s": 2, "S": 2, "i": 4, "I": 4, "l": 8, "L": 8, "f": 4, "g": 8}
_ITEM_BYTES = {OFFSETS_32: 4, OFFSETS_64: 8, VIEWS: 16}


def _kind(asked, what, allowed=_KINDS):
    kind = _NAMES.get(asked, asked)
    if kind not in allowed:
        raise TableTypeError("%s %r is none of %s" % (what, asked, ", ".join(
            [name.__name__ for name in _NAMES if _NAMES[name] in allowed] + ["'%s'" % name for name in allowed])))
    return kind


def _pack(item, kind, what):
    if kind == "text" and isinstance(item, str):
        return item.encode()
    if kind == "bytes" and isinstance(item, (bytes, bytearray, memoryview)):
        return bytes(item)
    if kind in NUMBERS and not isinstance(item, bool) and isinstance(item, (int, float) if kind == "float64" else int):
        try:
            return _PACKERS[kind].pack(item)
        except struct.error:
            raise _beyond(kind, "%s %d" % (what, item)) from None
    raise TableTypeError("%s %r is not %s" % (what, item, kind))


# ---- columns: pieces of memory --------------------------------------------------------------------------------------

class _Piece:
    """Rows of a column."""

    def __init__(self, column, count, owner):
        self.column, self.count, self.owner = column, count, owner

    def rows(self, first):
        """The column from a row on."""
        column = self.column
        if column.layout == CONSTANT:
            return column
        size = _ITEM_BYTES.get(column.layout, column.item_bytes)
        return Column(column.layout, column.item_bytes, (column.items or 0) + first * size, column.buffers, column.valid,
                      column.valid_offset + first)


def _pointers(addresses):
    return (c_void_p * max(1, len(addresses)))(*addresses)


def _layout_of(format_):
    """Of a column of numbers: its layout and the bytes of a value."""
    return (FLOATS if format_ in "fg" else SIGNED if format_.islower() else UNSIGNED), _SIZES[format_]


def _refuse(kind, what, found):
    return TableTypeError("%ss of type %s, but the table has %s; convert the column" % (what, found, kind))


def _arrow_piece(schema, structure, offset, count, kind, what, owner):
    format_ = schema.format.decode()
    if schema.dictionary:
        raise TableTypeError("%ss are a dictionary: cast the column to text" % what)
    is_fixed = kind == "bytes" and format_.startswith("w:")
    if format_ not in _TAKEN[kind] and not is_fixed:
        raise _refuse(kind, what, "'%s' of Arrow" % format_)
    valid = structure.buffers[0] if structure.null_count != 0 else None
    if format_ in _LAYOUTS:
        layout = _LAYOUTS[format_]
        # The last buffer of views has the others' sizes.
        buffers = _pointers(structure.buffers[2:structure.n_buffers - 1] if layout == VIEWS else [structure.buffers[2]])
        size, item_bytes = _ITEM_BYTES[layout], 0
    else:
        layout, item_bytes = (FIXED, int(format_[2:])) if is_fixed else _layout_of(format_)
        buffers, size = _pointers([]), item_bytes
    items = (structure.buffers[1] or 0) + offset * size
    return _Piece(Column(layout, item_bytes, items, buffers, valid, offset), count, (owner, buffers))


def _from_arrow(values, kind, what):
    schema, chunks = arrow.read(values)
    if schema.structure.format == b"+s":
        raise TableTypeError("%ss are a table, not a column: use insert_table" % what)
    for chunk in chunks:
        yield _arrow_piece(schema.structure, chunk.structure, chunk.structure.offset, chunk.structure.length, kind, what, (schema, chunk))


def _check_types(values, wanted, kind, what):
    if all(issubclass(type_, wanted) and type_ is not bool for type_ in set(map(type, values))):
        return
    for row, value in enumerate(values):
        if not isinstance(value, wanted) or isinstance(value, bool):
            raise TableTypeError("the %s of row %d is %r, which is not %s" % (what, row, value, kind))


def _from_texts(values, kind, what):
    """Lists of texts or bytes."""
    wanted = str if kind == "text" else (bytes, bytearray, memoryview)
    _check_types(values, wanted, kind, what)
    data = [value.encode() for value in values] if kind == "text" else [bytes(value) for value in values]
    offsets = array.array("q", itertools.chain([0], itertools.accumulate(map(len, data))))
    joined = b"".join(data)
    buffers = _pointers([native.address_of(c_char_p(joined))])
    return _Piece(Column(OFFSETS_64, 0, offsets.buffer_info()[0], buffers, None, 0), len(data), (offsets, joined, buffers))


def _from_numbers(values, kind, what):
    _check_types(values, (int, float) if kind == "float64" else int, kind, what)
    try:
        owner = array.array(_CODES[kind], values)
    except OverflowError:
        raise _beyond(kind, what) from None
    return _number_piece(kind, owner.buffer_info()[0], len(owner), owner)


def _number_piece(kind, address, count, owner):
    layout, size = _layout_of(_FORMATS[kind])
    return _Piece(Column(layout, size, address, _pointers([]), None, 0), count, owner)


def _beyond(kind, what):
    return TableTypeError("%s is outside of %s, %d to %d" % ((what, kind) + _RANGES[kind]))


def _from_buffer(values, kind, what):
    """NumPy's arrays, array.array and other buffers."""
    try:
        view = memoryview(values)
    except (TypeError, ValueError):
        raise _refuse(kind, what, getattr(values, "dtype", type(values).__name__)) from None
    if view.ndim != 1:
        raise ArgumentError("%ss are not a one-dimensional array" % what)
    code = view.format.lstrip("@=<")
    letter = "f" if code in "fd" else "i" if code in "bhilqn" else "u" if code in "BHILQN" else "?"
    format_ = {("i", 1): "c", ("u", 1): "C", ("i", 2): "s", ("u", 2): "S", ("i", 4): "i", ("u", 4): "I", ("i", 8): "l",
               ("u", 8): "L", ("f", 4): "f", ("f", 8): "g"}.get((letter, view.itemsize))
    if format_ is None or format_ not in _TAKEN[kind] or kind in ("text", "bytes"):
        raise _refuse(kind, what, "'%s' of %d bytes" % (view.format, view.itemsize))
    if not view.nbytes:
        return _number_piece(kind, None, 0, values)
    layout, size = _layout_of(format_)
    if view.readonly or not view.c_contiguous:
        owner = array.array("B", view.tobytes())
        address = owner.buffer_info()[0]
    else:
        owner = (ctypes.c_char * view.nbytes).from_buffer(view)
        address = ctypes.addressof(owner)
    return _Piece(Column(layout, size, address, _pointers([]), None, 0), len(view), (owner, values))


def _constant(value, kind, what):
    """For all rows."""
    if what == "key":
        raise TableTypeError("keys are one %s: use insert for one pair" % type(value).__name__)
    data = _pack(value, kind, what)
    address = native.address_of(c_char_p(data))
    return _Piece(Column(CONSTANT, len(data), address, _pointers([]), None, 0), None, data)


def _pieces(values, kind, what):
    """A column, as pieces."""
    if hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__"):
        return _from_arrow(values, kind, what)
    if isinstance(values, (str, bytes, int, float)):
        return iter([_constant(values, kind, what)])
    if not isinstance(values, (list, tuple)):
        if hasattr(values, "to_numpy"):  # a Series of pandas
            values = values.to_numpy()
        if getattr(values, "dtype", None) is not None and (values.dtype.kind in "OUS" or getattr(values, "mask", None) is not None):
            values = values.tolist()
        elif hasattr(values, "__array_interface__") or isinstance(values, (array.array, memoryview)):
            return iter([_from_buffer(values, kind, what)])
        else:
            values = list(values)
    return iter([(_from_texts if kind in ("text", "bytes") else _from_numbers)(values, kind, what)])


def _pairs(keys, values):
    """Pieces of both columns with the same rows: (key column, value column, rows, owners)."""
    key = value = None
    key_at = value_at = 0
    while True:
        while key is None or key_at == key.count:
            key, key_at = next(keys, None), 0
            if key is None:
                break
        while value is None or value_at == value.count and value.count is not None:
            value, value_at = next(values, None), 0
            if value is None:
                break
        if key is None and value is not None and value.count is None:
            return
        if key is None or value is None:
            if key is not value:
                raise ArgumentError("there are more %s than %s" % (("keys", "values") if value is None else ("values", "keys")))
            return
        count = min(key.count - key_at, key.count if value.count is None else value.count - value_at, SLICE)
        yield key.rows(key_at), value.rows(value_at), count, (key, value)
        key_at += count
        value_at += count


# ---- the table ------------------------------------------------------------------------------------------------------

class Table(arrow.Tabular):
    """A hash table of pairs of bytes, texts or numbers (SePo): the library's, include/warpage/table.h.

    organisation: "basic": each pair is an entry; "multi-valued": a key has the list of its values; "combining": a key
    has one value, which a new one is combined with.
    combiner: of a combining table: "add", "min", "max" or "or". A sum of integers beyond 64 bits is a SumError.
    key, value: str, bytes, int (64 bits) or "uint64"; a value also float. A combining table has numbers as values.
    memory_bytes: the table's memory, at most. Pairs that exceed it go to a file without a name in `folder` (TMPDIR, or
    /tmp), which is deleted with the table. None: no limit. At least 1 MiB.
    buckets: of the hash table; about as many as there will be keys is best. None: by memory_bytes, or 2**20.
    threads: that insert; 0: one for each processor.

    Inserting and reading do not mix well: the first reading after an insertion looks at all pairs. Iteration, `len` and
    Arrow give a row for each pair, in no defined order.

    >>> import warpage
    >>> prices = warpage.Table("combining", combiner="add", value=int)
    >>> prices.insert("tea", 3)
    >>> prices.insert_columns(["oil", "tea"], [5, 4])
    >>> prices["tea"], len(prices), "salt" in prices
    (7, 2, False)
    >>> sorted(prices)
    [('oil', 5), ('tea', 7)]

    >>> with warpage.Table("multi-valued", value=int) as lines:
    ...     lines.insert_columns(["a", "b", "a"], [1, 2, 3])
    ...     sorted(lines.find("a")), lines.find("c")
    ([1, 3], [])
    """

    def __init__(self, organisation: str = "basic", *, combiner: Optional[str] = None, key: Union[type, str] = str,
                 value: Union[type, str, None] = None, memory_bytes: Optional[int] = None, folder: Optional[str] = None,
                 buckets: Optional[int] = None, threads: int = 0) -> None:
        self._handle: Any = None
        self._device: Any = None
        if organisation not in ORGANISATIONS:
            raise ArgumentError("organisation '%s' is none of %s" % (organisation, ", ".join(ORGANISATIONS)))
        is_combining = organisation == "combining"
        if is_combining and combiner not in COMBINERS or not is_combining and combiner is not None:
            raise ArgumentError("combiner: %s" % ("one of " + ", ".join(COMBINERS) if is_combining else "a %s table has none" % organisation))
        if memory_bytes is not None and not isinstance(memory_bytes, int):
            raise ArgumentError("memory_bytes is %r: how many bytes, such as 512 << 20" % (memory_bytes,))
        if memory_bytes is not None and memory_bytes < MEMORY_BYTES_MIN:
            raise ArgumentError("memory_bytes is %d; a table takes %d at least" % (memory_bytes, MEMORY_BYTES_MIN))
        self._set_up(organisation, key, (int if is_combining else str) if value is None else value)
        self._combiner, self._threads, self._combine = combiner, threads, None
        if is_combining:
            self._combine = native_table.library().wp_table_number_combine(COMBINERS.index(combiner), NUMBERS.index(self._value_kind))
            if self._combine is None:
                raise TableTypeError("combiner 'or' takes integers")
        spec = Spec(ORGANISATIONS.index(organisation), native_table.BY_CALLBACK, buckets or BUCKETS, 0, HEAP_BYTES)
        if memory_bytes is not None:
            # A quarter for the heap, an eighth for pages that stay, an eighth for buckets (twice), the rest for pairs.
            spec.heap_bytes, spec.host_bytes = memory_bytes // 4, memory_bytes // 2
            spec.bucket_count = buckets or max(64, 1 << (memory_bytes // 128).bit_length() - 1)
            spec.spill_folder = os.fspath(folder).encode() if folder is not None else None
        error, handle, device = Error(), c_void_p(), c_void_p()
        native.check(native.devices().wp_device_open(b"cpu", byref(device), byref(error)), error)
        self._device = device
        native_table.check(native_table.library().wp_table_create(device, byref(spec), byref(handle), byref(error)), error)
        self._handle = handle
        self._options = dict(combiner=combiner, key=self._key_kind, value=self._value_kind, memory_bytes=memory_bytes, folder=folder,
                             buckets=buckets, threads=threads)

    def _set_up(self, organisation, key, value):
        self._organisation = organisation
        numbers = organisation == "combining"
        self._key_kind = _kind(key, "key", [kind for kind in _KINDS if kind != "float64"])
        self._value_kind = _kind(value, "value", NUMBERS if numbers else _KINDS)
        self._lock = threading.RLock()
        self._insertions = 0
        self._one = [Column(FIXED, 0, None, _pointers([]), None, 0), Column(FIXED, 0, None, _pointers([]), None, 0)]

    @classmethod
    def from_arrow(cls, table: Any, key: str, value: str, organisation: str = "basic", **options: Any) -> "Table":
        """A table of two columns of anything that speaks the Arrow C data interface, of a dict of arrays or of a file
        (a path): its types are those of the columns. Other arguments are the constructor's."""
        source = open_table(table, (key, value))
        check_names(source.names, (key, value), once=True)
        if not hasattr(source, "_chunks"):
            kinds = [_kind_of_values(source._columns[name], name) for name in (key, value)]
        else:
            kinds = [_kind_of_format(source._schema.structure.children[source._numbers[name]].contents, name) for name in (key, value)]
        made = cls(organisation, **dict({"key": kinds[0], "value": kinds[1]}, **options))
        try:
            made._insert_source(source, key, value)
        except BaseException:
            made.close()
            raise
        return made

    @classmethod
    def open(cls, path: Union[str, "os.PathLike[str]"], key: Union[type, str] = str, value: Union[type, str, None] = None,
             mapped: bool = False) -> "Table":
        """A saved table, which can be read, not added to. The file has bytes: `key` and `value` say what they are, as
        for the constructor. mapped: the file is searched where it is, and must not change."""
        made = cls.__new__(cls)
        made._handle = made._device = None
        error, handle = Error(), c_void_p()
        open_ = native_table.library().wp_table_map if mapped else native_table.library().wp_table_open
        native_table.check(open_(os.fspath(path).encode(), byref(handle), byref(error)), error)
        made._handle = handle
        organisation = ORGANISATIONS[native_table.library().wp_table_get_organisation(handle)]
        made._set_up(organisation, key, (int if organisation == "combining" else str) if value is None else value)
        made._combiner, made._threads, made._combine = None, 0, None
        return made

    # ---- inserting ----

    def insert(self, key: Any, value: Any) -> None:
        """One pair. Many at a time are far faster: insert_columns."""
        data = _pack(key, self._key_kind, "key"), _pack(value, self._value_kind, "value")
        with self._lock:
            for column, item in zip(self._one, data):
                column.item_bytes, column.items = len(item), native.address_of(c_char_p(item))
            self._add(self._one[0], self._one[1], 1)

    def insert_columns(self, keys: Any, values: Any) -> None:
        """A pair for each row of two columns: of Arrow, NumPy, array.array, or lists; `values` may be one value for all
        keys. NULL is refused; rows before it may have been inserted."""
        with self._lock:
            self._open_handle()
            for key, value, count, _owner in _pairs(_pieces(keys, self._key_kind, "key"), _pieces(values, self._value_kind, "value")):
                self._add(key, value, count)

    def insert_table(self, table: Any, key: str, value: str) -> None:
        """Two columns of a table: of Arrow, a dict of arrays, or a file's path, which is read batch by batch."""
        source = open_table(table, (key, value))
        check_names(source.names, (key, value), once=True)
        self._insert_source(source, key, value)

    def _insert_source(self, source, key, value):
        if not hasattr(source, "_chunks"):
            self.insert_columns(source._columns[key], source._columns[value])
            return
        schema = source._schema.structure
        numbers = source._numbers[key], source._numbers[value]
        with self._lock:
            self._open_handle()
            for chunk in source._chunks:
                pieces = []
                for number, kind, name in zip(numbers, (self._key_kind, self._value_kind), (key, value)):
                    structure = chunk.structure.children[number].contents
                    pieces.append(iter([_arrow_piece(schema.children[number].contents, structure, structure.offset + chunk.structure.offset,
                                                     chunk.structure.length, kind, "column '%s': value" % name, (source, chunk))]))
                for key_rows, value_rows, count, _owner in _pairs(*pieces):
                    self._add(key_rows, value_rows, count)

    def _add(self, keys, values, count):
        error = Error()
        self._insertions += 1
        native_table.check(native_table.library().wp_table_add_rows(
            self._open_handle(), byref(keys), byref(values), count, self._combine, self._threads, byref(error)), error)

    # ---- reading ----

    def _open_handle(self):
        if self._handle is None:
            raise ArgumentError("the table is closed")
        return self._handle

    def _settled(self):
        """The handle, after all insertions."""
        handle = self._open_handle()
        if self._device is not None:
            error = Error()
            native_table.check(native_table.library().wp_table_settle_rows(handle, byref(error)), error)
        return handle

    def _check(self, cursor):
        error = Error()
        native_table.check(native_table.library().wp_table_check(self._handle, byref(cursor), byref(error)), error)

    def _value(self, pair):
        return self._unpack(ctypes.string_at(pair.value, pair.value_bytes), self._value_kind, "value")

    @staticmethod
    def _unpack(data, kind, what):
        if kind == "text":
            try:
                return data.decode()
            except UnicodeDecodeError:
                raise TableTypeError("a %s is not text: %r; open the table with %s=bytes" % (what, data[:40], what)) from None
        if kind == "bytes":
            return data
        if len(data) != 8:
            raise TableTypeError("a %s of %d bytes is not %s; open the table with %s=bytes" % (what, len(data), kind, what))
        return _PACKERS[kind].unpack(data)[0]

    def find(self, key: Any) -> Any:
        """A combining table: the key's value, or None. Others: the list of its values, which may be empty."""
        data = _pack(key, self._key_kind, "key")
        values, cursor, pair = [], Cursor(), Pair()
        with self._lock:
            handle = self._settled()
            find_next = native_table.library().wp_table_find_next
            while find_next(handle, data, len(data), byref(cursor), byref(pair)):
                values.append(self._value(pair))
            if not values:
                self._check(cursor)
        if self._organisation != "combining":
            return values
        return values[0] if values else None

    def __getitem__(self, key: Any) -> Any:
        found = self.find(key)
        if found is None or found == [] and self._organisation != "combining":
            raise KeyError(key)
        return found

    def __contains__(self, key: Any) -> bool:
        found = self.find(key)
        return found is not None and found != []

    def __len__(self) -> int:
        """Pairs."""
        with self._lock:
            return native_table.library().wp_table_pair_count(self._settled())

    @property
    def key_count(self) -> int:
        """Keys; of a basic table, pairs."""
        with self._lock:
            return native_table.library().wp_table_key_count(self._settled())

    @property
    def organisation(self) -> str:
        return self._organisation

    @property
    def report(self) -> dict:
        """What the table took: passes over its heap, bytes of pairs in memory and in the file, and more, as
        wp_table_report."""
        report = Report()
        with self._lock:
            native_table.library().wp_table_get_report(self._settled(), byref(report))
        return {name: getattr(report, name) for name, _ in Report._fields_}

    def _batches(self, bytes_max=BATCH_BYTES):
        """Rows, batch by batch."""
        cursor, insertions = Cursor(), self._insertions
        while True:
            rows, error = Rows(), Error()
            with self._lock:
                if insertions != self._insertions:
                    raise WarpageError("the table was added to while it was read; begin again")
                native_table.check(native_table.library().wp_table_take_rows(
                    self._settled(), byref(cursor), bytes_max, byref(rows), byref(error)), error)
            if not rows.count:
                return
            yield rows

    def __iter__(self) -> Iterator[Tuple[Any, Any]]:
        """Pairs (key, value)."""
        self._open_handle()
        for rows in self._batches():
            yield from zip(self._items(rows.count, rows.key_offsets, rows.keys, self._key_kind, "key"),
                           self._items(rows.count, rows.value_offsets, rows.values, self._value_kind, "value"))

    def _items(self, count, offsets, data, kind, what):
        data = ctypes.string_at(data, offsets[count])
        if kind in NUMBERS and self._device is not None:
            return array.array(_CODES[kind], data)
        return [self._unpack(data[offsets[i]:offsets[i + 1]], kind, what) for i in range(count)]

    def __repr__(self) -> str:
        if self._handle is None:
            return "[closed table]"
        pairs = list(itertools.islice(self._shown(), SHOWN_ROWS))
        cells = [["key", "value"]] + [[str(key), str(value)] for key, value in pairs]
        widths = [max(len(row[i]) for row in cells) for i in range(2)]
        is_left = [kind in ("text", "bytes") for kind in (self._key_kind, self._value_kind)]
        lines = ["  ".join(cell.ljust(width) if left else cell.rjust(width) for cell, width, left in zip(row, widths, is_left)).rstrip()
                 for row in cells]
        how = self._organisation + (" by " + self._combiner if self._combiner else "")
        return "\n".join(lines + ["…"] * (len(self) > len(pairs)) + ["[%d pairs, %s]" % (len(self), how)])

    def _shown(self):
        for rows in self._batches(4096):
            yield from zip(self._items(rows.count, rows.key_offsets, rows.keys, self._key_kind, "key"),
                           self._items(rows.count, rows.value_offsets, rows.values, self._value_kind, "value"))

    # ---- out ----

    def _fill_schema(self, out):
        children = [arrow.fill_schema(arrow.Schema(), _FORMATS[kind], name)
                    for kind, name in ((self._key_kind, "key"), (self._value_kind, "value"))]
        arrow.fill_schema(out, "+s", children=children)

    def _fill(self, rows):
        count = rows.count

        def child(offsets, data, kind, what):
            if kind not in NUMBERS:
                if kind == "text":
                    self._unpack(ctypes.string_at(data, offsets[count]), kind, what)  # texts must be UTF-8
                return arrow.fill_array(arrow.Array(), count, [None, native.address_of(offsets), data], rows)
            if self._device is None and ctypes.string_at(offsets, 8 * count + 8) != array.array("Q", range(0, 8 * count + 1, 8)).tobytes():
                raise TableTypeError("a %s is not %s; open the table with %s=bytes" % (what, kind, what))
            return arrow.fill_array(arrow.Array(), count, [None, data], rows)

        children = [child(rows.key_offsets, rows.keys, self._key_kind, "key"),
                    child(rows.value_offsets, rows.values, self._value_kind, "value")]
        return lambda out: arrow.fill_array(out, count, [None], None, children)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        self._open_handle()
        return arrow.chunks_capsule(self._fill_schema, (self._fill(rows) for rows in self._batches()))

    def save(self, path: Union[str, "os.PathLike[str]"], compact: bool = True) -> None:
        """Writes a file, which appears complete or not at all; `open` and the library's wp_table_open read it.
        compact: a table of several passes may have bytes of keys that were made again, which a search skips; its pairs
        are inserted into another table first, of the same options, which takes as much memory meanwhile. Tables that
        were opened are saved as they are."""
        error = Error()
        with self._lock:
            if compact and self._device is not None and self._organisation != "basic" and self.report["passes"] > 1:
                with Table(self._organisation, **self._options) as compacted:
                    compacted.insert_table(self, "key", "value")
                    compacted.save(path, compact=False)
                return
            native_table.check(native_table.library().wp_table_save(self._settled(), os.fspath(path).encode(), byref(error)), error)

    def close(self) -> None:
        """Frees its memory and file."""
        if self._handle is not None:
            native_table.library().wp_table_close(self._handle)
        if self._device is not None:
            native.devices().wp_device_close(self._device)
        self._handle = self._device = None

    def __enter__(self) -> "Table":
        self._open_handle()
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()


def _kind_of_format(schema, name):
    """Of an Arrow column."""
    format_ = schema.format.decode()
    if schema.dictionary:
        raise TableTypeError("column '%s' is a dictionary: cast it to text" % name)
    for kind in _KINDS:
        if format_ in _TAKEN[kind] or kind == "bytes" and format_.startswith("w:"):
            return kind
    raise TableTypeError("column '%s' has Arrow's type '%s'; a table has text, bytes, integers and floats" % (name, format_))


def _kind_of_values(values, name):
    """Of an array or list."""
    if hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__"):
        schema, _ = arrow.read(values)
        return _kind_of_format(schema.structure, name)
    if isinstance(values, (list, tuple)):
        kind = _NAMES.get(type(values[0])) if values else "text"
    else:
        code = memoryview(values).format.lstrip("@=<")
        kind = "float64" if code in "fd" else "uint64" if code in "LQN" else "int64" if code in "bhilqnBHI" else None
    if kind is None:
        raise TableTypeError("column '%s' has neither text, bytes, integers nor floats" % name)
    return kind
