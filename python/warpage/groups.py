# SPDX-License-Identifier: Apache-2.0
"""The result of a group-by: columns in the library's memory, which live as long as they are referenced."""
import collections
import collections.abc
import ctypes
import datetime
import decimal
import functools
import html
import operator
import sys
import threading
from typing import Any, Dict, Iterator, List, Tuple
from warpage import arrow, native
from warpage.native import SumError, TableTypeError
from warpage.table import check_names, is_decimal, scale_of

try:
    import numpy
except ImportError:
    numpy = None

SHOWN_ROWS = 10  # by repr
ROWS_AT_ONCE = 4096  # that iteration makes

_FORMATS = ["c", "s", "i", "l", "C", "S", "I", "L", "f", "g"]
_CTYPES = [ctypes.c_int8, ctypes.c_int16, ctypes.c_int32, ctypes.c_int64, ctypes.c_uint8, ctypes.c_uint16,
           ctypes.c_uint32, ctypes.c_uint64, ctypes.c_float, ctypes.c_double]


class _Owner:
    """The library's result."""

    def __init__(self, handle):
        self.handle = handle

    def __del__(self):
        native.groups_close(self.handle)


class _Dictionary:
    """The texts that a column refers to: all of them once ("dictionary"), or row by row. The copy replaces the library's, so that
    texts are in memory twice for a moment only."""

    def __init__(self, texts, is_binary, column, length):
        self._texts, self.is_binary, self._column, self._length = texts, is_binary, column, length
        self._copy, self._lock = None, threading.Lock()

    @property
    def parts(self):
        """All texts: their number, offsets, bytes."""
        return self._copied(lambda texts: texts.dictionary())

    @property
    def rows(self):
        """Those of the column: offsets, bytes. A column has either of the two."""
        return self._copied(lambda texts: texts.gather(self._column, self._length))

    def _copied(self, copy):
        with self._lock:
            if self._copy is None:
                self._texts.end()
                self._copy, self._texts = copy(self._texts), None
            return self._copy

    @classmethod
    def of_copy(cls, is_binary, counts, offset_type, offsets, data):
        """Of what `packed` has."""
        dictionary = cls(None, is_binary, None, 0)
        memory = (offset_type * (len(offsets) // ctypes.sizeof(offset_type))).from_buffer_copy(offsets), ctypes.create_string_buffer(data)
        dictionary._copy = (*counts, *memory)
        return dictionary

    def packed(self, is_rows):
        *counts, offsets, data = self.rows if is_rows else self.parts
        return self.is_binary, counts, offsets._type_, bytes(offsets), ctypes.string_at(data, offsets[-1])

    def copy_rows(self):
        """Copies them while more texts are to come: places in their order will be others then."""
        self._copy, self._texts = self._texts.gather(self._column, self._length), None

    def _cut(self, offsets, data, first, outer):
        ends = offsets[first:outer + 1]
        start = ends[0]
        data = ctypes.string_at(ctypes.addressof(data) + start, ends[-1] - start)
        pieces = [data[begin - start:end - start] for begin, end in zip(ends, ends[1:])]
        return pieces if self.is_binary else [piece.decode() for piece in pieces]

    @functools.cached_property
    def values(self):
        """All texts, as Python has them."""
        count, offsets, data = self.parts
        return self._cut(offsets, data, 0, count)

    def values_at(self, places):
        """Some texts."""
        count, offsets, data = self.parts
        if "values" in self.__dict__ or len(places) >= count // 8:
            return [self.values[place] if count else None for place in places]
        first = ctypes.addressof(data)
        pieces = [ctypes.string_at(first + offsets[place], offsets[place + 1] - offsets[place]) for place in places]
        return pieces if self.is_binary else [piece.decode() for piece in pieces]

    def values_of_rows(self, first, outer):
        return self._cut(*self.rows, first, outer)


class _Column:
    """A column of the result. A key of texts has places in its dictionary."""

    metadata = None

    def __init__(self, name, format_, column, owner, dictionary=None):
        self.name, self.type, self.dictionary, self.owner = name, column.type, dictionary, owner
        self.format = format_ or _FORMATS[self.type]
        self.values, self.valid = column.values, column.valid

    def array(self, outer, first=0):
        kind = _CTYPES[self.type]
        return (kind * (outer - first)).from_address(self.values + first * ctypes.sizeof(kind)) if outer > first else ()

    def is_null(self, row):
        return bool(self.valid) and not ctypes.c_uint8.from_address(self.valid + row // 8).value >> row % 8 & 1

    def mask(self, length):
        """NumPy: True where it is NULL; None: nowhere."""
        if not self.valid or not length:
            return None
        bits = numpy.frombuffer((ctypes.c_uint8 * ((length + 7) // 8)).from_address(self.valid), dtype=numpy.uint8)
        return numpy.unpackbits(bits, count=length, bitorder="little") == 0

    def to_list(self, outer, first=0):
        """Rows `first` to `outer`, as Python has them."""
        values = list(self.array(outer, first))
        if self.dictionary is not None:
            values = self.dictionary.values_at(values) if self.format == "dictionary" else self.dictionary.values_of_rows(first, outer)
        elif self.format == "b":
            values = list(map(bool, values))
        elif self.type is not None and self.format.startswith("t"):
            values = list(map(_time_maker(self.format), values))
        if self.valid:
            values = [None if self.is_null(row) else value for row, value in enumerate(values, first)]
        return values

    # ---- pickles -----

    def packed(self, length):
        bits = ctypes.string_at(self.valid, (length + 7) // 8) if self.valid and length else None
        size = 16 if self.type is None else native.TYPE_BYTES[self.type]
        texts = self.dictionary and self.dictionary.packed(self.format != "dictionary")
        return self.name, self.type, self.format, self.metadata, ctypes.string_at(self.values, size * length), bits, texts

    # ---- Arrow -----

    def arrow_format(self, length):
        """Arrow's format, and that of its dictionary."""
        if self.dictionary is None:
            return self.format, None
        if self.format == "dictionary":
            return "i", "Z" if self.dictionary.is_binary else "U"
        is_large = ctypes.sizeof(self.dictionary.rows[0]) // (length + 1) == 8
        return {(False, False): "u", (False, True): "U", (True, False): "z", (True, True): "Z"}[
            self.dictionary.is_binary, bool(is_large)], None

    def fill(self, out, length):
        if self.format == "n":
            arrow.fill_array(out, length, [], self.owner)
            out.null_count = length
            return out
        if self.dictionary is not None and self.format != "dictionary":
            offsets, data = rows = self.dictionary.rows
            return arrow.fill_array(out, length, [self.valid, ctypes.addressof(offsets), ctypes.addressof(data)], (self.owner, rows))
        if self.format == "b":
            bits = (ctypes.c_uint8 * ((length + 7) // 8 + 1))()
            native.bits_pack(self.values, length, bits)
            return arrow.fill_array(out, length, [self.valid, ctypes.addressof(bits)], (self.owner, bits))
        dictionary = None
        if self.dictionary is not None:
            count, offsets, data = self.dictionary.parts
            dictionary = arrow.fill_array(arrow.Array(), count, [None, ctypes.addressof(offsets), ctypes.addressof(data)],
                                          (offsets, data))
        return arrow.fill_array(out, length, [self.valid, self.values], self.owner, dictionary=dictionary)


_UNITS = {"s": 1_000_000, "m": 1000, "u": 1, "n": 0.001}  # microseconds


def _zone(name):
    """Of a timestamp; None: it has none."""
    if not name:
        return None
    if name[0] in "+-":
        sign, hours, minutes = int(name[0] + "1"), name[1:3], name[-2:]
        return datetime.timezone(sign * datetime.timedelta(hours=int(hours), minutes=int(minutes)))
    try:
        import zoneinfo
        return zoneinfo.ZoneInfo(name)
    except (ImportError, ValueError, LookupError, OSError):
        return datetime.timezone.utc


def _time_maker(format_):
    """A function that makes Python's date, time, datetime or timedelta of a number of Arrow's. Without what is below a
    microsecond; a number that is beyond Python's years stays as it is."""
    if format_ in ("tdD", "tdm"):
        divisor, epoch = 1 if format_ == "tdD" else 86_400_000, datetime.date(1970, 1, 1).toordinal()
        make = lambda number: datetime.date.fromordinal(epoch + number // divisor)  # noqa: E731
    else:
        unit = _UNITS[format_[2]]
        delta = (lambda number: datetime.timedelta(microseconds=number // 1000)) if format_[2] == "n" else \
            (lambda number: datetime.timedelta(microseconds=number * unit))
        if format_.startswith("tD"):
            make = delta
        elif format_.startswith("tt"):
            make = lambda number: (datetime.datetime.min + delta(number)).time()  # noqa: E731
        else:
            zone = _zone(format_[4:])
            epoch = datetime.datetime(1970, 1, 1, tzinfo=zone and datetime.timezone.utc)
            make = lambda number: (epoch + delta(number)).astimezone(zone) if zone else epoch + delta(number)  # noqa: E731

    def made(number):
        try:
            return make(number)
        except (OverflowError, ValueError):
            return number

    return made


def _numpy_times(values, format_):
    """NumPy's of a column of times; those of a day are timedelta64."""
    if format_ == "tdD":
        return values.astype("datetime64[D]")
    if format_ == "tdm":
        return values.view("datetime64[ms]")
    unit = {"s": "s", "m": "ms", "u": "us", "n": "ns"}[format_[2]]
    return values.astype(numpy.int64, copy=False).view("%s[%s]" % ("datetime64" if format_.startswith("ts") else "timedelta64", unit))


SHOWN_CHARACTERS = 40  # of a value, by repr


def _shown(value):
    """A value in one line of a table."""
    if value is None:
        return "NULL"
    text = str(value)
    text = text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS - 1] + "…"
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text) if not text.isprintable() else text


class _Decimals(_Column):
    """Decimals of 128 bits, such as sums."""

    def __init__(self, name, values, valid, owner, metadata=None, format_="d:38,0"):
        self.name, self.type, self.dictionary, self.owner, self.format = name, None, None, owner, format_
        self.values, self.valid, self.metadata = values, valid, metadata
        self._is_integer = format_ == "d:38,0"  # a sum of integers

    def array(self, outer, first=0):
        data = ctypes.string_at(self.values + 16 * first, 16 * (outer - first))
        numbers = [int.from_bytes(data[at:at + 16], sys.byteorder, signed=True) for at in range(0, len(data), 16)]
        if self._is_integer:
            return numbers
        scale = -scale_of(self.format)
        return [decimal.Decimal(number).scaleb(scale, _CONTEXT) for number in numbers]


_CONTEXT = decimal.Context(prec=40)


def _column_of(name, type_, format_, metadata, values, bits, texts):
    """Of what `packed` has."""
    owner = values, bits = ctypes.create_string_buffer(values), bits and ctypes.create_string_buffer(bits)
    values, valid = ctypes.addressof(values), bits and ctypes.addressof(bits)
    if type_ is None:
        return _Decimals(name, values, valid, owner, metadata, format_)
    column = _Column(name, format_, native.Column(type_, values, valid, 0), owner, texts and _Dictionary.of_copy(*texts))
    column.metadata = metadata
    return column


def _decimals_of(field, column, length, name, owner):
    """Decimals beyond 64 bits, whose codes a column has."""
    memory = field.texts.gather_decimals(column, length)
    return _Decimals(name, ctypes.addressof(memory), column.valid, (memory, owner), None, field.format)


class Result:
    """The library's result, which columns of Groups refer to."""

    def __init__(self, handle):
        self._owner, self.handle = _Owner(handle), handle
        self.length = native.groups_count(handle)

    def key(self, number, field, text):
        """`text`: how texts are returned, "dictionary" or "utf8"."""
        column = native.groups_key(self.handle, number).contents
        dictionary = _Dictionary(field.texts, field.is_binary, column, self.length) if field.is_text else None
        if is_decimal(field.format) and field.is_text:
            return _decimals_of(field, column, self.length, field.name, self._owner)
        if is_decimal(field.format):
            return self._widen(column, field.name, field.format)
        return _Column(field.name, text if field.is_text else field.format, column, self._owner, dictionary)

    def values(self, number):
        """An aggregate's."""
        return native.groups_aggregate(self.handle, number).contents

    def _widen(self, column, name, format_):
        memory = (ctypes.c_uint64 * (2 * max(1, self.length)))()
        native.decimals_widen(column.values, self.length, memory)
        return _Decimals(name, ctypes.addressof(memory), column.valid, (memory, self._owner), None, format_)

    def aggregate(self, number, name, format_=None):
        if is_decimal(format_):
            return self._widen(self.values(number), name, format_)
        return _Column(name, format_, self.values(number), self._owner)

    def decimals(self, parts, name, metadata=None, format_="d:38,0"):
        """A column of the sums whose parts are these aggregates: high, middle or None, low."""
        columns = [self.values(part) if part is not None else None for part in parts]
        memory = (ctypes.c_uint64 * (2 * max(1, self.length)))()
        native.decimals_join(*(column.values if column is not None else None for column in columns), self.length, memory)
        if parts[1] is not None and not native.decimals_fit(columns[0].values, memory, self.length):
            raise SumError("%s: a sum does not fit decimal(%s)" % (name or "a column of decimals", format_[2:]))
        return _Decimals(name, ctypes.addressof(memory), columns[0].valid, (memory, self._owner), metadata, format_)

    def narrow(self, decimals, name, type_):
        """Decimals as integers of 64 bits; None: one does not fit."""
        memory = (ctypes.c_uint64 * max(1, self.length))()
        if not native.decimals_narrow(decimals.values, self.length, type_, memory):
            return None
        return _Column(name, None, native.Column(type_, ctypes.addressof(memory), decimals.valid, 0),
                       (memory, decimals.owner))

    def average(self, decimals, sums, counts, name, scale=0):
        """Of a column of sums (either kind) and an aggregate of counts; `scale`: digits of the sums behind the point."""
        memory = (ctypes.c_double * max(1, self.length))()
        native.decimals_average(decimals.values if decimals is not None else None,
                                self.values(sums).values if sums is not None else None, self.values(counts).values,
                                self.length, memory)
        for row in range(self.length if scale else 0):
            memory[row] /= 10 ** scale
        valid = decimals.valid if decimals is not None else self.values(sums).valid
        return _Column(name, None, native.Column(native.TYPES.index("float64"), ctypes.addressof(memory), valid, 0),
                       (memory, decimals, self._owner))

    def scaled(self, number, name, scale):
        """A column of doubles, divided by 10 to the power of `scale`."""
        column = self.aggregate(number, name)
        if scale:
            memory = (ctypes.c_double * max(1, self.length))(*(value / 10 ** scale for value in column.array(self.length)))
            column.values, column.owner = ctypes.addressof(memory), (memory, self._owner)
        return column

    def variance(self, squares, more, counts, is_root, name, scale=0):
        """Of aggregates of squares, which are added, and of counts. `scale`: digits of the values behind the point."""
        memory, flags = (ctypes.c_double * max(1, self.length))(), (ctypes.c_uint8 * max(1, self.length))()
        native.squares_variance(self.values(squares).values, self.values(more).values if more is not None else None,
                                self.values(counts).values, self.length, is_root, memory, flags)
        for row in range(self.length if scale else 0):
            memory[row] /= 10 ** (scale if is_root else 2 * scale)
        bits, valid = _bits(flags, self.length)
        return _Column(name, None, native.Column(native.TYPES.index("float64"), ctypes.addressof(memory), valid, 0),
                       (memory, bits))


def _bits(flags, length):
    """Bits of bytes, and their address; None: all are set."""
    if 0 not in bytes(flags)[:length]:
        return None, None
    bits = (ctypes.c_uint8 * ((length + 7) // 8 + 1))()
    native.bits_pack(flags, length, bits)
    return bits, ctypes.addressof(bits)


def _quantiles(memory, flags, length, name, scale):
    for row in range(length if scale else 0):
        memory[row] /= 10 ** scale
    bits, valid = _bits(flags, length)
    return _Column(name, None, native.Column(native.TYPES.index("float64"), ctypes.addressof(memory), valid, 0), (memory, bits))


class Lists:
    """A column's values, in a list for each group, where values hardly recur (wp_lists_open)."""

    def __init__(self, handle):
        self._handle, self._result, self._number = handle, None, None

    def __del__(self):
        native.lists_close(self._handle)

    def add(self, keys, values, row_count):
        """The address of a number for each row, that of its group; and what holds it."""
        memory = (ctypes.c_uint32 * row_count)()
        native.lists_add(self._handle, keys, values, row_count, memory)
        return ctypes.addressof(memory), memory

    def bind(self, result, number):
        """`number`: of the aggregate that has the groups' numbers."""
        self._result, self._number, self.length = result, number, result.length

    def count_distinct(self, name, format_):
        memory = (ctypes.c_uint64 * max(1, self.length))()
        native.lists_count_distinct(self._handle, self._result.values(self._number).values, self.length, memory)
        return _Column(name, format_, native.Column(native.TYPES.index("uint64"), ctypes.addressof(memory), None, 0), memory)

    def quantile(self, share, name, scale):
        memory, flags = (ctypes.c_double * max(1, self.length))(), (ctypes.c_uint8 * max(1, self.length))()
        native.lists_quantile(self._handle, self._result.values(self._number).values, self.length, share, memory, flags)
        return _quantiles(memory, flags, self.length, name, scale)


class Runs:
    """Groups by the keys and one column more, in order: a run of rows for each group, from which a column is made."""

    def __init__(self, result, key_count):
        self._result, self._number = result, key_count
        self._starts = (ctypes.c_uint64 * (result.length + 1))()
        self.length = native.runs_find(result.handle, key_count, self._starts)
        self._values = native.groups_key(result.handle, key_count)

    def count_distinct(self, name, format_):
        memory = (ctypes.c_uint64 * max(1, self.length))()
        native.runs_count_distinct(self._values, self._starts, self.length, memory)
        return _Column(name, format_, native.Column(native.TYPES.index("uint64"), ctypes.addressof(memory), None, 0), memory)

    def quantile(self, share, name, scale):
        """`scale`: digits of the values behind the point."""
        memory, flags = (ctypes.c_double * max(1, self.length))(), (ctypes.c_uint8 * max(1, self.length))()
        values = self._values
        if self.field.is_text:  # decimals beyond 64 bits
            rows = self._result.length
            decimals, numbers = self.field.texts.gather_decimals(values.contents, rows), (ctypes.c_double * max(1, rows))()
            native.decimals_double(decimals, rows, scale, numbers)
            values, scale = native.Column(native.TYPES.index("float64"), ctypes.addressof(numbers), values.contents.valid, 0), 0
        native.runs_quantile(values, self._result.values(0).values, self._starts, self.length, share, memory, flags)
        return _quantiles(memory, flags, self.length, name, scale)

    def extreme(self, is_largest, name, field, text):
        """`field`: of the column, of texts or decimals."""
        rows, flags = (ctypes.c_uint64 * max(1, self.length))(), (ctypes.c_uint8 * max(1, self.length))()
        native.runs_extreme(self._values, self._starts, self.length, is_largest, rows)
        memory = (ctypes.c_uint32 * max(1, self.length))()
        native.runs_take(self._values, rows, self.length, memory, flags)
        bits, valid = _bits(flags, self.length)
        column = native.Column(self._values.contents.type, ctypes.addressof(memory), valid, 0)
        if is_decimal(field.format):
            return _decimals_of(field, column, self.length, name, (memory, bits))
        return _Column(name, text, column, (memory, bits), _Dictionary(field.texts, field.is_binary, column, self.length))


class Column(collections.abc.Sequence):
    """A column of Groups, groups["sum_price"]: a sequence of Python's values, NULL as None. NumPy, pyarrow and Polars read it
    as an array: numpy.asarray(column), pyarrow.array(column), polars.Series(column).

    >>> import warpage
    >>> counts = warpage.groupby({"user": [1, 2, 1]}, "user")["count"]
    >>> counts[0], counts[-1], list(counts), sum(counts)
    (2, 1, [2, 1], 3)
    >>> counts
    count: 2, 1
    """

    def __init__(self, column: _Column, length: int):
        self._column, self._length = column, length

    @property
    def name(self) -> str:
        return self._column.name

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, row):
        """A value, or a list of some."""
        if isinstance(row, slice):
            first, outer, step = row.indices(self._length)
            if step == 1:
                return self._column.to_list(max(first, outer), first)
            return [self[at] for at in range(first, outer, step)]
        at = _row(row, self._length)
        return self._column.to_list(at + 1, at)[0]

    def __iter__(self):
        for first in range(0, self._length, ROWS_AT_ONCE):
            yield from self._column.to_list(min(self._length, first + ROWS_AT_ONCE), first)

    def __repr__(self) -> str:
        shown = [_shown(value) for value in self[:SHOWN_ROWS]]
        return "%s: %s" % (self.name, ", ".join(shown + ["…"] * (self._length > SHOWN_ROWS)))

    def to_list(self) -> list:
        return self[:]

    def to_numpy(self) -> Any:
        """As Groups.to_numpy."""
        return _numpy_of(self._column, self._length)

    def __array__(self, dtype=None, copy=None):
        values = self.to_numpy()
        if isinstance(values, numpy.ma.MaskedArray):  # NULL: NaN, NaT or None
            is_null, values = values.mask, values.data.astype(values.dtype if values.dtype.kind in "fMm" else object)
            values[is_null] = numpy.nan if values.dtype.kind == "f" else None
        return numpy.array(values, dtype=dtype) if copy else numpy.asarray(values, dtype=dtype)

    def __arrow_c_array__(self, requested_schema=None):
        return arrow.array_capsules(lambda out: _fill_schema_of(self._column, self._length, out),
                                    lambda out: self._column.fill(out, self._length))


def _row(row, length):
    """The number of a row, which may be counted from the end."""
    at = operator.index(row)
    if not -length <= at < length:
        raise IndexError("row %d of %d rows" % (at, length))
    return at % length


def _fill_schema_of(column, length, out):
    format_, texts = column.arrow_format(length)
    dictionary = arrow.fill_schema(arrow.Schema(), texts) if texts is not None else None
    return arrow.fill_schema(out, format_, column.name, dictionary=dictionary, metadata=column.metadata)


def _numpy_of(column, length):
    if numpy is None:
        raise ImportError("to_numpy takes the package numpy")
    if column.type is None or column.dictionary is not None and column.format != "dictionary":
        values = numpy.empty(length, dtype=object)
        values[:] = column.to_list(length) if column.type is not None else column.array(length)
    elif not length:
        values = numpy.empty(0, dtype=native.TYPES[column.type])
    else:
        buffer = column.array(length)
        buffer._owner = column.owner
        values = numpy.frombuffer(buffer, dtype=native.TYPES[column.type])
    if column.dictionary is not None and column.format != "dictionary":
        return values
    mask = column.mask(length)
    if column.format == "b":
        values = values.view(bool)
    elif column.type is not None and column.dictionary is None and column.format.startswith("t"):
        values = _numpy_times(values, column.format)
    elif column.format == "l" and column.type == native.TYPES.index("uint64"):
        values = values.view(numpy.int64)
    if column.dictionary is not None:
        texts = numpy.array(column.dictionary.values + [None], dtype=object)
        return texts[numpy.where(mask, len(texts) - 1, values) if mask is not None else values]
    return numpy.ma.masked_array(values, mask) if mask is not None else values


def _groups_of(length, columns, explain):
    return Groups(length, [_column_of(*column) for column in columns], explain)


class Groups(arrow.Tabular):
    """A row for each group: its keys, then its aggregates ("sum_price"). It is a table for consumers of the Arrow C
    data interface; texts are dictionaries there, unless text="utf8" was asked for.

    >>> import warpage
    >>> groups = warpage.groupby({"user": [1, 2, 1], "price": [2.5, 4.0, 8.0]}, "user", sum="price")
    >>> groups["sum_price"]
    sum_price: 10.5, 4.0
    >>> for user, price in groups:
    ...     print(user, price)
    1 10.5
    2 4.0
    >>> groups[-1]
    Group(user=2, sum_price=4.0)
    >>> groups[-1].sum_price, groups[:1], "user" in groups
    (4.0, [Group(user=1, sum_price=10.5)], True)
    """

    def __init__(self, length, columns, explain):
        self._length, self._columns, self.explain = length, columns, explain

    def __reduce__(self):
        """For pickle and copy."""
        return _groups_of, (self._length, [column.packed(self._length) for column in self._columns], self.explain)

    def _copy_texts(self):
        """Of columns of texts as "utf8": see _Dictionary."""
        for column in self._columns:
            if column.dictionary is not None:
                column.dictionary.copy_rows()

    @property
    def names(self) -> List[str]:
        return [column.name for column in self._columns]

    def __len__(self) -> int:
        return self._length

    @property
    def columns(self) -> List[str]:
        """The names, as other packages call them."""
        return self.names

    @property
    def shape(self) -> Tuple[int, int]:
        return self._length, len(self._columns)

    def keys(self) -> List[str]:
        """The names: dict(groups) has columns."""
        return self.names

    @functools.cached_property
    def _group(self):
        """The type of a row. A name that is none of Python's has the column's number: _2."""
        return collections.namedtuple("Group", self.names, rename=True)

    def _rows(self, first, outer):
        columns = [column.to_list(outer, first) for column in self._columns]
        return list(map(self._group._make, zip(*columns)))

    def __getitem__(self, key):
        """A column, by its name; a row, by its number: a named tuple; or a list of rows: groups[:10]."""
        if isinstance(key, str):
            self._check_names()
            check_names(self.names, [key], what="the result")
            return Column(self._columns[self.names.index(key)], self._length)
        if isinstance(key, slice):
            first, outer, step = key.indices(self._length)
            return self._rows(first, max(first, outer)) if step == 1 else [self[at] for at in range(first, outer, step)]
        if not hasattr(key, "__index__"):
            raise TableTypeError("groups[%r]: a column's name, a row's number or a slice of rows" % (key,))
        at = _row(key, self._length)
        return self._rows(at, at + 1)[0]

    def __iter__(self) -> Iterator[tuple]:
        for first in range(0, self._length, ROWS_AT_ONCE):
            yield from self._rows(first, min(self._length, first + ROWS_AT_ONCE))

    def __contains__(self, key) -> bool:
        """Whether there is a column of that name, or such a row."""
        return key in self.names if isinstance(key, str) else any(row == key for row in self)

    def _ipython_key_completions_(self):
        return self.names

    def _cells(self):
        """The first rows, as texts, column by column."""
        shown = min(SHOWN_ROWS, self._length)
        return [[_shown(value) for value in column.to_list(shown)] for column in self._columns]

    def __repr__(self) -> str:
        cells = [[column.name] + values for column, values in zip(self._columns, self._cells())]
        widths = [max(map(len, column)) for column in cells]
        is_text = [column.dictionary is not None for column in self._columns]
        lines = ["  ".join(cell.ljust(width) if left else cell.rjust(width)
                           for cell, width, left in zip(row, widths, is_text)).rstrip() for row in zip(*cells)]
        return "\n".join(lines + ["…"] * (self._length > SHOWN_ROWS) + [self._count_rows()])

    def _count_rows(self):
        return "[%d row%s]" % (self._length, "s" * (self._length != 1))

    def _repr_html_(self) -> str:
        """A notebook's table."""
        def row(tag, cells):
            return "<tr>%s</tr>" % "".join('<%s style="text-align: %s">%s</%s>' % (
                tag, "left" if column.dictionary is not None else "right", html.escape(cell), tag)
                for cell, column in zip(cells, self._columns))

        lines = ["<table>", "<thead>%s</thead>" % row("th", self.names), "<tbody>"]
        lines += [row("td", cells) for cells in zip(*self._cells())]
        more = "first %d of " % SHOWN_ROWS if self._length > SHOWN_ROWS else ""
        return "\n".join(lines + ["</tbody>", "</table>", "<p>%s%s</p>" % (more, self._count_rows()[1:-1])])

    def _check_names(self):
        """A key may be a column named as an aggregate is, "count"."""
        names = [column.name for column in self._columns]
        for name in names:
            if names.count(name) > 1:
                raise native.ArgumentError("two columns of the result are named '%s', which a dict cannot hold: rename the table's "
                                           "column, or take to_arrow()" % name)

    def to_dict(self) -> Dict[str, list]:
        """Lists of Python's values; NULL is None. Dates and times are datetime's: nanoseconds are cut to microseconds, and
        a number beyond its years stays a number."""
        self._check_names()
        return {column.name: column.to_list(self._length) for column in self._columns}

    def to_numpy(self) -> Dict[str, Any]:
        """A dict of arrays: views of the result's memory, but for dates. Where there are NULLs, masked arrays; texts are
        objects; timestamps with a time zone are UTC."""
        self._check_names()
        return {column.name: _numpy_of(column, self._length) for column in self._columns}

    # ---- Arrow's C data interface ------------------------------------------------------------------------------

    def _fill_schema(self, out):
        children = [_fill_schema_of(column, self._length, arrow.Schema()) for column in self._columns]
        arrow.fill_schema(out, "+s", children=children)

    def _fill_array(self, out):
        children = [column.fill(arrow.Array(), self._length) for column in self._columns]
        arrow.fill_array(out, self._length, [None], None, children)

    def __arrow_c_stream__(self, requested_schema=None):
        return arrow.stream_capsule(self._fill_schema, self._fill_array)
