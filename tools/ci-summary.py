#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the stages of tools/ci.sh found:

    tools/ci-summary.py RESULTS [NOTE]       a line for each stage, the note, and the sum
    tools/ci-summary.py --skipped FILE.xml   the skipped tests, as a regular expression for ctest -R

RESULTS/stages has a line for each stage: its name, its seconds, and what failed besides tests, if anything did.
RESULTS/<stage>.xml is what `ctest --output-junit` wrote. A test that could not run (its program is missing, or a test
that it depends on failed) has failed. A test of the stage `optional` was skipped by `release`; in the sum it counts
once, as what it is now. Exit status: 1 if anything failed."""
import os
import re
import sys
import xml.etree.ElementTree


def read(path):
    """The names of the tests that passed, failed, were skipped."""
    outcome = {"passed": [], "failed": [], "skipped": []}
    for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
        skipped = case.find("skipped")
        if case.get("status") == "run":
            kind = "passed"
        elif case.get("status") == "disabled" or (
                skipped is not None and skipped.get("message", "").startswith("SKIP_RETURN_CODE")):
            kind = "skipped"
        else:
            kind = "failed"
        outcome[kind].append(case.get("name"))
    return outcome


def summarise(folder, note):
    rows = []
    outcomes = {}
    with open(os.path.join(folder, "stages")) as lines:
        for line in lines:
            stage, seconds, *problem = line.rstrip("\n").split(" ", 2)
            path = os.path.join(folder, stage + ".xml")
            outcome = read(path) if os.path.exists(path) else {"passed": [], "failed": [], "skipped": []}
            outcome["failed"] = [p for p in problem if p] + outcome["failed"]
            outcomes[stage] = outcome
            rows.append((stage, seconds, outcome))
    print("%-10s %7s %7s %8s %8s" % ("stage", "passed", "failed", "skipped", "seconds"))
    for stage, seconds, outcome in rows:
        names = ["%s: %s" % (kind, ", ".join(outcome[kind])) for kind in ("failed", "skipped") if outcome[kind]]
        print(("%-10s %7d %7d %8d %8s  %s" % (
            stage, len(outcome["passed"]), len(outcome["failed"]), len(outcome["skipped"]), seconds,
            "; ".join(names))).rstrip())
    total = {kind: sum(len(outcome[kind]) for _, _, outcome in rows) for kind in ("passed", "failed", "skipped")}
    if "optional" in outcomes and "release" in outcomes:
        again = {name for names in outcomes["optional"].values() for name in names}
        total["skipped"] -= len(again.intersection(outcomes["release"]["skipped"]))
    if note:
        print(note)
    print("%(passed)d passed, %(failed)d failed, %(skipped)d skipped" % total)
    return 1 if total["failed"] else 0


def main(arguments):
    if len(arguments) == 2 and arguments[0] == "--skipped":
        names = read(arguments[1])["skipped"]
        if names:
            print("^(%s)$" % "|".join(re.sub(r"([][.*+?^$()|\\])", r"\\\1", name) for name in names))
        return 0
    if len(arguments) not in (1, 2):
        print(__doc__, file=sys.stderr)
        return 2
    return summarise(arguments[0], arguments[1] if len(arguments) == 2 else "")


sys.exit(main(sys.argv[1:]))
