# SPDX-License-Identifier: Apache-2.0
"""Runs kernels of PTX text through the driver API of libwarpage, on arrays of NumPy."""
import ctypes
import os


class Failed(Exception):
    pass


class Driver:
    def __init__(self, library):
        self.cuda = ctypes.CDLL(library)
        context = ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.call("cuCtxSetCurrent", context)

    def call(self, name, *args):
        result = getattr(self.cuda, name)(*args)
        if result != 0:
            text = ctypes.c_char_p()
            self.cuda.cuGetErrorName(result, ctypes.byref(text))
            raise Failed(f"{name}: {(text.value or b'unknown error').decode()}")

    def launch(self, ptx, entry, grid, block, shared_bytes, args):
        """`args`: arrays, which the kernel may change, and scalars of ctypes."""
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), ptx.encode())
        try:
            self.call("cuModuleGetFunction", ctypes.byref(function), module, entry.encode())
            if shared_bytes > 48 << 10:  # 8: CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
                self.call("cuFuncSetAttribute", function, 8, shared_bytes)
            self.start(function, grid, block, shared_bytes, args)
        finally:
            self.call("cuModuleUnload", module)

    def start(self, function, grid, block, shared_bytes, args):
        values, arrays = [], []
        for arg in args:
            if hasattr(arg, "ctypes"):
                at = ctypes.c_uint64()
                self.call("cuMemAlloc_v2", ctypes.byref(at), ctypes.c_size_t(arg.nbytes))
                arrays.append((at, arg))
                self.call("cuMemcpyHtoD_v2", at, arg.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(arg.nbytes))
                arg = at
            values.append(arg)
        pointers = (ctypes.c_void_p * len(values))(*[ctypes.addressof(v) for v in values])
        self.call("cuLaunchKernel", function, *grid, *block, shared_bytes, None, pointers, None)
        self.call("cuCtxSynchronize")
        for at, array in arrays:
            self.call("cuMemcpyDtoH_v2", array.ctypes.data_as(ctypes.c_void_p), at, ctypes.c_size_t(array.nbytes))
            self.call("cuMemFree_v2", at)


def run(cases):
    """Runs each case (a function that yields nothing and raises what is wrong); prints a line for each and how many
    are right. LIBCUDA names the library, the command line the cases."""
    import sys
    names = sys.argv[1:] or list(cases)
    driver = Driver(os.environ["LIBCUDA"])
    right = 0
    for name in names:
        try:
            cases[name](driver)
            right += 1
            print(f"right  {name}")
        except (Failed, AssertionError) as error:
            print(f"FAILED {name}: {' '.join(str(error).split())[:200]}")
        sys.stdout.flush()
    print(f"{right} of {len(names)} right")
    return 0 if right == len(names) else 1
