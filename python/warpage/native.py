# SPDX-License-Identifier: Apache-2.0
"""The functions of include/warpage/ops.h, by ctypes."""
import ctypes
import functools
import os
from ctypes import POINTER, Structure, byref, c_bool, c_char, c_char_p, c_double, c_int, c_uint32, c_uint64, c_void_p

TYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]
TYPE_BYTES = [1, 2, 4, 8, 1, 2, 4, 8, 4, 8]
OPERATIONS = ["count", "sum", "min", "max", "avg"]
ALL_OPERATIONS = OPERATIONS + ["sum_low", "sum_high", "mean", "squares"]
SPREADS = ["var", "stddev"]  # of a sample
DISTRIBUTIONS = ["median", "quantile", "count_distinct"]  # of a group's values and how often each comes
NO_ROW = 0xFFFFFFFFFFFFFFFF
ALL_ROWS = 0xFFFFFFFF


class WarpageError(Exception):
    """An error of the library, described in one sentence. Most are one of Python's own types, too."""


class ArgumentError(WarpageError, ValueError):
    """An argument that is not allowed."""


class ColumnError(WarpageError, KeyError):
    """A column that the table does not have."""

    __str__ = Exception.__str__


class TableTypeError(WarpageError, TypeError):
    """A table, or a column's type, that is not supported."""


class SumError(WarpageError, OverflowError):
    """A sum of integers that does not fit 64 bits."""


class OutOfMemoryError(WarpageError, MemoryError):
    """Memory of the processor or of a device is exhausted."""


class StreamError(WarpageError, RuntimeError):
    """A stream of batches that failed: a file that is damaged, for example."""


class FileError(WarpageError, OSError):
    """A file that cannot be read or written, or that is damaged."""


class DeviceError(WarpageError, RuntimeError):
    """A device that does not exist, or that failed."""


class Column(Structure):
    _fields_ = [("type", c_int), ("values", c_void_p), ("valid", c_void_p), ("valid_offset", c_uint64)]


class Key(Structure):
    _fields_ = [("type", c_int), ("is_nullable", c_bool)]


class Aggregate(Structure):
    _fields_ = [("op", c_int), ("value", c_uint32)]


class Options(Structure):
    _fields_ = [("strategy", c_int), ("placement", c_int), ("scope_bytes", c_uint64), ("group_count", c_uint64),
                ("row_count", c_uint64), ("chunk_bytes", c_uint64), ("memory_bytes", c_uint64),
                ("thread_count", c_uint64), ("is_sorted", c_bool), ("profile", c_char_p)]


class Spec(Structure):
    _fields_ = [("key_count", c_uint32), ("value_count", c_uint32), ("aggregate_count", c_uint32),
                ("keys", POINTER(Key)), ("values", POINTER(c_int)), ("aggregates", POINTER(Aggregate)),
                ("options", Options), ("texts", POINTER(c_void_p)), ("weights", POINTER(c_uint32))]


class TextColumn(Structure):
    _fields_ = [("layout", c_int), ("items", c_void_p), ("buffers", POINTER(c_void_p)), ("valid", c_void_p),
                ("valid_offset", c_uint64)]


class SampleOptions(Structure):
    _fields_ = [("strategy", c_int), ("placement", c_int), ("scope_bytes", c_uint64), ("seed", c_uint64),
                ("read_count", c_uint64), ("reads_per_thread", c_uint32), ("thread_count", c_uint64), ("low", c_double),
                ("high", c_double), ("confidence", c_double), ("is_sum_only", c_bool), ("profile", c_char_p)]


class SampleResult(Structure):
    _fields_ = [("read_count", c_uint64), ("value_count", c_uint64)] + [
        (name, c_double) for name in ("sum", "column_sum", "column_sum_error", "mean", "mean_error", "min", "max",
                                      "selectivity", "selectivity_error")] + [
        ("pass_count", c_uint64), ("device_ns", c_uint64)]


