#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The ten programs of the software cache: hardware L1, the rule of the thesis and what wpcc --cache does, over no L1.

    bench/cache/ten.py BUILD [--device sim:titan-black] [--programs upper,wc,…] [--json FILE]

Each variant runs with every launch of the program's list; the times are those of the best, summed over kernels. The
thesis's rule caches what loops access that end where data say, and knows no loads of whole lines. The last lines are the
means. On `sim:titan-black` plain launches of `wpcc --cache` choose the hardware's L1 where it has a line for each
thread; "without L1" keeps them from it. Results are checked against a serial loop where that takes no longer than the run.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

STREAMED = "--variant single --buffer 16MiB --blocks 15 --threads"
PROGRAMS = {  # name: program, launches
    "upper": ("cache-upper", [f"--check --size 4MiB --threads {t}" for t in (256, 512, 1024)]),
    "wc": ("cache-wc", [f"--check --size 4MiB --threads {t}" for t in (256, 512, 1024)]),
    "DNA Assembly": ("cached-stream-dna", [f"--check --size 32K {STREAMED} {t}" for t in (256, 512)]),
    "Opinion Finder": ("cached-stream-opinion", [f"--check --size 16K {STREAMED} {t}" for t in (256, 512)]),
    "Inverted Index": ("cached-inverted-index", ["--check --size 32K --heap 8MiB"]),
    "Page View Count": ("cached-pvc", ["--check --size 8K --each 16", "--check --size 8K --each 1"]),
    "MasterCard Affinity": ("cached-stream-affinity", [f"--check --size 16K {STREAMED} {t}" for t in (128, 256)]),
    "Matrix Multiply": ("cached-sgemm", ["--check --naive --size 64K"]),
    "grep": ("cache-grep", [f"--check --size 64KiB --threads {t}" for t in (128, 256)]),
    "K-means": ("cached-kmeans", ["--check --size 64K --iterations 1"]),
}
PLAIN = {"WARPAGE_SOFTWARE_CACHE": "off"}
VARIANTS = {  # name: hardware L1, environment
    "no L1": ("off", PLAIN),
    "hardware L1": ("on", PLAIN),
    "thesis": ("off", {"WARPAGE_SOFTWARE_CACHE_RUNS": "off", "WARPAGE_SOFTWARE_CACHE_DATA_EXITS": "on",
                       "WARPAGE_SOFTWARE_CACHE_L1": "off"}),
    "without L1": ("off", {"WARPAGE_SOFTWARE_CACHE_L1": "off"}),  # wpcc --cache that never chooses the hardware's L1
    "wpcc --cache": ("off", {}),
    "both": ("on", {}),  # wpcc --cache with the hardware's L1
}


def run(options, program, arguments, variant, folder):
    """The kernels' time."""
    hardware, environment = VARIANTS[variant]
    record = os.path.join(folder, "record.json")
    environment = dict(os.environ, WARPAGE_DEVICE=options.device, WARPAGE_RUN_RECORD=record,
                       WARPAGE_SOFTWARE_CACHE_COUNTS="off", **environment)
    if options.device.startswith("sim:"):
        environment["WARPAGE_SET"] = f"l1.on={hardware}"
        if hardware == "on" and options.device == "sim:titan-black":  # Kepler's other split
            environment["WARPAGE_SET"] += ";l1.bytes=48KiB;shared.bytes=16KiB;shared.cta_bytes=16KiB"
    command = [os.path.join(options.build, "apps", program), *arguments.split()]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{variant}: {' '.join(command)}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    with open(record) as file:
        return sum(kernel["time_ns"] for kernel in json.load(file)["kernels"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--device", default="sim:titan-black")
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--json")
    options = parser.parse_args()
    variants = [v for v in VARIANTS if options.device.startswith("sim:") or VARIANTS[v][0] == "off"]
    rows, names = {}, options.programs.split(",")
    print(f"{options.device}, best launch of each; times over no L1 are how many times as fast")
    print(f"{'':20} {'no L1':>12}" + "".join(f"{v:>14}" for v in variants[1:]))
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            program, launches = PROGRAMS[name]
            rows[name] = {v: min(run(options, program, a, v, folder) for a in launches) for v in variants}
            plain = rows[name]["no L1"]
            print(f"{name:20} {plain / 1e3:>9.1f} us" + "".join(f"{plain / rows[name][v]:>14.2f}" for v in variants[1:]),
                  flush=True)
    for base in variants[:2]:
        means = [sum(rows[n][base] / rows[n][v] for n in names) / len(names) for v in variants[1:]]
        least = [min(rows[n][base] / rows[n][v] for n in names) for v in variants[1:]]
        print(f"{'mean over ' + base:33}" + "".join(f"{m:>14.2f}" for m in means))
        print(f"{'least over ' + base:33}" + "".join(f"{m:>14.2f}" for m in least))
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"device": options.device, "times_ns": rows}, file, indent=2)
            file.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
