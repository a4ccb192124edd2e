#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs recorded reproductions and studies again and compares every value with the recorded one, digit by digit.

    tools/check-recorded.py [--build DIR] [--json FILE] [PAPER[/FIGURE] ...]   (default: all figures and studies)

Prints one line a figure, and one for each value or verdict that changed. Exit status 1 if any did.
--json FILE keeps what was measured, so that two builds can be compared with each other."""
import argparse
import json
import os
import subprocess
import sys
import time


def claims(warpage, command, *arguments):
    """The claims of a figure or study: {(figure, claim): (value, verdict)}, values as they are printed."""
    printed = subprocess.run([warpage, command, "--format", "json", *arguments], check=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True).stdout
    found = {}
    for claim in json.loads(printed, parse_float=str, parse_int=str):
        figure = "/".join(list(claim.values())[:2])
        found[figure, claim["claim"]] = (claim.get("ours"), claim["verdict"])
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default="build/release", help="build tree (default: %(default)s)")
    parser.add_argument("--json", help="write what was measured to this file")
    parser.add_argument("figures", nargs="*", help="PAPER or PAPER/FIGURE (default: all)")
    options = parser.parse_args()
    warpage = os.path.join(options.build, "bin", "warpage")

    # A figure and a study may have the same name: its other values.
    recorded = {command: claims(warpage, command, "--list") for command in ("reproduce", "study")}
    figures = sorted({(figure, command) for command, of in recorded.items() for figure, _ in of})
    if options.figures:
        unknown = [w for w in options.figures
                   if not any(f == w or f.startswith(w + "/") for f, _ in figures)]
        if unknown:
            sys.exit(f"check-recorded: no recorded figure is called {unknown[0]}; "
                     f"`warpage reproduce --list` and `warpage study --list` show them all")
        figures = [(f, command) for f, command in figures
                   if any(f == w or f.startswith(w + "/") for w in options.figures)]

    kept, changed_count = {}, 0
    for figure, command in figures:
        start = time.monotonic()
        before = {name: value for (of, name), value in recorded[command].items() if of == figure}
        shown = figure if command == "reproduce" else f"{figure} (study)"
        try:
            now = {name: value for (_, name), value in claims(warpage, command, figure).items()}
        except subprocess.CalledProcessError as failed:
            print(f"{shown}: failed: {failed.stderr.strip()}", flush=True)
            changed_count += 1
            continue
        changed = [name for name in before if now.get(name) != before[name]]
        changed += [name for name in now if name not in before]
        print(f"{shown}: {len(now) - len(changed)} of {len(now)} as recorded "
              f"({time.monotonic() - start:.0f} s)", flush=True)
        for name in changed:
            print(f"    {name}: {now.get(name)}, recorded {before.get(name)}", flush=True)
        changed_count += len(changed)
        kept[shown] = now
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(kept, file, indent=1)
    sys.exit(1 if changed_count else 0)


if __name__ == "__main__":
    main()
