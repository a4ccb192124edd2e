#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What ptxas makes of a program's kernels: registers, spills, instructions and pairs, by architecture.

    bench/hardware/machine_code.py [--arch 60,75] SOURCE.cu [options of wpcc]

Prints a line a kernel and architecture: registers of a thread, spilled bytes, instructions, how many of them issue
together with the one before (before Volta), and those before each exit (`?`: only of threads for which its predicate is
true); last, all kernels of an architecture together. A kernel without branches executes the instructions before its
first exit in every warp. wpcc writes PTX for sm_70 and later; for earlier GPUs the PTX is relabelled, which
ptxas accepts where a kernel uses nothing newer. ptxas: tools/ptxas.sh, or $WARPAGE_PTXAS; for
sm_35 and sm_37 that of CUDA 11 (tools/ptxas.sh 11).
"""
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def sections(elf):
    """Name and bytes of each section of a 64-bit ELF file."""
    at, size, count, names = struct.unpack_from("<Q", elf, 40)[0], *struct.unpack_from("<HHH", elf, 58)
    heads = [struct.unpack_from("<IIQQQQ", elf, at + size * i) for i in range(count)]
    strings = heads[names][4]
    for name, _, _, _, offset, length in heads:
        end = elf.index(b"\0", strings + name)
        yield elf[strings + name : end].decode(), elf[offset : offset + length]


def instructions(code, arch):
    """(operation, predicate, pair) of each instruction: EXIT, NOP, BRA or nothing; predicate 7 is none; whether it issues
    together with the next one, which a part of the word of control bits before it says."""
    if arch >= 70:  # 128 bits, control included
        names = {0x94D: "EXIT", 0x918: "NOP", 0x947: "BRA"}
        for (word,) in struct.iter_unpack("<Q8x", code):
            yield names.get(word & 0xFFF, ""), word >> 12 & 15, False
    elif arch < 50:  # Kepler: a control word before seven of 64 bits
        names = {(0, 0x1800): "EXIT", (2, 0x8580): "NOP", (0, 0x1200): "BRA"}
        for i, (word,) in enumerate(struct.iter_unpack("<Q", code)):
            if i % 8:
                yield names.get((word & 3, word >> 48 & 0xFF80), ""), word >> 18 & 15, control >> 8 * (i % 8) - 6 & 255 == 4
            else:
                control = word
    else:  # Maxwell, Pascal: a control word before three of 64 bits
        names = {0xE30: "EXIT", 0x50B: "NOP", 0xE24: "BRA"}
        for i, (word,) in enumerate(struct.iter_unpack("<Q", code)):
            if i % 4:
                yield names.get(word >> 52, ""), word >> 16 & 15, control >> 21 * (i % 4 - 1) & 15 == 0
            else:
                control = word


def measure(ptx, arch, ptxas, folder):
    text = re.sub(r"^\.target sm_\d+", f".target sm_{arch}", ptx, flags=re.M) if arch < 70 else ptx
    source, cubin = os.path.join(folder, "x.ptx"), os.path.join(folder, "x.cubin")
    with open(source, "w") as out:
        out.write(text)
    run = subprocess.run([ptxas, "-v", f"-arch=sm_{arch}", source, "-o", cubin], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"ptxas -arch=sm_{arch}: {run.stderr.splitlines()[0]}")
    facts = {}
    for part in re.split(r"Compiling entry function '", run.stderr)[1:]:
        spills = re.search(r"(\d+) bytes spill stores", part)
        used = re.search(r"Used (\d+) registers", part)
        facts[part.split("'")[0]] = int(used[1]), int(spills[1]) if spills else 0
    with open(cubin, "rb") as file:
        elf = file.read()
    total = total_pairs = 0
    for name, code in sections(elf):
        kernel = name.removeprefix(".text.")
        if kernel not in facts or kernel == name:
            continue
        found = list(instructions(code, arch))
        while found and found[-1][0] in ("NOP", "BRA"):  # padding behind the last exit
            found.pop()
        exits = [f"{i + 1}{'' if p == 7 else '?'}" for i, (op, p, _) in enumerate(found) if op == "EXIT"]
        pairs = sum(pair for _, _, pair in found)
        total, total_pairs = total + len(found), total_pairs + pairs
        print(f"{kernel:44} sm_{arch:<3} {facts[kernel][0]:9} {facts[kernel][1]:6} {len(found):12} {pairs:6}  {' '.join(exits)}")
    print(f"{'all':44} sm_{arch:<3} {'':9} {'':6} {total:12} {total_pairs:6}")


def main(arguments):
    archs = [60, 75]
    if arguments[:1] == ["--arch"] and len(arguments) > 1:
        archs = [int(a) for a in arguments[1].split(",")]
        arguments = arguments[2:]
    if not arguments or any(a < 35 for a in archs):
        sys.exit(__doc__.strip())
    ptxas = os.environ.get("WARPAGE_PTXAS", os.path.join(ROOT, "build", "ptxas", "ptxas"))
    if not os.path.exists(ptxas):
        sys.exit("machine_code.py: no ptxas: run tools/ptxas.sh, or set WARPAGE_PTXAS")
    wpcc = shutil.which("wpcc") or os.path.join(ROOT, "build", "release", "bin", "wpcc")
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "kernels.ptx")
        subprocess.run([wpcc, "-w", "-ptx", *arguments, "-o", file], check=True)
        with open(file) as ptx:
            text = ptx.read()
        print(f"{'kernel':44} GPU    registers spills instructions  pairs  exits")
        for arch in archs:
            measure(text, arch, ptxas, folder)


main(sys.argv[1:])
