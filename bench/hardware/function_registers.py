#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Registers with which functions of the device library and divisions work, by ptxas.

    bench/hardware/function_registers.py [--arch 35,60,70]

A kernel of one function each, `z[i] = f(x[i], y[i])`: its registers less those of the kernel of a product. Prints a line
a function: the mean over the architectures, then each. src/compiler/ir/function_registers.c has the means. ptxas: that
of CUDA 11 (tools/ptxas.sh 11), or $WARPAGE_PTXAS.
"""
import argparse
import os
import tempfile

import registers

FUNCTIONS = ("exp exp2 exp10 expm1 log log2 log10 log1p pow sqrt rsqrt cbrt rcbrt hypot sin cos tan sinpi cospi asin acos atan "
             "atan2 sinh cosh tanh asinh acosh atanh erf erfc erfcx erfinv erfcinv normcdf normcdfinv lgamma tgamma fmod "
             "remainder j0 y0").split()
TWO = {"pow", "hypot", "atan2", "fmod", "remainder"}
INTEGERS = {"int": "sdiv", "unsigned": "udiv", "long long": "sdiv64", "unsigned long long": "udiv64"}
KERNEL = """__global__ void {name}({type} *x, const {type} *y, {type} *z)
{{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    {type} a = x[i], b = y[i];
    z[i] = {value};
}}
"""


def kernels():
    """(name, type, expression) of each kernel; a product is the first of its type."""
    for type, suffix in (("double", ""), ("float", "f")):
        yield "mul_" + type, type, "a * b"
        yield "fdiv" + ("64" if type == "double" else ""), type, "a / b"
        for function in FUNCTIONS:
            yield "__nv_" + function + suffix, type, f"{function}{suffix}({'a, b' if function in TWO else 'a'})"
    for type, name in INTEGERS.items():
        yield "mul_" + name, type, "a * b"
        yield name, type, "a / b"
        yield name.replace("div", "rem"), type, "a % b"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--arch", default="35,60,70")
    arches = options.parse_args().arch.split(",")
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "functions.cu")
        with open(source, "w", encoding="utf-8") as file:
            for name, type, value in kernels():
                file.write('extern "C" ' + KERNEL.format(name="k" + name, type=type, value=value))
        taken = [registers.assembled(source, [], arch, folder) for arch in arches]
        base = None
        for name, _, _ in kernels():
            if name.startswith("mul_"):
                base = [of["k" + name] for of in taken]
                continue
            more = [of["k" + name] - b for of, b in zip(taken, base)]
            print(f"{name:20}{sum(more) / len(more):6.1f}   ", *more)


if __name__ == "__main__":
    main()
