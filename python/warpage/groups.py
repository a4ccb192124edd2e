# SPDX-License-Identifier: Apache-2.0
"""The result of a group-by: columns in the library's memory, which live as long as they are referenced."""
import ctypes
import datetime
import decimal
import functools
import sys
import threading
from typing import Any, Dict, List
from warpage import arrow, native
from warpage.native import SumError
from warpage.table import is_decimal, scale_of

try:
    import numpy
except ImportError:
    numpy = None

SHOWN_ROWS = 10  # by repr

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

    def copy_rows(self):
        """Copies them while more texts are to come: places in their order will be others then."""
        self._copy, self._texts = self._texts.gather(self._column, self._length), None

    def _cut(self, offsets, data, first, outer):
        start = offsets[first]
        data = ctypes.string_at(ctypes.addressof(data) + start, offsets[outer] - start)
        pieces = [data[offsets[i] - start:offsets[i + 1] - start] for i in range(first, outer)]
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
        return [self._cut(offsets, data, place, place + 1)[0] for place in places]

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


class Groups(arrow.Tabular):
    """A row for each group: its keys, then its aggregates ("sum_price"). It is a table for consumers of the Arrow C
    data interface; texts are dictionaries there, unless text="utf8" was asked for."""

    def __init__(self, length, columns, explain):
        self._length, self._columns, self.explain = length, columns, explain

    def copy_texts(self):
        """Of columns of texts as "utf8": see _Dictionary."""
        for column in self._columns:
            if column.dictionary is not None:
                column.dictionary.copy_rows()

    @property
    def names(self) -> List[str]:
        return [column.name for column in self._columns]

    def __len__(self) -> int:
        return self._length

    def __repr__(self) -> str:
        shown = min(SHOWN_ROWS, self._length)
        cells = [[column.name] + [_shown(value) for value in column.to_list(shown)]
                 for column in self._columns]
        widths = [max(map(len, column)) for column in cells]
        is_text = [column.dictionary is not None for column in self._columns]
        lines = ["  ".join(cell.ljust(width) if left else cell.rjust(width)
                           for cell, width, left in zip(row, widths, is_text)).rstrip() for row in zip(*cells)]
        return "\n".join(lines + ["…"] * (shown < self._length) + ["[%d rows]" % self._length])

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
        if numpy is None:
            raise ImportError("to_numpy takes the package numpy")
        self._check_names()
        result = {}
        for column in self._columns:
            if column.dictionary is not None and column.format != "dictionary":
                values = numpy.empty(self._length, dtype=object)
                values[:] = column.to_list(self._length)
                result[column.name] = values
                continue
            buffer = column.array(self._length)
            if column.type is None:
                values = numpy.empty(self._length, dtype=object)
                values[:] = buffer
            elif not self._length:
                values = numpy.empty(0, dtype=native.TYPES[column.type])
            else:
                buffer._owner = column.owner
                values = numpy.frombuffer(buffer, dtype=native.TYPES[column.type])
            mask = column.mask(self._length)
            if column.format == "b":
                values = values.view(bool)
            elif column.type is not None and column.dictionary is None and column.format.startswith("t"):
                values = _numpy_times(values, column.format)
            elif column.format == "l" and column.type == native.TYPES.index("uint64"):
                values = values.view(numpy.int64)
            if column.dictionary is not None:
                texts = numpy.array(column.dictionary.values + [None], dtype=object)
                values = texts[numpy.where(mask, len(texts) - 1, values) if mask is not None else values]
            elif mask is not None:
                values = numpy.ma.masked_array(values, mask)
            result[column.name] = values
        return result

    # ---- Arrow's C data interface ------------------------------------------------------------------------------

    def _fill_schema(self, out):
        children = []
        for column in self._columns:
            format_, texts = column.arrow_format(self._length)
            dictionary = arrow.fill_schema(arrow.Schema(), texts) if texts is not None else None
            children.append(arrow.fill_schema(arrow.Schema(), format_, column.name, dictionary=dictionary,
                                              metadata=column.metadata))
        arrow.fill_schema(out, "+s", children=children)

    def _fill_array(self, out):
        children = [column.fill(arrow.Array(), self._length) for column in self._columns]
        arrow.fill_array(out, self._length, [None], None, children)

    def __arrow_c_stream__(self, requested_schema=None):
        return arrow.stream_capsule(self._fill_schema, self._fill_array)
