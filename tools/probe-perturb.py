#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Perturbs curves and sharing matrices that were measured elsewhere, and prints what `warpage probe --from` reads off them.

    tools/probe-perturb.py FOLDER [--build DIR] [--rounds N]

FOLDER has files of cuda-gpu-tlb. Each kind of perturbation is applied N times, with the seeds 0 to N - 1; the first line is of the files as they
are. A line has entries, pages and groups of SMs by level, and "as is" where they are those of the first line.
"""
import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile

KINDS = ("noise", "outliers", "missing", "holes", "shuffled", "repeated", "scaled", "shifted")


def cell(text, kind, rng):
    if not text.strip():
        return text
    cycles = float(text)
    if kind == "noise":
        cycles *= 1 + rng.gauss(0, 0.01)
    elif kind == "outliers" and rng.random() < 0.02:
        cycles *= rng.choice([1.5, 2, 3])
    elif kind == "scaled":
        cycles *= 2.3
    elif kind == "shifted":
        cycles += 150
    elif kind == "holes" and rng.random() < 0.2:
        return ""
    return f"{cycles:.1f}"


def curves(lines, kind, rng):
    head = [line for line in lines if line.startswith("#")]
    rows = [line.split(",") for line in lines if line and not line.startswith("#")]
    if kind == "missing":
        rows = [row for row in rows if rng.random() >= 0.3]
    if kind == "repeated":
        rows += [[row[0]] + [c and f"{float(c) + rng.choice([-1, 0, 1])}" for c in row[1:]] for row in rows]
    rows = [[row[0]] + [cell(c, kind, rng) for c in row[1:]] for row in rows]
    if kind == "shuffled":
        rng.shuffle(rows)
    return head + [",".join(row) for row in rows]


def matrix(lines, kind, rng):
    """Only the first table, which is the one that is read."""
    out = []
    for line in lines:
        words = line.split()
        if line.startswith("#-") and len(out) > 3:
            break
        if words and words[0].isdigit() and kind not in ("holes", "missing"):
            words[1:] = [cell(c, kind, rng) for c in words[1:]]
        out.append(" ".join(words))
    return out


def read(options, files):
    done = subprocess.run([options.build / "bin/warpage", "probe", "--format", "json", "--from", *files], capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        return done.stderr.strip()
    levels = json.loads(done.stdout)["levels"]
    return " | ".join(f"{level.get('entries')} of {level.get('page_bytes')} B, {level.get('sharing_groups')}" for level in levels)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--rounds", type=int, default=12)
    options = parser.parse_args()
    sources = sorted(options.folder.glob("TLB*"))
    if not sources:
        sys.exit(f"probe-perturb.py: {options.folder} has no files TLB*")
    usual = read(options, sources)
    print(f"as they are: {usual}")
    for kind in KINDS:
        same = 0
        for seed in range(options.rounds):
            rng = random.Random(seed)
            with tempfile.TemporaryDirectory() as folder:
                files = []
                for source in sources:
                    change = matrix if source.name.startswith("TLBsharing") else curves
                    files.append(pathlib.Path(folder) / source.name)
                    files[-1].write_text("\n".join(change(source.read_text().split("\n"), kind, rng)) + "\n")
                found = read(options, files)
            same += found == usual
            if found != usual:
                print(f"{kind} {seed}: {found}")
        print(f"{kind}: {same} of {options.rounds} as is")


main()
