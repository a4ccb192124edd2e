# SPDX-License-Identifier: Apache-2.0
"""Tables as chunks of columns: addresses of values in memory, and their owners."""
import array
import ctypes
import os
import sys
from warpage import arrow, native
from warpage.native import ArgumentError, TYPES, TYPE_BYTES, TableTypeError, Texts, WarpageError

try:
    import numpy
except ImportError:
    numpy = None

INT64, UINT32 = TYPES.index("int64"), TYPES.index("uint32")
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


class Part:
    """A column's values in one chunk."""

    def __init__(self, values, valid=None, valid_offset=0, owner=None):
        self.values, self.valid, self.valid_offset, self.owner = values, valid, valid_offset, owner


def bits_of(flags):
    """A bit for each of a sequence's values."""
    flags = bytes(map(bool, flags))
    bits = (ctypes.c_uint8 * ((len(flags) + 7) // 8 + 1))()
    native.bits_pack(flags, len(flags), bits)
    return bits


def _codes_part(codes, valid, valid_offset, owner):
    return Part(ctypes.addressof(codes), valid, valid_offset, (codes, owner))


def _encode(field, values):
    """Codes of a list of texts."""
    for row, value in enumerate(values):
        if value is not None and not isinstance(value, str):
            raise TableTypeError("row %d is %r, which is not text" % (row, value))
    try:
        data = [b"" if value is None else value.encode() for value in values]
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


def _from_numpy(name, values, keys, threads):
    interface = values.__array_interface__
    order, kind, size = interface["typestr"][0], interface["typestr"][1], int(interface["typestr"][2:].split("[")[0])
    if len(interface["shape"]) != 1:
        raise WarpageError("column '%s' has %d dimensions" % (name, len(interface["shape"])))
    if kind in "OU":
        field = _text_field(name, keys, threads)
        return field, _encode(field, values.tolist()), interface["shape"][0]
    if order == (">" if sys.byteorder == "little" else "<"):
        raise WarpageError("column '%s' has the other byte order" % name)
    type_ = _type_of(kind, size, name)
    if interface.get("strides") not in (None, (size,)):
        values = numpy.ascontiguousarray(values)
        interface = values.__array_interface__
    format_ = "b" if kind == "b" else None if kind not in "Mm" else _TIMES.get(interface["typestr"][1:])
    return Field(name, type_, format_), Part(interface["data"][0], owner=values), interface["shape"][0]


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


def _from_list(name, values, keys, threads):
    """Texts, or numbers: bool, int as int64, float. None is NULL."""
    kinds = {type(value) for value in values if value is not None}
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
            if numpy is not None and not hasattr(values, "__array_interface__") and hasattr(values, "__array__"):
                values = numpy.asarray(values)
            if hasattr(values, "__array_interface__"):
                field, part, length = _from_numpy(name, values, keys, threads)
            elif isinstance(values, (list, tuple)):
                field, part = _from_list(name, values, keys, threads)
                length = len(values)
            else:
                try:
                    field, part, length = _from_buffer(name, values)
                except TypeError:
                    raise WarpageError("column '%s' is a %s, not an array" % (name, type(values).__name__)) from None
            if lengths and length != lengths[0]:
                raise ArgumentError("column '%s' has %d rows, '%s' has %d" % (name, length, names[0], lengths[0]))
            fields.append(field)
            parts.append(part)
            lengths.append(length)
        return fields, iter([(lengths[0], parts)])


# ---- Arrow -----------------------------------------------------------------------------------------------------

_ARROW = {"c": "int8", "s": "int16", "i": "int32", "l": "int64", "C": "uint8", "S": "uint16", "I": "uint32",
          "L": "uint64", "f": "float32", "g": "float64", "b": "uint8", "tdD": "int32", "tdm": "int64",
          "n": "int8", "e": "float32", "tts": "int32", "ttm": "int32", "ttu": "int64", "ttn": "int64"}
_LAYOUTS = {"u": Texts.OFFSETS_32, "z": Texts.OFFSETS_32, "U": Texts.OFFSETS_64, "Z": Texts.OFFSETS_64,
            "vu": Texts.VIEWS, "vz": Texts.VIEWS}
_ITEM_BYTES = {Texts.OFFSETS_32: 4, Texts.OFFSETS_64: 8, Texts.VIEWS: 16}


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
    """One column of all chunks."""

    def __init__(self, schema, number, keys, threads):
        child = schema.children[number].contents
        self.number, self.format, self.piece = number, child.format.decode(), None
        self.dictionary_format = child.dictionary.contents.format.decode() if child.dictionary else None
        name = (child.name or b"").decode()
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
            raise TableTypeError("column '%s' has Arrow's type '%s', which is not grouped" % (name, text_format))

        self.field.metadata = metadata

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
        structure = chunk.structure.children[self.number].contents
        if self.field.is_text and self.dictionary_format is None:
            offset = structure.offset + chunk.structure.offset
            native.rows_hash_texts(*_text_column(self.format, structure, offset), count, hashes)
            return
        if self.field.is_text:
            raise WarpageError("column '%s' is a dictionary, which has no hashes" % self.field.name)
        part = self.part(chunk, 0, count)
        native.rows_hash(native.Column(self.field.type, part.values, part.valid, part.valid_offset), count, hashes)

    def part(self, chunk, first, count):
        """Rows [first, first + count) of a chunk."""
        structure = chunk.structure.children[self.number].contents
        offset = structure.offset + chunk.structure.offset + first
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
            raise WarpageError("a table is expected, this is one column")
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
            return field.type, field.is_binary, is_decimal(field.format) and scale_of(field.format)

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


def _open_path(path, columns):
    """The columns of a file, by pyarrow, batch by batch."""
    if not path.endswith((".parquet", ".arrow", ".feather", ".csv", ".tsv")):
        raise ArgumentError("%s: the name of a file ends in .parquet, .arrow, .feather, .csv or .tsv" % path)
    try:
        import pyarrow
        from pyarrow import csv, ipc, parquet
    except ImportError:
        raise WarpageError("%s: reading files takes the package pyarrow: pip install pyarrow" % path) from None
    try:
        if path.endswith(".parquet"):
            file = parquet.ParquetFile(path, page_checksum_verification=True)
            names = [name for name in file.schema_arrow.names if name in columns]
            schema = pyarrow.schema([file.schema_arrow.field(name) for name in names])
            if len(names) < len(set(columns)):
                schema = file.schema_arrow  # a name is missing: check_names says so
            return ArrowTable(pyarrow.RecordBatchReader.from_batches(schema, _named(path, file.iter_batches(columns=names))))
        if path.endswith((".csv", ".tsv")):
            return ArrowTable(csv.open_csv(path, parse_options=csv.ParseOptions(delimiter="\t" if path[-3] == "t" else ",")))
        return ArrowTable(ipc.open_file(path).read_all())
    except (pyarrow.ArrowException, OSError) as error:
        raise WarpageError("%s: %s" % (path, str(error).split("\n", maxsplit=1)[0])) from None


def open_table(table, columns=()):
    """`columns`: those that are read of it."""
    if isinstance(table, (str, os.PathLike)):
        return _open_path(os.fspath(table), columns)
    if hasattr(table, "collect_schema") and hasattr(table, "collect"):  # a LazyFrame of Polars
        names = table.collect_schema().names()
        table = table.select([name for name in names if name in columns] or names).collect()
    if hasattr(table, "__arrow_c_stream__") or hasattr(table, "__arrow_c_array__"):
        return ArrowTable(table)
    if hasattr(table, "keys") and hasattr(table, "__getitem__"):
        return Arrays({name: table[name] for name in table.keys()})
    raise TableTypeError("a %s is not a table; pass an object with Arrow's C data interface or a dict of arrays" % type(table).__name__)
