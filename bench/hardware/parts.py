#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What each part of the model adds to a kernel's simulated time: the time with that part ideal, over the time measured
on the GPU.

    bench/hardware/parts.py PROGRAMS [--build build/release] [--dry]

PROGRAMS: the folder that bench/hardware/programs.sh makes. Rows are the largest of each kernel in repro/hardware. A part
by which a kernel gets much faster is what it waits for in the model; where ours over measured is below 1 with nothing
ideal, no part of the model can be the cause, but one that it lacks. sm.code = ptxas where ptxas is found ($PATH,
$WARPAGE_PTXAS). Writes bench/results/<date>-hardware-parts.md.
"""
import argparse
import datetime
import functools
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import about  # noqa: E402

CLASSES = ["int", "imul", "fp16", "fp32", "fp64", "special", "convert", "control", "constant", "local", "warp", "sync", "shift",
           "compare"]
PARTS = {  # ideal: as fast as the keys allow
    "nothing": "",
    "issue": "sm.issue_width=16",
    "pipes": ";".join(f"class.{name}.lanes=4096" for name in CLASSES),
    "dependences": ";".join(f"class.{name}.latency=1cycle" for name in CLASSES),
    "shared memory": "shared.latency=1cycle;shared.banks=32",
    "L1": "l1.latency=1cycle;l1.mshrs=512;l1.ways=64",
    "L2": "l2.latency=1cycle;l2.bandwidth=65536B/cycle;l2.sm_bandwidth=4096B/cycle;l2.mshrs=4096",
    "DRAM": "dram.latency=1ns;dram.bandwidth=100000GB/s;dram.turnaround=0ns",
    "TLB": "tlb.l1.entries=65536;tlb.l1.latency=0cycles;walker.level_latency=1cycle",
    "start": "gpu.kernel_overhead=0ns;gpu.cta_interval=0ns",
}
GPUS = {"p100": "gpu.core_clock=1303MHz", "v100": "gpu.core_clock=1132MHz;gpu.kernel_overhead=2526cycles"}
ROWS = {  # GPU: program and arguments, kernel, grid, measured time in us
    "p100": [(("backprop", "65536"), "bpnn_adjust_weights_cuda", 45), (("backprop", "65536"), "bpnn_layerforward_CUDA", 58),
             (("hotspot", "64", "2", "2", "temp_64", "power_64", "/dev/null"), "calculate_temp", 3),
             (("hotspot", "1024", "2", "2", "temp_1024", "power_1024", "/dev/null"), "calculate_temp", 127),
             (("lud", "-s", "256"), "lud_diagonal", 17)],
    "v100": [(("backprop", "65536"), "bpnn_adjust_weights_cuda", 32578.4 / 1132),
             (("backprop", "65536"), "bpnn_layerforward_CUDA", 23324.8 / 1132),
             (("hotspot", "1024", "2", "2", "temp_1024", "power_1024", "/dev/null"), "calculate_temp", 56438.8 / 1132)],
}


@functools.cache
def kernel_times_us(build, folder, device, settings, arguments):
    """By a part of the kernel's name: its mean time."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        command = [build / "bin/warpage", "run", "--device", device]
        for setting in filter(None, settings.split(";")):
            command += ["--set", setting]
        done = subprocess.run([*command, "--report", report.name, os.path.join(".", arguments[0]), *arguments[1:]], cwd=folder,
                              capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))}: {done.stderr[-500:]}")
        kernels = json.load(open(report.name))["kernels"]
    return {k["name"]: k["time_ns"] / k["launches"] / 1000 for k in kernels}


def table(build, folder, gpu, code):
    lines = [f"## {gpu.upper()}, sm.code = {code}\n", "| kernel | " + " | ".join(PARTS) + " |", "|---|" + "---|" * len(PARTS)]
    for arguments, kernel, measured_us in ROWS[gpu]:
        cells = []
        for keys in PARTS.values():
            times = kernel_times_us(build, folder, f"sim:{gpu}", f"{GPUS[gpu]};sm.code={code};{keys}", arguments)
            cells.append(f"{next(t for name, t in times.items() if kernel in name) / measured_us:.2f}")
        lines.append(f"| {kernel}, {' '.join(arguments[:2])} | " + " | ".join(cells) + " |")
    return lines + [""]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--dry", action="store_true", help="print the tables only")
    options = parser.parse_args()
    lines = []
    for gpu in GPUS:
        for code in ("estimate", "ptxas"):
            lines += table(options.build, options.programs, gpu, code)
    print("\n".join(lines))
    if options.dry:
        return
    today = datetime.date.today().isoformat()
    page = ROOT / f"bench/results/{today}-hardware-parts.md"
    page.write_text(f"# What each part of the model adds to kernels\n\n{today}, commit {about.output_of(['git', 'rev-parse', '--short=12', 'HEAD'])}. "
                    "`bench/hardware/parts.py`\n\nSimulated time with one part ideal, over the time measured on the GPU "
                    "(sources: `repro/hardware`).\n\n" + "\n".join(lines))


if __name__ == "__main__":
    main()
