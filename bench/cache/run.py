#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The software cache against the hardware's L1, no L1, loads of 16 bytes by hand and a tile that a block loads together.

    bench/cache/run.py BUILD [--device sim:titan-black] [--input FILE] [--size 2MiB] [--json FILE]

Runs apps/cache-wc and apps/cache-upper, which were compiled with wpcc --cache, with every block size and number of
blocks an SM of a stated list, and prints the best kernel time of each variant and its launch; --all prints every launch. On
a device without keys (cpu, cuda:0) the hardware's L1 is as it is, and that variant is left out.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

VARIANTS = [  # name, form, software cache, hardware L1, loads of whole lines
    ("no L1", "bytes", "off", "off", "off"),
    ("hardware L1", "bytes", "off", "on", "off"),
    ("lines only", "bytes", "on", "off", "off"),  # wpcc --cache without loads of whole lines
    ("wpcc --cache", "bytes", "on", "off", "on"),
    ("16 bytes by hand", "vectors", "off", "off", "off"),
    ("tile of the block", "tile", "off", "off", "off"),  # wc only
]
APPS = {"cache-wc": "wc", "cache-upper": "upper"}


def launches(text):
    return [tuple(int(n) for n in pair.split("x")) for pair in text.split(",")]


def run(options, app, variant, launch, folder):
    _, form, software, hardware, runs = variant
    record = os.path.join(folder, "record.json")
    environment = dict(os.environ, WARPAGE_DEVICE=options.device, WARPAGE_SOFTWARE_CACHE=software,
                       WARPAGE_SOFTWARE_CACHE_RUNS=runs, WARPAGE_SOFTWARE_CACHE_COUNTS="off", WARPAGE_RUN_RECORD=record)
    if options.device.startswith("sim:"):
        environment["WARPAGE_SET"] = f"l1.on={hardware}"
        if hardware == "on" and options.device == "sim:titan-black":  # Kepler's other split
            environment["WARPAGE_SET"] += ";l1.bytes=48KiB;shared.bytes=16KiB;shared.cta_bytes=16KiB"
    command = [os.path.join(options.build, "apps", app), "--form", form, "--check", "--blocks-per-sm", str(launch[0]),
               "--threads", str(launch[1])]
    command += ["--input", options.input] if options.input else ["--size", options.size]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    with open(record) as file:
        kernel = json.load(file)["kernels"][0]
    return kernel["time_ns"]


def measure(options, app, folder):
    rows = []
    for variant in VARIANTS:
        if variant[3] == "on" and not options.device.startswith("sim:"):
            continue
        if variant[1] == "tile" and app != "cache-wc":
            continue
        times = {launch: run(options, app, variant, launch, folder) for launch in options.launches}
        best = min(times, key=times.get)
        rows.append({"variant": variant[0], "time_ns": times[best], "blocks_per_sm": best[0], "threads": best[1],
                     "all": [{"blocks_per_sm": b, "threads": t, "time_ns": ns} for (b, t), ns in times.items()]})
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--device", default="sim:titan-black")
    parser.add_argument("--input")
    parser.add_argument("--size", default="2MiB")
    parser.add_argument("--launches", type=launches, default="1x128,1x256,1x512,1x1024,2x1024",
                        help="blocks an SM x threads of a block, with commas between")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--json")
    options = parser.parse_args()
    result = {"device": options.device, "input": options.input or f"generated, {options.size}", "apps": {}}
    print(f"{options.device}, {result['input']}; best of {len(options.launches)} launches")
    print(f"{'':12} {'variant':18} {'best time':>12} {'launch an SM':>14} {'over no L1':>11} {'over hardware L1':>17}")
    with tempfile.TemporaryDirectory() as folder:
        for app, short in APPS.items():
            rows = measure(options, app, folder)
            result["apps"][short] = rows
            times = {row["variant"]: row["time_ns"] for row in rows}
            for row in rows:
                hardware = times.get("hardware L1")
                over = f"{hardware / row['time_ns']:.2f}" if hardware else "-"
                print(f"{short:12} {row['variant']:18} {row['time_ns'] / 1e3:>9.1f} us "
                      f"{row['blocks_per_sm']:>6} x {row['threads']:>5} {times['no L1'] / row['time_ns']:>11.2f} {over:>17}")
                for one in row["all"] if options.all else []:
                    print(f"{'':31} {one['time_ns'] / 1e3:>9.1f} us {one['blocks_per_sm']:>6} x {one['threads']:>5}")
    if options.json:
        with open(options.json, "w") as file:
            json.dump(result, file, indent=2)
            file.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
