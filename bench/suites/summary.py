#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the share of public programs that build, run and are right, by suite, from bench/suites/results.

    python3 bench/suites/summary.py

counted: programs without those that need what is not there. not tried: built, and not run so far. too long: not done
in the time that was allowed. failed: ended with an error. wrong: ended well, but its own check fails."""
import argparse
import csv
import glob
import os
import re

RESULTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results")
COLUMNS = ["suite", "programs", "counted", "built", "ran", "not tried", "too long", "failed", "checked", "wrong"]


def tally(rows):
    counted = [row for row in rows if row["built"] != "-"]
    built = [row for row in counted if row["built"] == "yes"]
    too_long = sum(row["ran"] == "no" and "not done in" in row["reason"] for row in built)
    untried = sum(row["reason"] == "not run" for row in built)
    ran = sum(row["ran"] == "yes" for row in built)
    return [len(rows), len(counted), len(built), ran, untried, too_long, len(built) - ran - untried - too_long,
            sum(row["checked"] == "yes" for row in built),
            sum(row["reason"].startswith("its own check fails") for row in built)]


def title(path):
    with open(path[:-3] + "md", encoding="utf-8") as file:
        return re.sub(r"^# ", "", file.readline().strip())


def main():
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    lines, total = [], [0] * (len(COLUMNS) - 1)
    for path in glob.glob(os.path.join(RESULTS, "*.csv")):
        with open(path, encoding="utf-8") as file:
            numbers = tally(list(csv.DictReader(file)))
        total = [a + b for a, b in zip(total, numbers)]
        lines.append([f"[{title(path)}](results/{os.path.basename(path)[:-3]}md)"] + numbers)
    lines.sort(key=lambda line: line[0].lower())
    print("| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|")
    for line in lines + [["all"] + total]:
        print("| " + " | ".join(map(str, line)) + " |")


if __name__ == "__main__":
    main()
