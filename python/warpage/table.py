# SPDX-License-Identifier: Apache-2.0
"""Tables as chunks of columns: addresses of values in memory, and their owners."""
import array
import ctypes
import datetime
import decimal
import difflib
import enum
import glob
import os
import re
import sys
from warpage import arrow, native
from warpage.native import ArgumentError, ColumnError, FileError, TYPES, TYPE_BYTES, TableTypeError, Texts, WarpageError

try:
    import numpy
except ImportError:
    numpy = None

INT64, UINT32 = TYPES.index("int64"), TYPES.index("uint32")
SHOWN_NAMES = 8  # where one is not there
SLICE = 1 << 22  # rows of a chunk whose codes or flags are in memory at a time


class Field:
    """A column: its type, and Arrow's format (dates are integers to us). The values of a column of texts, or of decimals
    that may not fit 64 bits, are codes; `texts` has them where the column is a key."""

    def __init__(self, name, type_, format_=None, is_text=False, texts=None):
        self.name, self.type, self.format, self.is_text, self.texts = name, type_, format_, is_text, texts
        self.is_binary = format_ is not None and (format_ in ("z", "Z", "vz") or format_.startswith("w:"))
        self.is_number = is_decimal(format_) or not is_text and (
            format_ is None or ":" not in format_ and format_ != "n" and not format_.startswith("td"))
        self.is_float = TYPES[type_].startswith("float")
        self.metadata = {}


def is_decimal(format_):
    """Whether it has 128 bits."""
    return format_ is not None and format_.startswith("d:") and format_.count(",") == 1


def is_wide(format_):
    """Whether it is a decimal whose values may not fit 64 bits."""
    return is_decimal(format_) and int(format_[2:].partition(",")[0]) > 18


def scale_of(format_):
    """The digits behind a decimal's point."""
    return int(format_.partition(",")[2])


def check_names(names, wanted, once=False, what="the table"):
    """`once`: of two columns of one name it would not be known which is meant."""
    for name in wanted:
        if once and names.count(name) > 1:
            raise ColumnError("%s has %d columns named '%s'" % (what, names.count(name), name))
        if name not in names:
            near = [other for other in names if other.lower() == name.lower()] or difflib.get_close_matches(name, names, 1)
            more = ", …" if len(names) > SHOWN_NAMES else ""
            raise ColumnError("%s has no column '%s'%s" % (
                what, name, "; did you mean '%s'?" % near[0] if near else "; it has %s%s" % (", ".join(names[:SHOWN_NAMES]), more) if names else ""))


class Part:
    """A column's values in one chunk."""

    def __init__(self, values, valid=None, valid_offset=0, owner=None):
        self.values, self.valid, self.valid_offset, self.owner = values, valid, valid_offset, owner

    def from_row(self, first, type_):
        """The values from a row on."""
        return Part(self.values + first * TYPE_BYTES[type_], self.valid, self.valid_offset + first, self.owner) if first else self


