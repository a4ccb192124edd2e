#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Operations of a simulated SM beside published numbers: how long one takes that the next one needs, and how many an SM
executes in a cycle.

    bench/hardware/operations.py [--build build/release] [--set KEY=VALUE]... [--dry] [--check SHARE] [GPU]...

Compiles bench/hardware/operations.cu by wpcc and runs it on the simulated GPUs (k80 p100 gtx1080ti v100 a100 h200). Latencies were
measured by Arafa et al. ("Low Overhead Instruction Latency Characterization for NVIDIA GPGPUs", HPEC 2019: Kepler, Pascal,
Volta); throughputs are the table of arithmetic instructions in the CUDA C++ Programming Guide, by compute capability. Writes
bench/results/<date>-hardware-operations.md. --check: exit status 1 if an operation is further off than SHARE (0.25), those in
APART left out.
"""
import argparse
import datetime
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import about  # noqa: E402

ROUNDS, UNROLLED, THREADS = 8, 16, 1024  # of operations.cu
CLOCKS_MHZ = {"k80": 875, "p100": 1480, "gtx1080ti": 1481, "v100": 1380, "a100": 1410, "h200": 1755}

# Cycles of one round of a chain. Of two operations in a round (an addition beside the one in question): their sum.
LATENCIES = {
    "add_xor": ("integer addition and logic", {"k80": 18, "p100": 12, "v100": 8}),
    "mul": ("integer product", {"k80": 9, "p100": 13, "v100": 4}),
    "mad": ("integer product and sum", {"k80": 9, "p100": 13, "v100": 4}),
    "mulhi": ("upper half of a product, and logic", {"k80": 18, "p100": 24, "v100": 16}),
    "udiv": ("unsigned division", {"k80": 131, "p100": 139, "v100": 122}),
    "sdiv": ("signed division", {"k80": 149, "p100": 153, "v100": 127}),
    "urem": ("unsigned remainder", {"k80": 116, "p100": 130, "v100": 117}),
    "srem": ("signed remainder", {"k80": 132, "p100": 144, "v100": 125}),
    "popc": ("count of bits, and an addition", {"k80": 18, "p100": 19, "v100": 19}),
    "fadd": ("float addition", {"k80": 9, "p100": 6, "v100": 4}),
    "ffma": ("float multiply-add", {"k80": 9, "p100": 6, "v100": 4}),
    "rsqrt": ("reciprocal square root, approximate", {"k80": 40, "p100": 35, "v100": 31}),
    "rcp": ("float reciprocal", {"k80": 377, "p100": 266, "v100": 60}),
    "sqrt": ("float square root", {"k80": 432, "p100": 282, "v100": 60}),
    "fdiv": ("float division", {"k80": 418, "p100": 408, "v100": 201}),
    "exp2": ("power of 2", {"k80": 49, "p100": 41, "v100": 22}),
    "dadd": ("double addition", {"k80": 10, "p100": 8, "v100": 8}),
    "dfma": ("double multiply-add", {"k80": 10, "p100": 8, "v100": 8}),
    "ddiv": ("double division", {"k80": 445, "p100": 545, "v100": 159}),
    "shared": ("load from shared memory, and its address", {"k80": 35, "p100": 31, "v100": 22}),
}
# Operations a cycle and SM; and how many of them a round has.
THROUGHPUTS = {
    "ffma": ("float multiply-add", 1, {"k80": 192, "p100": 64, "gtx1080ti": 128, "v100": 64, "a100": 64, "h200": 128}),
    "add": ("integer addition and logic", 2, {"k80": 160, "p100": 64, "gtx1080ti": 128, "v100": 64, "a100": 64, "h200": 64}),
    "mul": ("integer product", 1, {"k80": 32, "v100": 64, "a100": 64, "h200": 64}),
    "dfma": ("double multiply-add", 1, {"k80": 64, "p100": 32, "gtx1080ti": 4, "v100": 32, "a100": 32, "h200": 64}),
    "special": ("special function", 1, {"k80": 32, "p100": 16, "gtx1080ti": 32, "v100": 16, "a100": 16, "h200": 16}),
    "convert": ("conversion", 2, {"k80": 32, "p100": 16, "gtx1080ti": 32, "v100": 16, "a100": 16, "h200": 64}),
    "shuffle": ("shuffle", 1, {"k80": 32, "p100": 32, "gtx1080ti": 32, "v100": 32, "a100": 32, "h200": 32}),
}
# Where the published chain takes another way than a kernel's usual values do, so that the numbers are no aim.
APART = {("latency", name, gpu): "its chain ends in values that take the slow path, a function of some hundred cycles" for name, gpus in
         {"rcp": ("k80", "p100"), "sqrt": ("k80", "p100"), "fdiv": ("k80", "p100", "v100"), "ddiv": ("k80", "p100")}.items() for gpu in gpus}


def compile_program(build, folder):
    program = folder / "operations"
    done = subprocess.run([build / "bin/wpcc", "-O2", ROOT / "bench/hardware/operations.cu", "-o", program], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"wpcc: {done.stderr[-800:]}")
    return program


def kernel_times_ns(build, program, gpu, settings, folder):
    """By name and operations in the loop: ("latency_mul", 16)."""
    report = folder / f"{gpu}.json"
    command = [build / "bin/warpage", "run", "--device", f"sim:{gpu}", "--set", f"gpu.core_clock={CLOCKS_MHZ[gpu]}MHz"]
    for setting in settings:
        command += ["--set", setting]
    done = subprocess.run([*command, "--report", report, program], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr[-500:]}")
    times = {}
    for kernel in json.load(open(report))["kernels"]:
        name, _, rest = kernel["display_name"].removeprefix("void ").partition("<")
        if name.startswith(("latency_", "throughput_")):
            times[name, int(rest.partition(">")[0])] = kernel["time_ns"]
    return times


def ours(times, gpu, kind, name, each):
    cycles = (times[f"{kind}_{name}", 2 * UNROLLED] - times[f"{kind}_{name}", UNROLLED]) * CLOCKS_MHZ[gpu] / 1000
    operations = ROUNDS * UNROLLED
    return cycles / operations if kind == "latency" else THREADS * operations * each / max(cycles, 1e-9)


def rows_of(times, gpu):
    """(kind, name, title, ours, published)"""
    rows = [("latency", name, title, ours(times, gpu, "latency", name, 1), published.get(gpu)) for name, (title, published) in LATENCIES.items()]
    return rows + [("throughput", name, title, ours(times, gpu, "throughput", name, each), published.get(gpu))
                   for name, (title, each, published) in THROUGHPUTS.items()]


def is_off(row, gpu, share):
    kind, name, _, value, published = row
    return published is not None and (kind, name, gpu) not in APART and abs(value - published) > share * published + 0.5


def table(kind, unit, gpus, all_rows):
    gpus = [gpu for gpu in gpus if any(row[0] == kind and row[4] is not None for row in all_rows[gpu])]
    if not gpus:
        return []
    lines = [f"## {kind.capitalize()}, {unit}\n", "| operation | " + " | ".join(gpus) + " |", "|---|" + "---|" * len(gpus)]
    for i, row in enumerate(all_rows[gpus[0]]):
        if row[0] != kind:
            continue
        cells = []
        for gpu in gpus:
            _, name, _, value, published = all_rows[gpu][i]
            mark = " *" if (kind, name, gpu) in APART else ""
            cells.append(f"{value:.1f} ({published}{mark})" if published is not None else "–")
        lines.append(f"| {row[2]} | " + " | ".join(cells) + " |")
    return lines + [""]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpus", nargs="*", metavar="GPU")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--set", action="append", default=[], dest="settings", metavar="KEY=VALUE")
    parser.add_argument("--check", type=float, metavar="SHARE", help="exit status 1 if an operation is further off")
    parser.add_argument("--dry", action="store_true", help="print the tables only")
    options = parser.parse_args()
    gpus = options.gpus or list(CLOCKS_MHZ)
    unknown = [gpu for gpu in gpus if gpu not in CLOCKS_MHZ]
    if unknown:
        sys.exit(f"operations.py: no published numbers of {unknown[0]}: one of {' '.join(CLOCKS_MHZ)}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = compile_program(options.build, folder)
        all_rows = {gpu: rows_of(kernel_times_ns(options.build, program, gpu, options.settings, folder), gpu) for gpu in gpus}
    lines = table("latency", "cycles", gpus, all_rows) + table("throughput", "operations a cycle and SM", gpus, all_rows)
    off = [(gpu, row) for gpu in gpus for row in all_rows[gpu] if is_off(row, gpu, options.check or 0.25)]
    lines += [f"{len(off)} of {sum(row[4] is not None and (row[0], row[1], gpu) not in APART for gpu in gpus for row in all_rows[gpu])} "
              f"are off by more than {100 * (options.check or 0.25):.0f} %:\n"]
    lines += [f"- {gpu}: {row[0]} of {row[2]}, {row[3]:.1f} for {row[4]}" for gpu, row in off] + [""]
    print("\n".join(lines))
    if not options.dry:
        today = datetime.date.today().isoformat()
        commit = about.output_of(["git", "rev-parse", "--short=12", "HEAD"])
        (ROOT / f"bench/results/{today}-hardware-operations.md").write_text(
            f"# Operations of an SM beside published numbers\n\n{today}, commit {commit}. `bench/hardware/operations.py`\n\nSimulated, and published in "
            "brackets: latencies by Arafa et al. (HPEC 2019), throughputs of the CUDA C++ Programming Guide. The programs are compiled by "
            "wpcc, instructions estimated (`sm.code = estimate`).\n\n\\* " + next(iter(APART.values())) + ": no aim.\n\n" + "\n".join(lines))
    return 1 if options.check is not None and off else 0


if __name__ == "__main__":
    sys.exit(main())
