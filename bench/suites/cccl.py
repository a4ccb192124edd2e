#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds and runs the examples of NVIDIA's CCCL repository: bench/suites/results/cccl.{csv,md}.

    git clone --depth 1 https://github.com/NVIDIA/cccl
    python3 bench/suites/cccl.py --wpcc build/release/bin/wpcc --examples cccl --out bench/suites/results

The libraries' headers are those that wpcc finds, or those of --cuda-path. Programs that are already
in the table are not tried again, so that a run can be continued; --again NAME tries one again."""
import argparse
import csv
import datetime
import os
import subprocess
import tempfile

# Examples that end with another status, or silently, when their results differ from their own reference.
CHECKED_BY_STATUS = "AssertEquals", "assert(", "abort()", "exit(1)", "return 1", "EXIT_FAILURE"
FIELDS = ["suite", "program", "built", "ran", "checked", "reason"]


def first_error(text):
    lines = [line.strip() for line in text.splitlines()]
    for line in lines:
        if "error:" in line:
            return line.split("error:", 1)[1].strip()
    return lines[-1] if lines else "no message"


def attempt(args, name, source, folder):
    program = os.path.join(folder, "program")
    command = [args.wpcc, "-std=c++20", "-extended-lambda", "-w",
               "-I", os.path.join(args.examples, "thrust", "examples"),
               "-I", os.path.join(args.examples, "cub", "examples"),
               "-I", os.path.join(args.examples, "c2h", "include"), source, "-o", program]
    if args.cuda_path:
        command += ["--cuda-path", args.cuda_path]
    row = dict.fromkeys(FIELDS, "no") | {"suite": "cccl", "program": name}
    try:
        built = subprocess.run(command, capture_output=True, text=True, timeout=900)
    except subprocess.TimeoutExpired:
        return row | {"reason": "took more than 900 s to compile"}
    if built.returncode:
        return row | {"reason": first_error(built.stderr)}
    row["built"] = "yes"
    try:
        ran = subprocess.run([program], capture_output=True, text=True, timeout=args.seconds, cwd=folder)
    except subprocess.TimeoutExpired:
        return row | {"reason": f"ran longer than {args.seconds} s"}
    if ran.returncode:
        return row | {"reason": first_error(ran.stderr + ran.stdout) + f" (status {ran.returncode})"}
    row["ran"] = "yes"
    with open(source, encoding="utf-8") as file:
        text = file.read()
    if any(mark in text for mark in CHECKED_BY_STATUS):
        return row | {"checked": "yes", "reason": "own check, by exit status"}
    return row | {"reason": "ran, but nothing to compare with"}


def write(args, rows, total):
    with open(os.path.join(args.out, "cccl.csv"), "w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, FIELDS, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    count = {field: sum(row[field] == "yes" for row in rows) for field in FIELDS[2:5]}
    with open(os.path.join(args.out, "cccl.md"), "w", encoding="utf-8") as file:
        file.write(f"# CCCL's examples\n\n{args.note}{datetime.date.today():%-d %B %Y}. {len(rows)} of {total} examples "
                   f"tried: {count['built']} built, {count['ran']} ran, {count['checked']} checked.\n"
                   "Command: `bench/suites/cccl.py`.\n\n"
                   "| program | built | ran | checked | how checked, or why not |\n|---|---|---|---|---|\n")
        for row in rows:
            reason = row["reason"].replace("|", "\\|")
            file.write(f"| {row['program']} | {row['built']} | {row['ran']} | {row['checked']} | {reason} |\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--wpcc", default="wpcc")
    parser.add_argument("--examples", required=True, help="folder of the cccl repository")
    parser.add_argument("--cuda-path", help="folder of the libraries (default: where wpcc finds them)")
    parser.add_argument("--out", required=True, help="folder of the tables")
    parser.add_argument("--seconds", type=int, default=60, help="limit for one program's run (default: 60)")
    parser.add_argument("--note", default="", help="words before the date, such as the versions")
    parser.add_argument("--again", action="append", default=[], metavar="NAME")
    parser.add_argument("--only", help="a part of the names to try")
    args = parser.parse_args()
    found = []
    for part in "cub", "thrust":
        base = os.path.join(args.examples, part, "examples")
        for folder, _, files in os.walk(base):
            found += [(f"{part}/{os.path.relpath(os.path.join(folder, f), base)[:-3]}", os.path.join(folder, f))
                      for f in files if f.endswith(".cu")]
    found.sort()
    rows = []
    path = os.path.join(args.out, "cccl.csv")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if row["program"] not in args.again]
    done = {row["program"] for row in rows}
    for name, source in found:
        if name in done or (args.only and args.only not in name):
            continue
        with tempfile.TemporaryDirectory() as folder:
            row = attempt(args, name, source, folder)
        print(name, row["built"], row["ran"], row["checked"], row["reason"], flush=True)
        rows = sorted(rows + [row], key=lambda r: r["program"])
        write(args, rows, len(found))
    write(args, rows, len(found))


if __name__ == "__main__":
    main()