class Error(Structure):
    _fields_ = [("status", c_int), ("file", c_char_p), ("line", c_int), ("message", c_char * 512)]


HERE = os.path.dirname(os.path.abspath(__file__))

try:  # a wheel has its libraries, and those that they load
    from warpage.bundled import LIBRARIES, VERSION as __version__
except ImportError:
    LIBRARIES, __version__ = None, None


def _folder():
    """The libraries' folder: the one that WARPAGE_LIBRARY names, or that of a wheel, or as Warpage is installed
    (lib/warpage/python/warpage); "": where the system looks."""
    for folder in (os.path.join(HERE, "lib"), os.path.join(HERE, "..", "..", "..")):
        if os.path.exists(os.path.join(folder, "libwarpage_ops.so.0")):
            return os.environ.get("WARPAGE_LIBRARY", os.path.normpath(folder))
    return os.environ.get("WARPAGE_LIBRARY", "")


FOLDER = _folder()
if __version__ is None:  # libwarpage_ops.so.0 refers to libwarpage_ops.so.<version>
    _, _, __version__ = os.path.realpath(os.path.join(FOLDER, "libwarpage_ops.so.0")).partition(".so.")


def _load(stem):
    name = stem + ".so.0"
    try:
        if LIBRARIES is not None and FOLDER == os.path.join(HERE, "lib"):
            for other in LIBRARIES[:LIBRARIES.index(name)]:
                ctypes.CDLL(os.path.join(FOLDER, other))  # `name` finds it by its name from now on
        return ctypes.CDLL(os.path.join(FOLDER, name))
    except OSError as error:
        raise ImportError("%s was not found: set WARPAGE_LIBRARY to its folder (%s)" % (name, error)) from None


_library = _load("libwarpage_ops")


def address_of(pointer):
    """Where a pointer of ctypes, or a function, points to. ctypes.cast would refer to itself, and what it points to would
    stay in memory until Python collects garbage."""
    return c_void_p.from_buffer(pointer).value


def _names(function):
    """The names of an enumeration, which `function` returns by number, up to NULL."""
    function.argtypes, function.restype = [c_int], c_char_p
    names = []
    while function(len(names)) is not None:
        names.append(function(len(names)).decode())
    return names


STRATEGIES = _names(_library.wp_strategy_name)
PLACEMENTS = _names(_library.wp_placement_name)


def declare(name, result, *arguments, library=_library):
    function = getattr(library, name)
    function.restype = result
    function.argtypes = arguments
    return function


