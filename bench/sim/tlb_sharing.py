#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the cost of simulating TLB sharing: runs apps on sim:gem5-16sm under each policy of tlb_sharing, beside private TLBs.

In each round every policy has its turn, so that other programs disturb all of them alike; a ratio is the median, over rounds, of a
policy's processor time (user) to that of private TLBs in the same round. Prints a table and writes
bench/results/<date>-tlb-sharing-cost.md. See bench/README.md.
"""
import argparse
import datetime
import json
import os
import pathlib
import resource
import statistics
import subprocess
import tempfile

import run as simulator

DEVICE = "sim:gem5-16sm"
POLICIES = ["private", "neidty", "neidty-exclusive", "neidty-twice", "valkyrie"]
PROGRAMS = {
    "srad": "--size 256K --iterations 2",
    "mis": "--graph uniform --degree 4 --size 32K",
    "adi": "--size 4MiB --iterations 1",
    "atax": "--size 2M",
}
AIM = 1.3


def user_seconds(command, environment):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def measure(tree, program, arguments, rounds, folder):
    """By policy: its times, its ratios, and look-ups in others' TLBs for each that missed."""
    report = folder / "report.json"
    environment = dict(os.environ, WARPAGE_CACHE=str(folder / "cache"))
    rows = {policy: {"times_s": [], "ratios": []} for policy in POLICIES}
    for turn in range(rounds + 1):  # the first compiles the kernels once more, and is not counted
        times = {}
        for policy in POLICIES[turn % len(POLICIES):] + POLICIES[:turn % len(POLICIES)]:
            command = [tree / "bin/warpage", "run", "--device", DEVICE, "--set", f"tlb_sharing.policy={policy}", "--report", report,
                       "--", tree / "apps" / program, *arguments.split()]
            times[policy] = user_seconds(command, environment)
            counters = json.loads(report.read_text())["simulation"]["counters"]
            rows[policy]["lookups"] = counters.get("tlb_sharing_lookups", 0) / counters["tlb_l1_misses"]
        for policy in POLICIES if turn > 0 else []:
            rows[policy]["times_s"].append(times[policy])
            rows[policy]["ratios"].append(times[policy] / times["private"])
    return rows


def table(results):
    lines = ["| program | policy | processor, s | of private | look-ups elsewhere a miss |", "|---|---|---|---|---|"]
    for program, rows in results.items():
        for policy, row in rows.items():
            ratio = statistics.median(row["ratios"])
            of_private = "" if policy == "private" else f"{ratio:.2f}" + (" (more than the aim)" if ratio > AIM else "")
            lines.append(f"| {program} {PROGRAMS[program]} | {policy} | {statistics.median(row['times_s']):.2f} | {of_private} | {row['lookups']:.1f} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", help="build tree (release)")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", help="run only programs whose name contains this; write nothing")
    args = parser.parse_args()
    tree = (simulator.ROOT / args.build).resolve()
    load = os.getloadavg()[0]
    results = {}
    for program, arguments in PROGRAMS.items():
        if args.only and args.only not in program:
            continue
        simulator.say(f"{program} …")
        with tempfile.TemporaryDirectory() as folder:
            results[program] = measure(tree, program, arguments, args.rounds, pathlib.Path(folder))
    today = datetime.date.today().isoformat()
    cpu = next(line.split(":")[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8") if line.startswith("model name"))
    text = (f"# Simulated GPUs: what TLBs that ask each other cost\n\n{today}, commit {simulator.text_of(['git', 'rev-parse', '--short', 'HEAD'])}, {cpu}, "
            f"{os.cpu_count()} processors, load {load:.1f} before and {os.getloadavg()[0]:.1f} after.\n"
            f"Command: `python3 bench/sim/tlb_sharing.py --rounds {args.rounds}`\n\n{table(results)}\n\n"
            f"Processor time (user) of whole runs on `{DEVICE}`, the program's own part included: medians of {args.rounds} rounds in which the policies take turns;\n"
            f"\"of private\" is the median of the rounds' ratios. The aim is {AIM}.\n")
    print(text)
    if not args.only:
        (simulator.ROOT / "bench/results" / f"{today}-tlb-sharing-cost.md").write_text(text)


if __name__ == "__main__":
    main()
