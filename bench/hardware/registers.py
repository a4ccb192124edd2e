#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Registers of kernels: the estimate of simulated GPUs beside what ptxas takes.

    bench/hardware/registers.py [--arch 35,60,70] [--all] SOURCE.cu... [-- options of wpcc]

Prints, by architecture, the ratio of the estimate to ptxas's registers (geometric mean), the mean error of its
logarithm, and that of the warps that an SM of 65,536 registers and 64 warps has of them; for all kernels, and for those
with more than 32 registers, as only these leave an SM fewer warps. --all: a line a kernel, too. Sources that do not
compile by themselves are left out, and counted. ptxas: that of CUDA 11 (tools/ptxas.sh 11), or $WARPAGE_PTXAS.
"""
import argparse
import math
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
WPCC = os.path.join(ROOT, "build", "release", "bin", "wpcc")
PTXAS = os.environ.get("WARPAGE_PTXAS") or os.path.join(ROOT, "build", "ptxas", "11", "ptxas")


def run(*command):
    return subprocess.run(command, capture_output=True, text=True)


def estimates(source, options, folder):
    """Registers of each kernel by its mangled name, as the code that a simulated GPU runs has them; None: no code."""
    bitcode = os.path.join(folder, "x.bc")
    if run(WPCC, "-x", "cu", *options, "-emit-llvm", source, "-o", bitcode).returncode != 0:
        return None
    made = run(WPCC, "--variant=trace", "--resource-usage", bitcode, "-o", os.path.join(folder, "x.so"))
    return {name: int(count) for name, count in re.findall(r"^wpcc: (\S+): about (\d+) registers", made.stderr, re.M)}


def assembled(source, options, arch, folder):
    """As above, by ptxas. wpcc's PTX is for sm_70; ptxas takes it for earlier GPUs where it uses nothing newer."""
    ptx, cubin = os.path.join(folder, "x.ptx"), os.path.join(folder, "x.cubin")
    if run(WPCC, "-x", "cu", *options, "-ptx", source, "-o", ptx).returncode != 0:
        return {}
    with open(ptx) as file:
        text = re.sub(r"^\.target sm_\d+", f".target sm_{arch}", file.read(), flags=re.M)
    with open(ptx, "w") as file:
        file.write(re.sub(r"^\.version.*", ".version 7.0", text, count=1, flags=re.M))
    talk = run(PTXAS, "-v", f"-arch=sm_{arch}", ptx, "-o", cubin).stderr
    found = {}
    for part in re.split(r"Compiling entry function '", talk)[1:]:
        used = re.search(r"Used (\d+) registers", part)
        if used:
            found[part.split("'")[0]] = int(used[1])
    return found


def warps(registers):
    return min(64, 65536 // 32 // max(16, registers))


def summary(rows):
    errors = [math.log(max(16, ours) / max(16, theirs)) for ours, theirs in rows]
    lost = [abs(math.log(warps(ours) / warps(theirs))) for ours, theirs in rows]
    n = len(rows)
    return f"{n:5}  {math.exp(sum(errors) / n):6.2f}  {sum(map(abs, errors)) / n:6.3f}  {sum(lost) / n:6.3f}"


def main():
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    parser.add_argument("--arch", default="35,60,70")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("sources", nargs="+")
    words = sys.argv[1:]
    options = words[words.index("--") + 1 :] if "--" in words else []
    given = parser.parse_args(words[: len(words) - len(options) - 1] if options else words)
    architectures, failed = given.arch.split(","), 0
    rows = {arch: [] for arch in architectures}
    with tempfile.TemporaryDirectory() as folder:
        for source in given.sources:
            near = [f"-I{os.path.dirname(os.path.abspath(source))}", f"-I{ROOT}/apps", f"-I{ROOT}/include", *options]
            ours = estimates(source, near, folder)
            failed += ours is None
            for arch in architectures if ours else []:
                for name, theirs in assembled(source, near, arch, folder).items():
                    if name in ours:
                        rows[arch].append((ours[name], theirs))
                        if given.all:
                            print(f"sm_{arch} {ours[name]:4} {theirs:4} {ours[name] / theirs:5.2f}  {name}  {source}")
    print(f"sources: {len(given.sources)}, of which {failed} do not compile by themselves")
    print("                   kernels   ratio   error   warps")
    for arch in architectures:
        for text, least in ("all", 0), ("above 32", 33):
            chosen = [row for row in rows[arch] if row[1] >= least]
            if chosen:
                print(f"sm_{arch}  {text:9}  {summary(chosen)}")


if __name__ == "__main__":
    main()