_open = declare("wp_groupby_open", c_int, c_void_p, POINTER(Spec), POINTER(c_void_p), POINTER(Error))
_add = declare("wp_groupby_add", c_int, c_void_p, POINTER(Column), POINTER(Column), c_uint64, POINTER(Error))
_finish = declare("wp_groupby_finish", c_int, c_void_p, POINTER(c_void_p), POINTER(Error))
groupby_close = declare("wp_groupby_close", None, c_void_p)
groupby_explain = declare("wp_groupby_explain", c_char_p, c_void_p)
groups_count = declare("wp_groups_count", c_uint64, c_void_p)
groups_key = declare("wp_groups_key", POINTER(Column), c_void_p, c_uint32)
groups_aggregate = declare("wp_groups_aggregate", POINTER(Column), c_void_p, c_uint32)
groups_close = declare("wp_groups_close", None, c_void_p)
bits_expand = declare("wp_bits_expand", None, c_void_p, c_uint64, c_uint64, c_void_p)
bits_pack = declare("wp_bits_pack", None, c_void_p, c_uint64, c_void_p)
decimals_piece = declare("wp_decimals_piece", None, c_void_p, c_uint64, c_int, c_void_p)
decimals_join = declare("wp_decimals_join", None, c_void_p, c_void_p, c_void_p, c_uint64, c_void_p)
decimals_fit = declare("wp_decimals_fit", c_bool, c_void_p, c_void_p, c_uint64)
decimals_narrow = declare("wp_decimals_narrow", c_bool, c_void_p, c_uint64, c_int, c_void_p)
decimals_average = declare("wp_decimals_average", None, c_void_p, c_void_p, c_void_p, c_uint64, c_void_p)
decimals_divide = declare("wp_decimals_divide", c_bool, c_void_p, c_void_p, c_uint64, POINTER(c_uint32), c_void_p)
decimals_double = declare("wp_decimals_double", None, c_void_p, c_uint64, c_uint32, c_void_p)
decimals_widen = declare("wp_decimals_widen", None, c_void_p, c_uint64, c_void_p)
halves_widen = declare("wp_halves_widen", None, c_void_p, c_uint64, c_void_p)
squares_variance = declare("wp_squares_variance", None, c_void_p, c_void_p, c_void_p, c_uint64, c_bool, c_void_p, c_void_p)
runs_find = declare("wp_runs_find", c_uint64, c_void_p, c_uint32, c_void_p)
runs_count_distinct = declare("wp_runs_count_distinct", None, POINTER(Column), c_void_p, c_uint64, c_void_p)
runs_quantile = declare("wp_runs_quantile", None, POINTER(Column), c_void_p, c_void_p, c_uint64, c_double, c_void_p, c_void_p)
runs_extreme = declare("wp_runs_extreme", None, POINTER(Column), c_void_p, c_uint64, c_bool, c_void_p)
runs_take = declare("wp_runs_take", None, POINTER(Column), c_void_p, c_uint64, c_void_p, c_void_p)
_lists_open = declare("wp_lists_open", c_int, POINTER(Spec), POINTER(c_void_p), POINTER(Error))
lists_close = declare("wp_lists_close", None, c_void_p)
_lists_add = declare("wp_lists_add", c_int, c_void_p, POINTER(Column), POINTER(Column), c_uint64, c_void_p, POINTER(Error))
_lists_quantile = declare("wp_lists_quantile", c_int, c_void_p, c_void_p, c_uint64, c_double, c_void_p, c_void_p, POINTER(Error))
_lists_count_distinct = declare("wp_lists_count_distinct", c_int, c_void_p, c_void_p, c_uint64, c_void_p, POINTER(Error))
release_by = declare("wp_release_by", None, c_void_p, c_void_p, c_void_p)
RELEASE_SCHEMA, RELEASE_ARRAY, RELEASE_STREAM = (address_of(getattr(_library, "wp_release_" + kind))
                                                 for kind in ("schema", "array", "stream"))
_rows_hash = declare("wp_rows_hash", None, POINTER(Column), c_uint64, c_void_p)
_rows_hash_texts = declare("wp_rows_hash_texts", c_int, POINTER(TextColumn), c_uint64, c_void_p, POINTER(Error))
_rows_divide = declare("wp_rows_divide", None, c_void_p, c_uint64, c_uint32, c_uint32, c_void_p, c_void_p)
_sample = declare("wp_sample", c_int, c_void_p, POINTER(Column), c_uint64, POINTER(SampleOptions), POINTER(SampleResult),
                   POINTER(Error))
# Of a decimal, as columns of their own; "double": the number itself.
DECIMAL_PIECES = {"high": (0, "int64"), "middle": (1, "uint32"), "low": (2, "uint32"), "double": (None, "float64")}
_texts_create = declare("wp_texts_create", c_int, c_uint32, POINTER(c_void_p), POINTER(Error))
_texts_destroy = declare("wp_texts_destroy", None, c_void_p)
_texts_encode = declare("wp_texts_encode", c_int, c_void_p, POINTER(TextColumn), c_uint64, c_void_p, POINTER(Error))
_texts_encode_decimals = declare("wp_texts_encode_decimals", c_int, c_void_p, c_void_p, c_void_p, c_uint64, c_uint64, c_void_p,
                                 POINTER(Error))
