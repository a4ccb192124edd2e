#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The ten programs of the software cache, in every variant on every device: each result against a serial loop in C. Then
four of them over data that are streamed, as written, with what wpcc --cache does and with everything cached.

    bench/cache/variants.py BUILD [--devices cpu,sim:titan-black,cuda:0] [--programs NAME,…]

Variants are the kernels as written (plain), what wpcc --cache does by default (cache), the rule of the thesis (thesis: no
loads of whole lines, loops that end where data say included), everything cached that hits once (all) and nothing (none).
Inputs are small: a run takes a few seconds at most. cuda:0 is a stand-in for the driver that executes the PTX, if the
build has it. Prints seconds, kernel time and lines filled of each run; exit status 1 if one fails.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

STREAMED = "--variant single --buffer 2MiB --blocks 2 --threads 64"
OVER_LINK = "--variant full --buffer 256KiB --blocks 2 --threads 64"
PROGRAMS = {
    "cache-upper": "--size 256KiB --threads 64",
    "cache-wc": "--size 256KiB --threads 64",
    "cached-stream-dna": f"--size 512 {STREAMED}",
    "cached-stream-opinion": f"--size 128 {STREAMED}",
    "cached-inverted-index": "--size 8K --heap 1MiB --block-threads 64",
    "cached-pvc": "--size 256 --each 16",
    "cached-stream-affinity": f"--size 512 {STREAMED}",
    "cached-sgemm": "--naive --m 16 --n 32 --k 96",
    "cache-grep": "--size 8KiB --threads 64",
    "cached-kmeans": "--size 512 --iterations 2",
    "cached-stream-wc streamed": f"--size 64K {OVER_LINK}",
    "cached-stream-dna streamed": f"--size 512 {OVER_LINK}",
    "cached-stream-opinion streamed": f"--size 128 {OVER_LINK}",
    "cached-stream-affinity streamed": f"--size 256 {OVER_LINK}",
}
OF_STREAMED = ("plain", "cache", "all")
THESIS = {"WARPAGE_SOFTWARE_CACHE_RUNS": "off", "WARPAGE_SOFTWARE_CACHE_DATA_EXITS": "on",
          "WARPAGE_SOFTWARE_CACHE_L1": "off"}
VARIANTS = {
    "plain": {"WARPAGE_SOFTWARE_CACHE": "off"},
    "cache": {},
    "thesis": THESIS,
    "all": dict(THESIS, WARPAGE_SOFTWARE_CACHE_HITS_PCT="0", WARPAGE_SOFTWARE_CACHE_THRESHOLD="8"),
    "none": dict(THESIS, WARPAGE_SOFTWARE_CACHE_HITS_PCT="100"),
}


def run(build, device, program, variant, folder):
    """What is printed, and whether it is right."""
    record = os.path.join(folder, "record.json")
    environment = dict(os.environ, WARPAGE_DEVICE=device, WARPAGE_RUN_RECORD=record, **VARIANTS[variant])
    if device.startswith("cuda"):
        environment["WARPAGE_LIBCUDA"] = os.path.join(build, "tests/libfake_cuda.so")
    start = time.time()
    command = [os.path.join(build, "apps", program.split()[0]), *PROGRAMS[program].split(), "--check"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    seconds = time.time() - start
    if done.returncode != 0:
        return f"{seconds:6.1f} s  WRONG, exit status {done.returncode}: {(done.stdout + done.stderr)[-400:]}", False
    with open(record) as file:
        result = json.load(file)
    time_us = sum(k["time_ns"] for k in result["kernels"]) / 1e3
    lines = sum(c["filled_lines"] for c in result.get("cached", []))
    runs = sum(c["runs"] for c in result.get("cached", []))
    return f"{seconds:6.1f} s  kernels {time_us:12.1f} us  lines filled {lines:8}  runs {runs:6}", True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--devices", default="cpu,sim:titan-black,cuda:0")
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--variants", default=",".join(VARIANTS))
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    failures = count = 0
    with tempfile.TemporaryDirectory() as folder:
        for device in options.devices.split(","):
            if device.startswith("cuda") and not os.path.exists(os.path.join(build, "tests/libfake_cuda.so")):
                print(f"{device}: left out: the build has no tests/libfake_cuda.so")
                continue
            for program in options.programs.split(","):
                for variant in options.variants.split(","):
                    if program.endswith(" streamed") and variant not in OF_STREAMED:
                        continue
                    text, is_right = run(build, device, program, variant, folder)
                    print(f"{device:16} {program:32} {variant:8} {text}", flush=True)
                    failures += not is_right
                    count += 1
    print(f"{count} runs, {failures} wrong")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
