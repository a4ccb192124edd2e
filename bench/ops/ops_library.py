# SPDX-License-Identifier: Apache-2.0
"""include/warpage/ops.h for Python, by ctypes: group-by of columns that lie in memory."""
import ctypes
import pathlib

TYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]
C_TYPES = [ctypes.c_int8, ctypes.c_int16, ctypes.c_int32, ctypes.c_int64, ctypes.c_uint8, ctypes.c_uint16,
           ctypes.c_uint32, ctypes.c_uint64, ctypes.c_float, ctypes.c_double]
OPS = ["count", "sum", "min", "max", "avg"]
ALL_ROWS = 2**32 - 1


class Error(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_char * 4096)]  # at least a wp_error


class Column(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("values", ctypes.c_void_p), ("valid", ctypes.c_void_p),
                ("valid_offset", ctypes.c_uint64)]

    def at(self, row):
        """The value, or None."""
        if self.valid and not ctypes.cast(self.valid, ctypes.POINTER(ctypes.c_uint8))[row // 8] >> row % 8 & 1:
            return None
        return ctypes.cast(self.values, ctypes.POINTER(C_TYPES[self.type]))[row]


class Key(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("is_nullable", ctypes.c_bool)]


class Aggregate(ctypes.Structure):
    _fields_ = [("op", ctypes.c_int), ("value", ctypes.c_uint32)]


class Options(ctypes.Structure):
    _fields_ = [("strategy", ctypes.c_int), ("placement", ctypes.c_int),
                *[(name, ctypes.c_uint64) for name in ("scope_bytes", "group_count", "row_count", "chunk_bytes",
                                                       "memory_bytes", "thread_count")],
                ("is_sorted", ctypes.c_bool), ("profile", ctypes.c_char_p)]


class Spec(ctypes.Structure):
    _fields_ = [("key_count", ctypes.c_uint32), ("value_count", ctypes.c_uint32), ("aggregate_count", ctypes.c_uint32),
                ("keys", ctypes.POINTER(Key)), ("values", ctypes.POINTER(ctypes.c_int)),
                ("aggregates", ctypes.POINTER(Aggregate)), ("options", Options),
                ("texts", ctypes.c_void_p), ("weights", ctypes.c_void_p)]


class OpsLibrary:
    def __init__(self, path):
        handle, u32, u64 = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64
        self.library = ctypes.CDLL(str(pathlib.Path(path).resolve()))
        for name, result, arguments in (
                ("wp_groupby_open", ctypes.c_int, [handle] * 4),
                ("wp_groupby_add", ctypes.c_int, [handle, handle, handle, u64, handle]),
                ("wp_groupby_finish", ctypes.c_int, [handle] * 3),
                ("wp_groupby_close", None, [handle]),
                ("wp_groupby_explain", ctypes.c_char_p, [handle]),
                ("wp_groups_count", u64, [handle]),
                ("wp_groups_key", ctypes.POINTER(Column), [handle, u32]),
                ("wp_groups_aggregate", ctypes.POINTER(Column), [handle, u32]),
                ("wp_groups_close", None, [handle])):
            function = getattr(self.library, name)
            function.restype, function.argtypes = result, arguments

    def groupby(self, keys, values, aggregates, chunks, **options):
        """Groups of rows as a Groups.

        keys: (type, is_nullable) each; values: a type each; aggregates: (op, value or None) each;
        chunks: (key columns, value columns, rows) each, whose memory lives as long as the call.
        """
        spec = Spec(len(keys), len(values), len(aggregates),
                    (Key * len(keys))(*[Key(TYPES.index(name), nullable) for name, nullable in keys]),
                    (ctypes.c_int * max(1, len(values)))(*[TYPES.index(name) for name in values]),
                    (Aggregate * max(1, len(aggregates)))(*[
                        Aggregate(OPS.index(op), ALL_ROWS if value is None else value) for op, value in aggregates]),
                    Options(**options))
        groupby, groups, error = ctypes.c_void_p(), ctypes.c_void_p(), Error()
        self.check(self.library.wp_groupby_open(None, ctypes.byref(spec), ctypes.byref(groupby), ctypes.byref(error)))
        try:
            for key_columns, value_columns, rows in chunks:
                self.check(self.library.wp_groupby_add(
                    groupby, (Column * len(keys))(*key_columns), (Column * max(1, len(values)))(*value_columns), rows,
                    ctypes.byref(error)))
            self.check(self.library.wp_groupby_finish(groupby, ctypes.byref(groups), ctypes.byref(error)))
            explanation = self.library.wp_groupby_explain(groupby).decode()
        finally:
            self.library.wp_groupby_close(groupby)
        return Groups(self.library, groups, explanation)

    @staticmethod
    def check(status):
        if status != 0:
            raise RuntimeError(f"status {status}")


class Groups:
    def __init__(self, library, handle, explanation):
        self.library, self.handle, self.explanation = library, handle, explanation
        self.count = library.wp_groups_count(handle)

    def key(self, number):
        return self.library.wp_groups_key(self.handle, number).contents

    def aggregate(self, number):
        return self.library.wp_groups_aggregate(self.handle, number).contents

    def close(self):
        self.library.wp_groups_close(self.handle)
        self.handle = None