_texts_gather_decimals = declare("wp_texts_gather_decimals", None, c_void_p, POINTER(Column), c_uint64, c_void_p)
_texts_translate = declare("wp_texts_translate", c_int, POINTER(Column), c_uint64, c_void_p, c_uint64, c_void_p,
                            POINTER(Error))
_texts_end = declare("wp_texts_end", None, c_void_p)
_texts_count = declare("wp_texts_count", c_uint64, c_void_p)
_texts_bytes = declare("wp_texts_bytes", c_uint64, c_void_p)
_texts_copy = declare("wp_texts_copy", None, c_void_p, c_void_p, c_void_p)
_texts_gather_bytes = declare("wp_texts_gather_bytes", c_uint64, c_void_p, POINTER(Column), c_uint64)
_texts_gather = declare("wp_texts_gather", None, c_void_p, POINTER(Column), c_uint64, c_void_p, c_uint32, c_void_p)


HOW = ("the compiler wpcc and the command warpage, which are not in the Python package: build Warpage from its source, "
       "install it by `make install PREFIX=$HOME/warpage` and put $HOME/warpage/bin on the PATH")


_ERRORS = {1: OutOfMemoryError, 2: ArgumentError, 9: OutOfMemoryError,
           **dict.fromkeys([8, *range(10, 16)], DeviceError)}  # by wp_status


def check(status, error):
    if status != 0 and b"need wpcc" in error.message:
        raise WarpageError("simulated GPUs need %s" % HOW)
    if status != 0:
        kind, message = _ERRORS.get(status, WarpageError), error.message.decode(errors="replace") or "status %d" % status
        raise kind("out of memory: " + message if kind is OutOfMemoryError and "memory" not in message else message)


class _DeviceInfo(Structure):
    _fields_ = [("spec", c_char * 64), ("name", c_char * 128)]  # its first members


_Visit = ctypes.CFUNCTYPE(None, c_void_p, c_char_p)


@functools.lru_cache(maxsize=None)
def devices():
    """libwarpage, whose devices libwarpage_ops uses."""
    library = _load("libwarpage")
    declare("wp_device_open", c_int, c_char_p, POINTER(c_void_p), POINTER(Error), library=library)
    declare("wp_device_close", None, c_void_p, library=library)
    declare("wp_device_get_info", POINTER(_DeviceInfo), c_void_p, library=library)
    declare("wp_device_visit_simulated", None, _Visit, c_void_p, library=library)
    return library


class Device:
    """A device's handle; None for the processor without a device. Closes itself at the end of a `with`."""

    def __init__(self, spec):
        self.handle = None
        if spec is None or spec == "cpu":
            return
        if not isinstance(spec, str):
            raise ArgumentError("device is %r: a device's name, such as \"cpu\", \"sim:k80\" or \"cuda:0\"" % (spec,))
        device, error = c_void_p(), Error()
        try:
            check(devices().wp_device_open(spec.encode(), byref(device), byref(error)), error)
        except WarpageError as problem:
            if type(problem) in (WarpageError, ArgumentError):
                raise DeviceError(str(problem)) from None
            raise
        self.handle = device

    def __enter__(self):
        return self.handle

    def __exit__(self, *_):
        if self.handle is not None:
            devices().wp_device_close(self.handle)


def device_name(handle):
    return devices().wp_device_get_info(handle).contents.name.decode(errors="replace")


def simulated_devices():
    """Their specs: "sim:k80"."""
    specs = []
    devices().wp_device_visit_simulated(_Visit(lambda _, spec: specs.append(spec.decode())), None)
    return specs


def groupby_open(device, spec):
    groupby, error = c_void_p(), Error()
    check(_open(device, byref(spec), byref(groupby), byref(error)), error)
    return groupby


def groupby_add(groupby, keys, values, row_count):
    error = Error()
    check(_add(groupby, keys, values, row_count, byref(error)), error)


def groupby_finish(groupby):
    groups, error = c_void_p(), Error()
    check(_finish(groupby, byref(groups), byref(error)), error)
    return groups


