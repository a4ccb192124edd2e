# SPDX-License-Identifier: Apache-2.0
"""The functions of include/warpage/table.h and table_rows.h, by ctypes."""
import ctypes
import functools
from ctypes import POINTER, Structure, byref, c_bool, c_char_p, c_int, c_uint32, c_uint64, c_void_p
from warpage import native
from warpage.native import Error, FileError, SumError

ORGANISATIONS = ["basic", "multi-valued", "combining"]
COMBINERS = ["add", "min", "max", "or"]
BY_CALLBACK = 4
OFFSETS_32, OFFSETS_64, VIEWS, FIXED, SIGNED, UNSIGNED, FLOATS, CONSTANT = range(8)
NUMBERS = ["int64", "uint64", "float64"]


class Spec(Structure):
    _fields_ = [("organisation", c_int), ("combiner", c_int), ("bucket_count", c_uint64), ("buckets_per_group", c_uint64),
                ("heap_bytes", c_uint64), ("page_bytes", c_uint64), ("halt_pct", c_uint32), ("postpone_pct", c_uint32),
                ("seed", c_uint64), ("heap_kind", c_int), ("host_bytes", c_uint64), ("spill_folder", c_char_p)]


class Report(Structure):
    _fields_ = [(name, c_uint64) for name in (
        "passes", "heap_bytes", "page_bytes", "pages", "bucket_count", "groups", "table_bytes", "unused_bytes",
        "to_host_bytes", "to_device_bytes", "pages_kept", "host_bytes", "file_bytes")]


class Pair(Structure):
    _fields_ = [("key", c_void_p), ("value", c_void_p), ("key_bytes", c_uint64), ("value_bytes", c_uint64)]


class Cursor(Structure):
    _fields_ = [("bucket", c_uint64), ("entry", c_uint64), ("value", c_uint64), ("run", c_uint64), ("pairs", c_uint64)]


class Rows(Structure):
    """Frees its memory."""

    _fields_ = [("count", c_uint64), ("key_offsets", POINTER(c_uint64)), ("value_offsets", POINTER(c_uint64)),
                ("keys", c_void_p), ("values", c_void_p)]

    def __del__(self):
        if library is not None:  # the interpreter may be at its end
            library().wp_table_rows_deinit(byref(self))


class Column(Structure):
    _fields_ = [("layout", c_int), ("item_bytes", c_uint32), ("items", c_void_p), ("buffers", POINTER(c_void_p)),
                ("valid", c_void_p), ("valid_offset", c_uint64)]


@functools.lru_cache(maxsize=None)
def library():
    """libwarpage."""
    loaded = native.devices()

    def declare(name, result, *arguments):
        native.declare(name, result, *arguments, library=loaded)

    declare("wp_table_create", c_int, c_void_p, POINTER(Spec), POINTER(c_void_p), POINTER(Error))
    declare("wp_table_close", None, c_void_p)
    declare("wp_table_add_rows", c_int, c_void_p, POINTER(Column), POINTER(Column), c_uint64, c_void_p, c_uint32, POINTER(Error))
    declare("wp_table_settle_rows", c_int, c_void_p, POINTER(Error))
    declare("wp_table_number_combine", c_void_p, c_int, c_int)
    declare("wp_table_get_organisation", c_int, c_void_p)
    declare("wp_table_get_report", None, c_void_p, POINTER(Report))
    declare("wp_table_take_rows", c_int, c_void_p, POINTER(Cursor), c_uint64, POINTER(Rows), POINTER(Error))
    declare("wp_table_find_next", c_bool, c_void_p, c_char_p, c_uint64, POINTER(Cursor), POINTER(Pair))
    declare("wp_table_check", c_int, c_void_p, POINTER(Cursor), POINTER(Error))
    declare("wp_table_pair_count", c_uint64, c_void_p)
    declare("wp_table_key_count", c_uint64, c_void_p)
    declare("wp_table_save", c_int, c_void_p, c_char_p, POINTER(Error))
    declare("wp_table_open", c_int, c_char_p, POINTER(c_void_p), POINTER(Error))
    declare("wp_table_map", c_int, c_char_p, POINTER(c_void_p), POINTER(Error))
    return loaded


_FILE_STATUSES = (3, 4, 5)  # of wp_status: NOT_FOUND, IO, PARSE


def check(status, error):
    if status == 0:
        return
    message = error.message.decode(errors="replace")
    error.message = message[7:].encode() if message.startswith("table: ") else error.message
    if "does not fit 64 bits" in message:
        raise SumError(error.message.decode())
    if status in _FILE_STATUSES:
        raise FileError(message)
    native.check(status, error)