def bits_of(flags):
    """A bit for each of a sequence's values."""
    flags = bytes(map(bool, flags))
    bits = (ctypes.c_uint8 * ((len(flags) + 7) // 8 + 1))()
    native.bits_pack(flags, len(flags), bits)
    return bits


def _codes_part(codes, valid, valid_offset, owner):
    return Part(ctypes.addressof(codes), valid, valid_offset, (codes, owner))


def _encode(field, values):
    """Codes of a list of texts, or of bytes."""
    kind = bytes if field.is_binary else str
    for row, value in enumerate(values):
        if value is not None and not isinstance(value, kind):
            raise TableTypeError("column '%s': row %d is %r; a list has values of one type: text, bytes, bool, int and float, dates, "
                                 "datetimes, timedeltas or decimals" % (field.name, row, value))
    try:
        data = [b"" if value is None else value if field.is_binary else value.encode() for value in values]
    except UnicodeEncodeError as error:
        raise WarpageError("column '%s': %s" % (field.name, error)) from None
    offsets, at = (ctypes.c_int64 * (len(data) + 1))(), 0
    for row, text in enumerate(data):
        at += len(text)
        offsets[row + 1] = at
    has_null = any(value is None for value in values)
    valid = bits_of(value is not None for value in values) if has_null else None
    address = ctypes.addressof(valid) if has_null else None
    if field.texts is None:
        return Part(ctypes.addressof(offsets), address, 0, (offsets, valid))
    joined = ctypes.create_string_buffer(b"".join(data), at + 1)
    codes = field.texts.encode(Texts.OFFSETS_64, ctypes.addressof(offsets), [ctypes.addressof(joined)], address, 0,
                               len(data))
    return _codes_part(codes, address, 0, valid)


# ---- dicts of arrays -------------------------------------------------------------------------------------------

_KINDS = {"i": "int", "u": "uint", "f": "float", "b": "uint", "M": "int", "m": "int"}
_FORMATS = {"b": "int8", "B": "uint8", "?": "uint8", "f": "float32", "d": "float64"}


def _type_of(kind, size, name):
    type_ = "%s%d" % (_KINDS.get(kind, "?"), 8 * size)
    if type_ not in TYPES:
        raise TableTypeError("column '%s': values of type %s%d are not grouped" % (name, kind, size))
    return TYPES.index(type_)


def _text_field(name, keys, threads, format_="U"):
    return Field(name, UINT32, format_, True, Texts(threads) if name in keys else None)


def _in_native_type(values):
    """An array of NumPy in a type that the library has: floats of 16 bits as 32, numbers in this machine's byte order."""
    type_ = values.dtype
    wanted = numpy.dtype("float32") if type_.str[1:] == "f2" else type_.newbyteorder("=")
    return values if type_ == wanted else values.astype(wanted)


def _from_numpy(name, values, keys, threads):
    if numpy is not None and isinstance(values, numpy.ndarray) and values.dtype.kind in "iufMm":
        values = _in_native_type(values)
    interface = values.__array_interface__
    if numpy is not None and isinstance(values, numpy.ndarray) and values.dtype.kind == "T" and values.ndim == 1:  # StringDType
        return *_from_list(name, [value if isinstance(value, str) else None for value in values.tolist()], keys, threads), len(values)
    order, kind = interface["typestr"][:2]
    if len(interface["shape"]) != 1:
        raise ArgumentError("column '%s' has %d dimensions; a column has one" % (name, len(interface["shape"])))
    if kind in "OUS":
        return *_from_list(name, values.tolist(), keys, threads), interface["shape"][0]
    valid = _flags_of(values, kind)
    is_day = numpy is not None and isinstance(values, numpy.ndarray) and interface["typestr"] == "<M8[D]"
    if is_day:
        values, kind = numpy.ma.getdata(values).astype("int64").astype("int32"), "i"
        interface = values.__array_interface__
    elif kind in "Mm" and interface["typestr"] not in ("<" + unit for unit in _TIMES):
        values, interface = _in_seconds(values)
    size = int(interface["typestr"][2:].split("[")[0])
    if order == (">" if sys.byteorder == "little" else "<"):
        raise TableTypeError("column '%s' has the other byte order; NumPy's astype changes it" % name)
    type_ = _type_of(kind, size, name)
    if interface.get("strides") not in (None, (size,)):
        values = numpy.ascontiguousarray(values)
        interface = values.__array_interface__
    format_ = "b" if kind == "b" else "tdD" if is_day else None if kind not in "Mm" else _TIMES.get(interface["typestr"][1:])
    return Field(name, type_, format_), Part(interface["data"][0], None if valid is None else valid.ctypes.data, 0,
                                             (values, valid)), interface["shape"][0]


def _flags_of(values, kind):
    """A bit for each value of an array of NumPy: false where it is masked, or NaT. None: all are there."""
    if numpy is None or not isinstance(values, numpy.ndarray):
        return None
    missing = numpy.ma.getmaskarray(values) if numpy.ma.getmask(values) is not numpy.ma.nomask else None
    if kind in "Mm":
        is_nat = numpy.isnat(numpy.ma.getdata(values))
        missing = is_nat if missing is None else missing | is_nat
    if missing is None or not missing.any():
        return None
    return numpy.append(numpy.packbits(~missing, bitorder="little"), numpy.uint8(0))


def _in_seconds(values):
    """Times of NumPy of units that Arrow does not have; what has no length in seconds, as months, stays the integer that it is."""
    if numpy is not None and isinstance(values, numpy.ndarray) and (
            values.dtype.kind == "M" or numpy.can_cast(values.dtype, "m8[s]", "same_kind")):
        values = numpy.ma.getdata(values).astype(values.dtype.kind + "8[s]")
    return values, values.__array_interface__


_TIMES = {"M8[s]": "tss:", "M8[ms]": "tsm:", "M8[us]": "tsu:", "M8[ns]": "tsn:", "m8[s]": "tDs", "m8[ms]": "tDm",
          "m8[us]": "tDu", "m8[ns]": "tDn"}


def _from_buffer(name, values):
    view = memoryview(values)
    if view.ndim != 1 or not view.contiguous:
        raise WarpageError("column '%s' is not a contiguous one-dimensional array" % name)
    code = view.format.lstrip("@=<")
    kind = "f" if code in "fd" else "u" if code.isupper() or code == "?" else "i"
    type_ = TYPES.index(_FORMATS[code]) if code in _FORMATS else _type_of(kind, view.itemsize, name)
    format_ = "b" if code == "?" else None
    size = (ctypes.c_char * max(1, view.nbytes))
    owner = size.from_buffer(view) if not view.readonly and view.nbytes else size(*view.tobytes())
    return Field(name, type_, format_), Part(ctypes.addressof(owner), owner=(owner, values)), len(view)


_BASES = (bool, int, float, str, bytes, datetime.datetime, datetime.date, datetime.timedelta, decimal.Decimal)


def _plain(value, base):
    """A value of a type derived from one of _BASES, such as an IntEnum or a Timestamp of pandas; None: there is none, as NaT."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if base is None or type(value) is base:
        return value
    if hasattr(value, "to_pydatetime"):
        return value.to_pydatetime(warn=False)
    if hasattr(value, "to_pytimedelta"):
        return value.to_pytimedelta()
    return base(value.value if isinstance(value, enum.Enum) else value) if base in (int, float, str, bytes) else value


def _without_derived(values):
    """Values of types that Python's own are derived to, as those."""
    kinds = {type(value) for value in values if value is not None}
    if kinds.issubset(_BASES):
        return values, kinds
    bases = {kind: next((base for base in _BASES if issubclass(kind, base)), None) for kind in kinds}
    values = [_plain(value, bases.get(type(value))) for value in values]
    return values, {type(value) for value in values if value is not None}


def _from_list(name, values, keys, threads):
    """Texts, bytes, or numbers: bool, int as int64, float; dates, datetimes, timedeltas, decimals. None is NULL."""
    values, kinds = _without_derived(values)
    if numpy is not None and any(issubclass(kind, (numpy.number, numpy.bool_, numpy.str_)) for kind in kinds):  # as list(array) has
        values = [value.item() if isinstance(value, numpy.generic) else value for value in values]
        kinds = {type(value) for value in values if value is not None}
    if kinds == {bytes}:
        field = _text_field(name, keys, threads, "Z")
        return field, _encode(field, values)
    if len(kinds) == 1 and kinds <= set(_INTEGERS_OF):
        format_, values = _INTEGERS_OF[next(iter(kinds))](name, values)
        field, part = _from_list(name, values, keys, threads)
        field = Field(name, field.type, format_)
        if format_ == "tdD":
            owner = array.array("i", part.owner[0])
            return Field(name, TYPES.index("int32"), format_), Part(owner.buffer_info()[0], part.valid, 0, (owner, part))
        return field, part
    code, format_ = ("B", "b") if kinds == {bool} else ("q", None) if kinds == {int} else ("d", None)
    if not kinds or not kinds <= {bool, int, float} or bool in kinds and len(kinds) > 1:
        field = _text_field(name, keys, threads)
        return field, _encode(field, values)
    try:
        owner = array.array(code, [0 if value is None else value for value in values])
    except OverflowError:
        raise TableTypeError("column '%s': an integer does not fit 64 bits" % name) from None
    valid = bits_of(value is not None for value in values) if None in values else None
    return Field(name, TYPES.index(_FORMATS.get(code, "int64")), format_), \
        Part(owner.buffer_info()[0], ctypes.addressof(valid) if valid is not None else None, 0, (owner, valid))


_EPOCH, _MICROSECOND = datetime.datetime(1970, 1, 1), datetime.timedelta(microseconds=1)


def _dates(_, values):
    return "tdD", [None if value is None else value.toordinal() - _EPOCH.toordinal() for value in values]


def _datetimes(name, values):
    """As Arrow's timestamps: microseconds, of UTC where datetimes have time zones."""
    aware = {value.utcoffset() is not None for value in values if value is not None}
    if len(aware) > 1:
        raise TableTypeError("column '%s': some datetimes have a time zone and others have none" % name)
    epoch = _EPOCH.replace(tzinfo=datetime.timezone.utc) if True in aware else _EPOCH
    return "tsu:UTC" if True in aware else "tsu:", [None if value is None else (value - epoch) // _MICROSECOND for value in values]


def _timedeltas(_, values):
    return "tDu", [None if value is None else value // _MICROSECOND for value in values]


def _decimals(name, values):
    """As decimals of as many digits behind the point as one has."""
    parts = [None if value is None else value.as_tuple() for value in values]
    if any(part and not isinstance(part.exponent, int) for part in parts):
        raise TableTypeError("column '%s': a list of decimals has no NaN and no infinity" % name)
    scale = max(0, *(-part.exponent for part in parts if part)) if any(parts) else 0
    context = decimal.Context(prec=60)
    numbers = [None if value is None else int(value.scaleb(scale, context)) for value in values]
    if any(abs(number) >= 10 ** 18 for number in numbers if number is not None) or scale > 18:
        raise TableTypeError("column '%s': decimals of more than 18 digits in a list; pass an Arrow array, such as "
                             "pyarrow.array" % name)
    return "d:18,%d" % scale, numbers


_INTEGERS_OF = {datetime.date: _dates, datetime.datetime: _datetimes, datetime.timedelta: _timedeltas, decimal.Decimal: _decimals}


class _ArrayChunks:
    """A column that an Arrow array or stream of its own has, such as a Series of Polars or pandas."""

    def __init__(self, name, values, keys, threads):
        schema, chunks = arrow.read(values)
        self.column = _ArrowColumn(schema.structure, None, keys, threads, name)
        self._chunks = [chunk for chunk in chunks if chunk.structure.length]
        self._owner = schema
        self.ends = []  # row numbers where chunks end
        for chunk in self._chunks:
            self.ends.append((self.ends[-1] if self.ends else 0) + chunk.structure.length)
        self.length = self.ends[-1] if self.ends else 0

    def part(self, first, count):
        """Rows within a chunk."""
        number = next(number for number, end in enumerate(self.ends) if first < end)
        return self.column.part(self._chunks[number], first - (self.ends[number - 1] if number else 0), count)


class Arrays:
    def __init__(self, columns):
        self._columns = columns
        self.names = list(columns)

    def fields(self, names):
        return {field.name: field for field in self.select(names, (), 1)[0]} if names else {}

    def select(self, names, keys, threads):
        fields, parts, lengths = [], [], []
        for name in names:
            values = self._columns[name]
            chunks = _array_chunks(name, values, keys, threads)
            if chunks is not None:
                values = chunks
            elif numpy is not None and not hasattr(values, "__array_interface__") and hasattr(values, "__array__"):
                values = numpy.asarray(values)
            if chunks is not None:
                field, part, length = chunks.column.field, chunks, chunks.length
            elif hasattr(values, "__array_interface__"):
                field, part, length = _from_numpy(name, values, keys, threads)
            elif isinstance(values, (list, tuple, range)):
                field, part = _from_list(name, values, keys, threads)
                length = len(values)
            else:
                try:
                    field, part, length = _from_buffer(name, values)
                except TypeError:
                    raise TableTypeError("column '%s' is a %s; a column is an array, a list, a tuple or a range" %
                                         (name, type(values).__name__)) from None
            if lengths and length != lengths[0]:
                raise ArgumentError("column '%s' has %d rows, '%s' has %d" % (name, length, names[0], lengths[0]))
            fields.append(field)
            parts.append(part)
            lengths.append(length)
        return fields, _aligned(fields, parts, lengths[0])


def _array_chunks(name, values, keys, threads):
    """None: not by Arrow."""
    if not hasattr(values, "__arrow_c_stream__") and not hasattr(values, "__arrow_c_array__"):
        return None
    try:
        return _ArrayChunks(name, values, keys, threads)
    except ImportError:  # pandas without pyarrow
        return None


def _aligned(fields, parts, length):
    """Chunks of columns, some of which have chunks of their own."""
    chunked = [part for part in parts if isinstance(part, _ArrayChunks)]
    if not chunked:
        yield length, parts
        return
    ends = sorted({length, *range(SLICE, length, SLICE)}.union(*(part.ends for part in chunked)))
    for first, end in zip([0] + ends, ends):
        if end > first:
            yield end - first, [part.part(first, end - first) if isinstance(part, _ArrayChunks) else part.from_row(first, field.type)
                                for field, part in zip(fields, parts)]


# ---- Arrow -----------------------------------------------------------------------------------------------------

_ARROW = {"c": "int8", "s": "int16", "i": "int32", "l": "int64", "C": "uint8", "S": "uint16", "I": "uint32",
          "L": "uint64", "f": "float32", "g": "float64", "b": "uint8", "tdD": "int32", "tdm": "int64",
          "n": "int8", "e": "float32", "tts": "int32", "ttm": "int32", "ttu": "int64", "ttn": "int64"}
_LAYOUTS = {"u": Texts.OFFSETS_32, "z": Texts.OFFSETS_32, "U": Texts.OFFSETS_64, "Z": Texts.OFFSETS_64,
            "vu": Texts.VIEWS, "vz": Texts.VIEWS}
_ITEM_BYTES = {Texts.OFFSETS_32: 4, Texts.OFFSETS_64: 8, Texts.VIEWS: 16}


_NOT_GROUPED = {"+l": "list", "+L": "large_list", "+vl": "list_view", "+vL": "large_list_view", "+w": "fixed_size_list",
                "+s": "struct", "+m": "map", "+ud": "dense_union", "+us": "sparse_union", "+r": "run_end_encoded",
                "tiM": "interval in months", "tiD": "interval of days and time", "tin": "interval of months, days and nanoseconds",
                "_pli128": "int128, which only Polars has", "_plu128": "uint128, which only Polars has"}


def _type_name(format_):
    """Of a type that is not grouped."""
    head, _, bits = format_.rpartition(",")
    if format_.startswith("d:") and head.count(","):
        return "decimal%s(%s)" % (bits, head[2:].replace(",", ", "))
    return _NOT_GROUPED.get(format_.partition(":")[0], "'%s'" % format_)


def _format_of(schema):
    """A column's, and a decimal's number of bits: 32, 64 or 128."""
    format_ = schema.format.decode()
    head, _, bits = format_.rpartition(",")
    return (head, int(bits)) if format_.startswith("d:") and head.count(",") and bits in ("32", "64", "128") else (format_, 128)


def _arrow_type(format_):
    if format_.startswith(("ts", "tD")):
        return TYPES.index("int64")
    return TYPES.index(_ARROW[format_]) if format_ in _ARROW else None


def _text_column(format_, structure, offset):
    """What Texts.encode takes of an array: layout, items, buffers, valid, its offset."""
    layout = _LAYOUTS[format_]
    valid = structure.buffers[0] if structure.null_count != 0 else None
    # The last buffer of views has the others' sizes.
    buffers = structure.buffers[2:structure.n_buffers - 1] if layout == Texts.VIEWS else [structure.buffers[2]]
    return layout, (structure.buffers[1] or 0) + offset * _ITEM_BYTES[layout], buffers, valid, offset


class _ArrowColumn:
    """One column of all chunks. `number`: of the schema's child; None: the schema is the column's."""

    def __init__(self, schema, number, keys, threads, name=None):
        child = schema if number is None else schema.children[number].contents
        self.number, self.piece = number, None
        self.format, self._bits = _format_of(child)
        self.dictionary_format = child.dictionary.contents.format.decode() if child.dictionary else None
        name = (child.name or b"").decode() if name is None else name
        self._codes, self._codes_of = None, None
        metadata = arrow.metadata_of(child)
        text_format = self.dictionary_format or self.format
        if text_format in _LAYOUTS:
            self.field = _text_field(name, keys, threads, text_format)
        elif self.dictionary_format is None and _arrow_type(self.format) is not None:
            self.field = Field(name, _arrow_type(self.format), "f" if self.format == "e" else self.format)
        elif self.dictionary_format is None and self.format.startswith("w:"):
            self.field = _text_field(name, keys, threads, self.format)
        elif is_wide(self.format):
            self.field = _text_field(name, keys, threads, self.format)
        elif is_decimal(self.format):
            self.field = Field(name, INT64, self.format)
        else:
            raise TableTypeError("column '%s' has Arrow's type %s, which is not grouped" %
                                 (name, _type_name(self.format if self.dictionary_format is None else "dictionary of " + text_format)))

        self.field.metadata = metadata

    def _of(self, chunk):
        """The column's structure in a chunk, and the first row's place in its buffers."""
        if self.number is None:
            return chunk.structure, chunk.structure.offset
        structure = chunk.structure.children[self.number].contents
        return structure, structure.offset + chunk.structure.offset

    def piece_of(self, piece):
        """The column of a decimal's piece: see include/warpage/partials.h."""
        self.piece = piece
        self.field = Field((self.field.name, piece), TYPES.index(native.DECIMAL_PIECES[piece][1]), self.format)
        return self

    def hash(self, chunk, count, hashes):
        """Adds the column to hashes of a chunk's rows."""
        if is_wide(self.format):
            for piece in ("high", "middle", "low"):
                part = self.piece_of(piece).part(chunk, 0, count)
                native.rows_hash(native.Column(self.field.type, part.values, part.valid, part.valid_offset), count, hashes)
            return
        structure, offset = self._of(chunk)
        if self.field.is_text and self.dictionary_format is None:
            native.rows_hash_texts(*_text_column(self.format, structure, offset), count, hashes)
            return
        if self.field.is_text:
            raise WarpageError("column '%s' is a dictionary, which has no hashes" % self.field.name)
        part = self.part(chunk, 0, count)
        native.rows_hash(native.Column(self.field.type, part.values, part.valid, part.valid_offset), count, hashes)

    def part(self, chunk, first, count):
        """Rows [first, first + count) of a chunk."""
        structure, offset = self._of(chunk)
        offset += first
        if self.format == "n":  # all NULL, without buffers
            zeros = (ctypes.c_uint8 * max(1, count))()
            return Part(ctypes.addressof(zeros), ctypes.addressof(zeros), 0, zeros)
        valid = structure.buffers[0] if structure.null_count != 0 else None
        if self.dictionary_format is not None:
            return self._dictionary_part(structure, offset, count, valid, chunk)
        if self.format.startswith("w:"):
            return self._fixed_part(structure, offset, count, valid, chunk)
        if self.field.is_text and is_decimal(self.format):
            decimals = (structure.buffers[1] or 0) + offset * 16
            if self.field.texts is None:  # only counted
                return Part(decimals, valid, offset, chunk)
            return _codes_part(self.field.texts.encode_decimals(decimals, valid, offset, count), valid, offset, chunk)
        if self.field.is_text:
            layout, items, *others = _text_column(self.format, structure, offset)
            if self.field.texts is None:  # only counted
                return Part(items, valid, offset, chunk)
            return _codes_part(self.field.texts.encode(layout, items, *others, count), valid, offset, chunk)
        if self.format == "b":
            flags = (ctypes.c_uint8 * max(1, count))()
            native.bits_expand(structure.buffers[1], offset, count, flags)
            return Part(ctypes.addressof(flags), valid, offset, (flags, chunk))
        if self.piece is not None:
            number, kind = native.DECIMAL_PIECES[self.piece]
            values = ((ctypes.c_double if number is None else getattr(ctypes, "c_" + kind)) * max(1, count))()
            decimals = (structure.buffers[1] or 0) + offset * 16
            if number is None:
                native.decimals_double(decimals, count, scale_of(self.format), values)
            else:
                native.decimals_piece(decimals, count, number, values)
            return Part(ctypes.addressof(values), valid, offset, (values, chunk))
        if self.format == "e":
            values = (ctypes.c_float * max(1, count))()
            native.halves_widen((structure.buffers[1] or 0) + offset * 2, count, values)
            return Part(ctypes.addressof(values), valid, offset, (values, chunk))
        if is_decimal(self.format) and self._bits < 128:
            values = (structure.buffers[1] or 0) + offset * self._bits // 8
            if self._bits == 64:
                return Part(values, valid, offset, chunk)
            longer = array.array("q", (ctypes.c_int32 * count).from_address(values))
            return Part(longer.buffer_info()[0], valid, offset, (longer, chunk))
        if is_decimal(self.format):
            values = self._narrow((structure.buffers[1] or 0) + offset * 16, count, valid, offset)
            return Part(ctypes.addressof(values), valid, offset, (values, chunk))
        values = (structure.buffers[1] or 0) + offset * TYPE_BYTES[self.field.type]
        return Part(values, valid, offset, chunk)

    def _narrow(self, decimals, count, valid, offset):
        """Decimals as integers of 64 bits."""
        values = (ctypes.c_int64 * max(1, count))()
        if native.decimals_narrow(decimals, count, INT64, values):
            return values
        for row in range(count):  # what NULL has for a number has no meaning
            bit = offset + row
            if valid and not ctypes.c_uint8.from_address(valid + bit // 8).value >> bit % 8 & 1:
                values[row] = 0
            elif not native.decimals_narrow(decimals + 16 * row, 1, INT64, ctypes.byref(values, 8 * row)):
                raise WarpageError("column '%s' has a decimal of more digits than its type, decimal(%s)" %
                                   (self.field.name, self.format[2:]))
        return values

    def _fixed_part(self, structure, offset, count, valid, chunk):
        """Binary of a fixed size, as texts."""
        size = int(self.format[2:])
        offsets = (ctypes.c_int64 * (count + 1))(*range(0, size * count + 1, size) if size else [0] * (count + 1))
        if self.field.texts is None:
            return Part(ctypes.addressof(offsets), valid, offset, (offsets, chunk))
        codes = self.field.texts.encode(Texts.OFFSETS_64, ctypes.addressof(offsets),
                                        [(structure.buffers[1] or 0) + offset * size], valid, offset, count)
        return _codes_part(codes, valid, offset, (offsets, chunk))

    def _dictionary_part(self, structure, offset, count, valid, chunk):
        dictionary = structure.dictionary.contents
        where = (dictionary.length, dictionary.offset, dictionary.buffers[:dictionary.n_buffers])
        texts = self.field.texts or Texts(1)
        if where != self._codes_of:  # batches may have dictionaries of their own
            self._codes = texts.encode(*_text_column(self.dictionary_format, dictionary, dictionary.offset),
                                       dictionary.length)
            self._codes_of, self._dictionary_owner = where, chunk
        type_ = _arrow_type(self.format)
        first = (structure.buffers[1] or 0) + offset * TYPE_BYTES[type_]
        codes = Texts.translate(native.Column(type_, first, valid, offset), count, self._codes, dictionary.length)
        if self.field.texts is None and dictionary.null_count != 0:
            bits = bits_of(codes[:count])  # a value may be NULL in the dictionary
            return _codes_part(codes, ctypes.addressof(bits), 0, (bits, chunk))
        return _codes_part(codes, valid, offset, chunk)


class ArrowTable:
    def __init__(self, table):
        self._schema, self._chunks = arrow.read(table)
        schema = self._schema.structure
        if schema.format != b"+s":
            raise TableTypeError("a table is expected, this is one column; a dict gives it a name: {\"name\": column}")
        self._numbers = {}
        self.names = []
        for number in range(schema.n_children):
            name = (schema.children[number].contents.name or b"").decode()
            self.names.append(name)
            self._numbers[name] = number

    def select(self, names, keys, threads):
        columns = [self._column(name, keys, threads) for name in names]
        return [column.field for column in columns], self._slices(columns)

    def _column(self, name, keys, threads):
        """`name`: of a column, or (name, piece) of a decimal's."""
        if isinstance(name, tuple):
            return _ArrowColumn(self._schema.structure, self._numbers[name[0]], keys, threads).piece_of(name[1])
        return _ArrowColumn(self._schema.structure, self._numbers[name], keys, threads)

    def fields(self, names):
        """Fields of columns, before they are selected."""
        return {name: _ArrowColumn(self._schema.structure, self._numbers[name], (), 1).field for name in names}

    def _slices(self, columns):
        has_copies = any(
            column.field.is_text or column.piece or column.format in ("b", "e", "n") for column in columns)
        for chunk in self._chunks:
            length = chunk.structure.length
            step = SLICE if has_copies else max(1, length)
            for first in range(0, length, step):
                count = min(step, length - first)
                yield count, [column.part(chunk, first, count) for column in columns]


def row_hashes(table, keys):
    """For each chunk of a table its hashes of rows by keys (wp_rows_hash), as c_uint64."""
    source = ArrowTable(table)
    columns = [_ArrowColumn(source._schema.structure, source._numbers[key], (), 1) for key in keys]
    for chunk in source._chunks:
        count = chunk.structure.length
        hashes = (ctypes.c_uint64 * max(1, count))()
        for column in columns:
            column.hash(chunk, count, hashes)
        yield hashes


class Tables:
    """Tables with the same columns, one after the other."""

    def __init__(self, tables):
        self.tables = tables
        self.names = tables[0].names

    def fields(self, names):
        return self.tables[0].fields(names)

    def select(self, names, keys, threads):
        lists = [[table._column(name, keys, threads) for name in names] for table in self.tables]
        def kind(field):
            is_own = field.format is not None and field.format[0] in "tb"  # times of one unit, booleans
            return (field.type, field.is_text, field.is_binary, is_decimal(field.format) and scale_of(field.format),
                    field.format if is_own else None)

        for columns in lists[1:]:
            for column, first in zip(columns, lists[0]):
                if kind(column.field) != kind(first.field):
                    raise WarpageError("column '%s' has Arrow's type '%s' in one table and '%s' in another" %
                                       (first.field.name, first.format, column.format))
                column.field = first.field  # with its texts
        slices = (slice_ for table, columns in zip(self.tables, lists) for slice_ in table._slices(columns))
        return [column.field for column in lists[0]], slices


def _named(path, batches):
    """Batches of a file, whose name is in errors, too."""
    try:
        yield from batches
    except OSError as error:
        raise OSError("%s: %s" % (path, error)) from None
    except ValueError as error:  # pyarrow's ArrowInvalid
        raise type(error)("%s: %s" % (path, error)) from None


class _CsvTable(ArrowTable):
    """The rows of a CSV file. pyarrow takes the types of columns from the first megabyte."""

    def __init__(self, path, kind, columns, types=None):
        from pyarrow import RecordBatchReader, csv
        self._given, self._types = (path, kind, columns), dict(types or {})
        options = csv.ParseOptions(delimiter="\t" if kind == "tsv" else ",")
        reader = csv.open_csv(path, parse_options=options)
        names = reader.schema.names
        if os.path.isfile(path) and set(columns) <= set(names) and len(set(names)) == len(names):  # can be read again
            self._kept = [name for name in names if name in columns]
            reader = csv.open_csv(path, parse_options=options,
                                  convert_options=csv.ConvertOptions(include_columns=self._kept, column_types=self._types))
        else:
            self._kept = None
        self._all = names
        super().__init__(RecordBatchReader.from_batches(reader.schema, _named(path, reader)))

    def reopened(self, error):
        """With a wider type for the column in which a later value has another type than those that came first; None: the error is
        another one."""
        import pyarrow
        found = re.search(r"In CSV column #(\d+): CSV conversion error to (\w+)\b.*: invalid value '(.*?)'", str(error), re.DOTALL)
        if found is None or self._kept is None:
            return None
        name, value, before = self._all[int(found[1])], found[3], self._types.get(self._all[int(found[1])])
        if name not in self._kept:
            return None
        wider = [pyarrow.int64(), pyarrow.float64(), pyarrow.string()]
        wider = wider[1 if found[2] == "int64" else 0 if found[2] == "null" else 2:]
        type_ = next(type_ for type_ in wider if _may_be(type_, value))
        return _CsvTable(*self._given, {**self._types, name: type_}) if type_ != before else None


def _may_be(type_, text):
    try:
        return str(type_) == "string" or (abs(int(text)) < 1 << 63 if str(type_) == "int64" else float(text) is not None)
    except ValueError:
        return False


_COMPRESSED = (".gz", ".bz2", ".zst", ".lz4")
_KINDS_OF_FILES = {".parquet": "parquet", ".arrow": "ipc", ".arrows": "ipc", ".feather": "ipc", ".ipc": "ipc", ".csv": "csv", ".tsv": "tsv"}


def _kind_of(path):
    """Of a file, by its name: "parquet", "ipc", "csv", "tsv"; None: none of them."""
    base, ending = os.path.splitext(path)
    if ending in _COMPRESSED:
        ending = os.path.splitext(base)[1]
        return _KINDS_OF_FILES.get(ending) if ending in (".csv", ".tsv") else None
    return _KINDS_OF_FILES.get(ending)


def _files_of(path):
    """Those that a path stands for: of a folder, of a pattern, or it alone."""
    if os.path.isdir(path):
        found = []
        for folder, folders, names in os.walk(path):
            folders[:] = sorted(name for name in folders if name[0] not in "._")
            found += [os.path.join(folder, name) for name in sorted(names) if name[0] not in "._"]
        return found
    if not os.path.exists(path) and set(path) & set("*?["):
        return [file for found in sorted(glob.glob(path, recursive=True)) for file in _files_of(found)]
    return [path]


def _open_dataset(paths, columns):
    """The rows of several files of one kind, which folders or patterns have; folders may be named "column=value"."""
    what = paths[0] if len(paths) == 1 else "%s, …" % paths[0]
    files = [file for path in paths for file in _files_of(path)]
    kinds = {_kind_of(file): file for file in files}
    if not files:
        raise FileError("%s: there is no file" % what)
    if len(kinds) > 1 or None in kinds:
        raise FileError("%s: files of one kind are expected, whose names end in %s; found: %s" %
                        (what, _endings(), ", ".join(sorted(kinds.values()))))
    from pyarrow import csv, dataset, fs
    kind, base = next(iter(kinds)), paths[0] if len(paths) == 1 and os.path.isdir(paths[0]) else None
    formats = {"parquet": lambda: dataset.ParquetFileFormat(
        default_fragment_scan_options=dataset.ParquetFragmentScanOptions(page_checksum_verification=True)),
               "ipc": dataset.IpcFileFormat, "csv": dataset.CsvFileFormat,
               "tsv": lambda: dataset.CsvFileFormat(csv.ParseOptions(delimiter="\t"))}
    format_ = formats[kind]()
    options = {"partitioning": _partitioning(base, files, format_), "partition_base_dir": base} if base else {}
    factory = dataset.FileSystemDatasetFactory(fs.LocalFileSystem(), [os.path.abspath(file) for file in files], format_,
                                               dataset.FileSystemFactoryOptions(**options))
    # A column has the type that holds all files' values: one file may have none, or only whole numbers.
    schema = factory.inspect(promote_options="permissive")
    return _from_dataset(factory.finish(schema), columns, what)


def _partitioning(base, files, format_):
    """Columns that the names of folders have, "column=value": of the type that they have in files, too, or else integers
    where all values are some, or texts."""
    import pyarrow
    from pyarrow import dataset, fs
    values, inside = {}, format_.inspect(files[0], fs.LocalFileSystem())
    for file in files:
        for part in os.path.relpath(os.path.dirname(file), base).split(os.sep):
            name, sign, value = part.partition("=")
            if sign and value != "__HIVE_DEFAULT_PARTITION__":
                values.setdefault(name, set()).add(value)

    def type_of(name):
        if name in inside.names:
            return inside.field(name).type
        are_integers = all(value.lstrip("-").isdigit() and abs(int(value)) < 1 << 63 for value in values[name])
        return pyarrow.int64() if are_integers else pyarrow.string()

    return dataset.partitioning(pyarrow.schema([(name, type_of(name)) for name in values]), flavor="hive")


def _from_dataset(source, columns, what="a dataset"):
    """The columns of a dataset of pyarrow, batch by batch."""
    import pyarrow
    names = [name for name in source.schema.names if name in columns]
    if len(names) < len(set(columns)):
        names = source.schema.names  # a name is missing: check_names says so
    reader = source.scanner(columns=names, batch_readahead=2, fragment_readahead=1).to_reader()
    return ArrowTable(pyarrow.RecordBatchReader.from_batches(reader.schema, _named(what, reader)))


def _endings():
    return ", ".join(_KINDS_OF_FILES)


def _open_file(path, columns):
    import pyarrow
    from pyarrow import ipc, parquet
    kind = _kind_of(path)
    if kind == "parquet":
        file = parquet.ParquetFile(path, page_checksum_verification=True)
        names = [name for name in file.schema_arrow.names if name in columns]
        schema = pyarrow.schema([file.schema_arrow.field(name) for name in names])
        if len(names) < len(set(columns)):
            schema = file.schema_arrow  # a name is missing: check_names says so
        return ArrowTable(pyarrow.RecordBatchReader.from_batches(schema, _named(path, file.iter_batches(columns=names))))
    if kind in ("csv", "tsv"):
        return _CsvTable(path, kind, columns)
    with open(path, "rb") as file:
        is_file = file.read(6) == b"ARROW1"
    return ArrowTable(ipc.open_file(path).read_all() if is_file else ipc.open_stream(path))


def _open_paths(paths, columns):
    """The columns of files, by pyarrow, batch by batch."""
    for path in paths:
        if re.match(r"[a-z0-9]+://", path):
            raise FileError("%s: paths are of this machine; pyarrow.dataset.dataset opens others, and is a table" % path)
        if not os.path.isdir(path) and not set(path) & set("*?["):
            if _kind_of(path) is None:
                raise ArgumentError("%s: the name of a file ends in %s" % (path, _endings()))
            if not os.path.exists(path):
                raise FileError("%s: there is no such file" % path)
    try:
        import pyarrow
    except ImportError:
        raise WarpageError("%s: reading files takes the package pyarrow: pip install pyarrow" % paths[0]) from None
    try:
        return _open_file(paths[0], columns) if len(paths) == 1 and os.path.isfile(paths[0]) else _open_dataset(paths, columns)
    except (pyarrow.ArrowException, OSError) as error:
        if isinstance(error, WarpageError):
            raise
        raise FileError("%s: %s" % (paths[0], str(error).split("\n", maxsplit=1)[0])) from None


def _open_arrow(table, columns):
    """Of a DataFrame of pandas, by pyarrow, only columns that are read: others may have objects that Arrow does not have."""
    if type(table).__module__.split(".")[0] != "pandas":
        return ArrowTable(table)
    if type(table).__name__ == "DataFrame" and columns and table.columns.is_unique:
        kept = [name for name in table.columns if str(name) in columns]
        if not {str(name) for name in [*kept, *table.index.names]}.issuperset(columns):
            return Arrays({str(name): [] for name in table.columns})  # a name is missing: check_names says so
        elif kept:
            table = table[kept]
    try:
        return ArrowTable(table)
    except (TypeError, ValueError, NotImplementedError) as error:
        if isinstance(error, WarpageError):
            raise
        raise TableTypeError("; ".join(map(str, error.args))) from None


def _of_list(items):
    """A list of tables one after the other, such as batches, or of rows that are dicts; any other as it is."""
    if all(isinstance(item, dict) for item in items):
        return {name: [row.get(name) for row in items] for name in dict.fromkeys(name for row in items for name in row)}
    if all(hasattr(item, "__arrow_c_stream__") or hasattr(item, "__arrow_c_array__") for item in items):
        return Tables([ArrowTable(item) for item in items])
    return items


def open_table(table, columns=()):
    """`columns`: those that are read of it."""
    paths = [table] if isinstance(table, (str, os.PathLike)) else table
    if isinstance(paths, (list, tuple)) and paths and all(isinstance(path, (str, os.PathLike)) for path in paths):
        return _open_paths([os.path.expanduser(os.fspath(path)) for path in paths], columns)
    if type(table).__module__.startswith("pyspark."):
        raise TableTypeError("a DataFrame of Spark is grouped by warpage.spark.groupby")
    if isinstance(table, (list, tuple)) and table:
        table = _of_list(table)
    if hasattr(table, "to_reader") and not hasattr(table, "__arrow_c_stream__"):  # a scanner of pyarrow
        table = table.to_reader()
    if type(table).__module__.split(".")[0] == "polars" and type(table).__name__ == "DataFrame":
        objects = [name for name, type_ in table.schema.items() if name in columns and str(type_) == "Object"]
        if objects:
            raise TableTypeError("column '%s' has Python's objects, which are not grouped" % objects[0])
    if hasattr(table, "collect_schema") and hasattr(table, "collect"):  # a LazyFrame of Polars
        names = table.collect_schema().names()
        table = table.select([name for name in names if name in columns] or names).collect()
    if hasattr(table, "__arrow_c_stream__") or hasattr(table, "__arrow_c_array__"):
        return _open_arrow(table, columns)
    if isinstance(table, Tables):
        for one in table.tables[1:]:
            check_names(one.names, columns, once=True, what="a table of the list")
        return table
    if getattr(getattr(table, "dtype", None), "names", None) and hasattr(table, "__array_interface__"):  # records of NumPy
        return Arrays({name: table[name] for name in table.dtype.names})
    if hasattr(table, "keys") and hasattr(table, "__getitem__"):
        return Arrays({name: table[name] for name in table.keys()})
    if hasattr(table, "scanner") and hasattr(table, "schema"):  # a dataset of pyarrow
        return _from_dataset(table, columns)
    raise TableTypeError("not a table: an object of type %s; pass an object with Arrow's C data interface, a dict of arrays or "
                         "lists, or paths of files" % type(table).__name__)