def lists_open(spec):
    lists, error = c_void_p(), Error()
    check(_lists_open(byref(spec), byref(lists), byref(error)), error)
    return lists


def lists_add(lists, keys, values, row_count, numbers):
    error = Error()
    check(_lists_add(lists, keys, values, row_count, numbers, byref(error)), error)


def lists_quantile(lists, numbers, count, share, out, valid):
    error = Error()
    check(_lists_quantile(lists, numbers, count, share, out, valid, byref(error)), error)


def lists_count_distinct(lists, numbers, count, out):
    error = Error()
    check(_lists_count_distinct(lists, numbers, count, out, byref(error)), error)


def rows_hash(column, count, hashes):
    _rows_hash(byref(column), count, hashes)


def rows_hash_texts(layout, items, buffers, valid, valid_offset, count, hashes):
    column, error = TextColumn(layout, items, (c_void_p * max(1, len(buffers)))(*buffers), valid, valid_offset), Error()
    check(_rows_hash_texts(byref(column), count, hashes, byref(error)), error)


def rows_divide(hashes, count, shift, bucket_count):
    """Rows in order of their buckets, and where each bucket begins."""
    rows, starts = (c_uint32 * max(1, count))(), (c_uint64 * (bucket_count + 1))()
    _rows_divide(hashes, count, shift, bucket_count, rows, starts)
    return rows, starts


def sample(device, column, count, options):
    result, error = SampleResult(), Error()
    check(_sample(device, byref(column), count, byref(options), byref(result), byref(error)), error)
    return result


class Texts:
    """Texts that are keys, and their codes, which are c_uint32."""

    OFFSETS_32, OFFSETS_64, VIEWS = range(3)

    def __init__(self, threads):
        self.handle, error = c_void_p(), Error()
        check(_texts_create(threads, byref(self.handle), byref(error)), error)

    def __del__(self):
        _texts_destroy(self.handle)

    def encode(self, layout, items, buffers, valid, valid_offset, count):
        column = TextColumn(layout, items, (c_void_p * max(1, len(buffers)))(*buffers), valid, valid_offset)
        codes, error = (c_uint32 * max(1, count))(), Error()
        check(_texts_encode(self.handle, byref(column), count, codes, byref(error)), error)
        return codes

    def encode_decimals(self, decimals, valid, valid_offset, count):
        codes, error = (c_uint32 * max(1, count))(), Error()
        check(_texts_encode_decimals(self.handle, decimals, valid, valid_offset, count, codes, byref(error)), error)
        return codes

    def gather_decimals(self, column, count):
        """Those of a result's key, 16 bytes each."""
        decimals = (c_uint64 * (2 * max(1, count)))()
        _texts_gather_decimals(self.handle, byref(column), count, decimals)
        return decimals

    def end(self):
        """No text is encoded afterwards."""
        _texts_end(self.handle)

    @staticmethod
    def translate(indices, count, dictionary, text_count):
        codes, error = (c_uint32 * max(1, count))(), Error()
        check(_texts_translate(byref(indices), count, dictionary, text_count, codes, byref(error)), error)
        return codes

    def dictionary(self):
        """All texts: their number, offsets, bytes."""
        count, size = _texts_count(self.handle), _texts_bytes(self.handle)
        offsets, data = (c_uint64 * (count + 1))(), (c_char * max(1, size))()
        _texts_copy(self.handle, offsets, data)
        return count, offsets, data

    def gather(self, column, count):
        """The texts of a result's key: offsets, of 32 bits if that is enough, and bytes."""
        size = _texts_gather_bytes(self.handle, byref(column), count)
        kind = c_uint32 if size < 2**31 else c_uint64
        offsets, data = (kind * (count + 1))(), (c_char * max(1, size))()
        _texts_gather(self.handle, byref(column), count, offsets, ctypes.sizeof(kind), data)
        return offsets, data
