#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Streaming beside its peers: one kernel over records larger than the device memory it may use, each way in the same run.

    python3 bench/stream/streaming.py [--build build/release] [--size 1M] [--buffer 4MiB] [--input FILE --columns LIST] [--dry]

The program is apps/stream-kmeans: of 64 bytes a record the kernel reads 32 and writes 8. On a simulated GPU a variant's time is
the simulated one between two events, and each variant gets the best of the same search over blocks and threads; data of managed
memory exceed device memory. On cpu it is wall time, the median of rounds in which every variant has its turn; there is no link,
so ratios are reported, without a target. Every run is checked against a serial assignment. Writes
bench/results/<date>-streaming.json and .md.
"""
import argparse
import datetime
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHAPES = [(32, 256), (64, 128), (64, 256), (128, 64), (128, 128)]
# Kepler does not page.
SIMULATED = {
    "sim:gtx680@xeon-e5-quad": ["single", "double", "direct", "zerocopy", "full", "full-addresses"],
    "sim:gtx1080ti@xeon-e5-quad": ["single", "double", "direct", "zerocopy", "managed", "prefetch", "full", "full-addresses"],
}
ON_CPU = ["serial", "threads", "single", "double", "direct", "full"]
UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
AIM = 1.1  # full over the best of the others, at most


def arguments_of(options, variant):
    arguments = ["--size", options.size, "--buffer", options.buffer, "--check", "--variant", variant.split("-")[0]]
    if variant == "full-addresses":
        arguments.append("--without-patterns")
    if options.input:
        arguments += ["--input", options.input]
    if options.columns:
        arguments += ["--columns", options.columns]
    return arguments


def run(options, device, variant, shape, memory=None):
    """Times by name in ns, bytes as printed."""
    environment = dict(os.environ, WARPAGE_DEVICE=device)
    if memory:
        environment["WARPAGE_DEVICE_MEMORY"] = memory
    command = [options.build / "apps/stream-kmeans", *arguments_of(options, variant), "--blocks", str(shape[0]), "--threads",
               str(shape[1])]
    result = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if result.returncode != 0 or "equal" not in result.stdout:
        sys.exit(f"{device} {variant}: exit status {result.returncode}\n{result.stdout[-300:]}{result.stderr[-500:]}")
    found = {"device": None, "wall": None}
    for name, number, unit in re.findall(r"^(device|wall) +([0-9.]+) (\w+)$", result.stderr, re.M):
        found[name] = float(number) * UNITS[unit]
    for name, text in re.findall(r"^to (device|host) +(.+)$", result.stderr, re.M):
        found["to_" + name] = text
    return found


def simulate(options, device, variants):
    rows = {}
    for variant in variants:
        is_managed = variant in ("managed", "prefetch")
        best = min(((run(options, device, variant, shape, options.memory if is_managed else None), shape) for shape in SHAPES),
                   key=lambda pair: pair[0]["device"])
        rows[variant] = {"ns": best[0]["device"], "shape": best[1], "to_device": best[0].get("to_device", ""),
                         "to_host": best[0].get("to_host", "")}
        print(f"{device} {variant}: {best[0]['device'] / 1e6:.2f} ms with {best[1][0]} blocks of {best[1][1]}", flush=True)
    return rows


def on_cpu(options):
    times = {variant: [] for variant in ON_CPU}
    for turn in range(options.rounds + 1):  # the first one compiles, and is not counted
        for variant in ON_CPU:
            found = run(options, "cpu", variant, (64, 128))
            if turn > 0:
                times[variant].append(found["wall"])
    rows = {v: {"ns": statistics.median(t), "times_ns": t, "shape": (64, 128), "to_device": "", "to_host": ""}
            for v, t in times.items()}
    for variant, row in rows.items():
        print(f"cpu {variant}: {row['ns'] / 1e6:.1f} ms", flush=True)
    return rows


def table(results):
    lines = []
    for device, rows in results.items():
        full = rows["full"]["ns"]
        lines += [f"\n## {device}\n", "| variant | time, ms | over `full` | blocks x threads | to device | to host |", "|---|---|---|---|---|---|"]
        for variant, row in sorted(rows.items(), key=lambda item: item[1]["ns"]):
            lines.append(f"| `{variant}` | {row['ns'] / 1e6:.2f} | {row['ns'] / full:.2f} | {row['shape'][0]} x {row['shape'][1]} "
                         f"| {row['to_device']} | {row['to_host']} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--size", default="1M")
    parser.add_argument("--buffer", default="4MiB", help="device memory for buffers of single, double, direct and full")
    parser.add_argument("--memory", default="48MiB", help="device memory for managed and prefetch")
    parser.add_argument("--input")
    parser.add_argument("--columns")
    parser.add_argument("--rounds", type=int, default=5, help="on cpu")
    parser.add_argument("--dry", action="store_true", help="writes nothing")
    options = parser.parse_args()
    options.build = options.build.resolve()
    results = {device: simulate(options, device, variants) for device, variants in SIMULATED.items()}
    before = os.getloadavg()
    results["cpu"] = on_cpu(options)
    text = table(results)
    print(text)
    if options.dry:
        return
    date = datetime.date.today().isoformat()
    commit = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty= with local changes"], stdout=subprocess.PIPE,
                            text=True, check=True).stdout.strip()
    command = "python3 bench/stream/streaming.py " + " ".join(
        f"--{name} {pathlib.Path(value).name if name == 'input' else value}" for name in ("size", "buffer", "memory", "input", "columns")
        if (value := getattr(options, name)))
    comparisons = []
    for device, rows in results.items():
        for variant, row in rows.items():
            if not variant.startswith("full"):
                ratio = rows["full"]["ns"] / row["ns"]
                aim = None if device == "cpu" else AIM
                comparisons.append({"case": "stream-kmeans", "size": device, "engine": "full", "against": variant, "ratio": ratio,
                                    "aim": aim, "is_met": None if aim is None else ratio <= aim})
    page = {"schema": "warpage-bench-1", "bench": "streaming", "date": date, "commit": commit, "command": command,
            "machine": {"processors": os.cpu_count(), "load_average_before": before, "load_average_after": os.getloadavg()},
            "settings": {"size": options.size, "buffer": options.buffer, "memory": options.memory, "shapes": SHAPES,
                         "rounds_on_cpu": options.rounds},
            "results": [{"case": "stream-kmeans", "size": device, "engine": variant, "median_ns": row["ns"],
                         "times_ns": row.get("times_ns", [row["ns"]])} for device, rows in results.items() for variant, row in rows.items()],
            "comparisons": comparisons}
    stem = ROOT / f"bench/results/{date}-streaming"
    stem.with_suffix(".json").write_text(json.dumps(page, indent=1) + "\n", encoding="utf-8")
    stem.with_suffix(".md").write_text(
        f"# Streaming beside its peers\n\n{date}, commit {commit}. `{command}`\n\n"
        "K-means assignment over 64-byte records, of which the kernel reads 32 bytes and writes 8 (`apps/stream-kmeans`).\n"
        "Simulated GPUs: simulated time, the best of a search over blocks and threads for each variant; host work by the model of\n"
        "the host. `full-addresses` streams without patterns. cpu: wall time, median; no link.\n" + text, encoding="utf-8")


main()
