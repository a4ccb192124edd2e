#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often the probe is right, by its confidence, over random hierarchies of TLBs.

    bench/probe/calibration.py [--build build/release] [--count 10000] [--processes 1] [--dry]

Runs <build>/bench/probe_calibration (target `benches`) in parts, sums them up, and writes bench/results/<date>-probe-calibration.md
and its reliability diagram, an SVG. Errors at a confidence of 0.9 and more are listed in <build>/probe-calibration.txt.
"""
import argparse
import collections
import concurrent.futures
import csv
import datetime
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import about  # noqa: E402

PART = 250  # hierarchies of a process
FIELDS = {"page": "bytes of an entry", "fill": "bytes filled by a miss", "entries": "entries", "sets": "sets", "ways": "ways of each set",
          "delay": "delay, to half a cycle", "reach": "reach", "replacement": "replacement", "sharing": "sharing groups"}


def run(program, count, seed):
    done = subprocess.run([program, str(count), str(seed)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{program} {count} {seed}: {done.stderr[-500:]}")
    return done.stdout, done.stderr


def sum_up(outputs):
    bins, replacements, others = collections.Counter(), collections.Counter(), collections.Counter()
    for output in outputs:
        for name, *cells in csv.reader(output.splitlines()):
            if name in FIELDS:
                bins[name, float(cells[0]), "stated"] += int(cells[1])
                bins[name, float(cells[0]), "right"] += int(cells[2])
            elif name.startswith("replacement of "):
                replacements[name.removeprefix("replacement of "), cells[0]] += int(cells[1])
            else:
                for i, cell in enumerate(filter(None, cells)):
                    others[name, i] += int(cell)
    return bins, replacements, others


def totals(bins):
    """By bin, over all fields: stated and right."""
    edges = sorted({edge for _, edge, _ in bins})
    return [(edge, sum(bins[f, edge, "stated"] for f in FIELDS), sum(bins[f, edge, "right"] for f in FIELDS)) for edge in edges]


def label(edge, edges):
    after = edges[edges.index(edge) + 1:]
    return f"{edge:g} to {after[0]:g}" if after else f"{edge:g} and more"


def diagram(rows, count):
    """Bars: the share that is right, by bin; a line: the bin's least confidence."""
    edges = [edge for edge, _, _ in rows]
    left, top, width, height = 60, 34, 620, 260
    step = width / len(rows)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 20} {top + height + 74}" font-family="sans-serif" font-size="12">',
           f'<rect width="{left + width + 20}" height="{top + height + 74}" fill="#fff"/>',
           f'<text x="{left}" y="18" font-size="14">Numbers that the probe states, of {count:,} random hierarchies: share that is right</text>']
    for tick in (0, 0.25, 0.5, 0.75, 1):
        y = top + height * (1 - tick)
        out += [f'<line x1="{left}" y1="{y:.1f}" x2="{left + width}" y2="{y:.1f}" stroke="#ddd"/>',
                f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>']
    for i, (edge, stated, right) in enumerate(rows):
        x = left + i * step
        if stated:
            share = right / stated
            out += [f'<rect x="{x + 8:.1f}" y="{top + height * (1 - share):.1f}" width="{step - 16:.1f}" height="{height * share:.1f}" fill="#4878a8"/>']
        y = top + height * (1 - edge)
        out += [f'<line x1="{x + 3:.1f}" y1="{y:.1f}" x2="{x + step - 3:.1f}" y2="{y:.1f}" stroke="#c44" stroke-width="2"/>',
                f'<text x="{x + step / 2:.1f}" y="{top + height + 16}" text-anchor="middle">{edge:g}{"" if i + 1 < len(rows) else " …"}</text>',
                f'<text x="{x + step / 2:.1f}" y="{top + height + 32}" text-anchor="middle" fill="#666">{f"{stated:,}" if stated else "none"}</text>']
    out += [f'<text x="{left}" y="{top + height + 54}" fill="#333">confidence, from this on; below it, how many numbers. Red: the least confidence of the bin.</text>', "</svg>"]
    return "\n".join(out) + "\n"


def page(bins, replacements, others, count, name, head):
    rows = totals(bins)
    edges = [edge for edge, _, _ in rows]
    lines = [head, f"![Reliability diagram]({name}.svg)\n", "| confidence | stated | right |", "|---|---|---|"]
    for edge, stated, right in rows:
        if stated:
            lines.append(f"| {label(edge, edges)} | {stated:,} | {right:,} ({100 * right / stated:.2f} %) |")
    lines += ["\n| number | stated at 0.9 or more | wrong of these |", "|---|---|---|"]
    for field, title in FIELDS.items():
        stated = sum(bins[field, edge, "stated"] for edge in edges if edge >= 0.9)
        right = sum(bins[field, edge, "right"] for edge in edges if edge >= 0.9)
        lines.append(f"| {title} | {stated:,} | {stated - right} |")
    names = ["lru", "fifo", "random"]
    lines += ["\nReplacement of levels of more than one way that were found, whether or not their numbers were:\n",
              "| true | stated: lru | fifo | random | unknown |", "|---|---|---|---|---|"]
    for true in names:
        lines.append(f"| {true} | " + " | ".join(f"{replacements[true, said]:,}" for said in [*names, "unknown"]) + " |")
    lines.append(f"\nOf {others['sub-entries', 0]:,} levels found that have sub-entries (a miss fills a part of an entry), entry and part were "
                 f"stated of {others['sub-entries', 1]:,}, and right of {others['sub-entries', 2]:,}. "
                 f"Of {others['nothing found', 0]:,} of {count:,} hierarchies nothing was found, "
                 "as memory or the budget was too small.\n")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--dry", action="store_true", help="print the page only")
    options = parser.parse_args()
    program = options.build / "bench/probe_calibration"
    if not program.exists():
        sys.exit(f"{program} is missing: ninja -C {options.build} benches")
    seeds = range(1, options.count + 1, PART)
    with concurrent.futures.ThreadPoolExecutor(options.processes) as pool:
        parts = list(pool.map(lambda seed: run(program, min(PART, options.count + 1 - seed), seed), seeds))
    bins, replacements, others = sum_up(output for output, _ in parts)
    (options.build / "probe-calibration.txt").write_text("".join(errors for _, errors in parts))
    today = datetime.date.today().isoformat()
    name = f"{today}-probe-calibration"
    commit = about.output_of(["git", "rev-parse", "--short=12", "HEAD"])
    head = (f"# The probe: right as often as it says?\n\n{today}, commit {commit}. `bench/probe/calibration.py --count {options.count}`\n\n"
            "Random hierarchies of one to four levels: sets, ways and hashes, LRU, FIFO and random replacement, entries of 4 KiB to 32 MiB with one "
            "to 32 parts, sharing in clusters or at random, noise to 40 cycles a load, outliers, drift, data caches, little memory, small budgets.\n")
    text = page(bins, replacements, others, options.count, name, head)
    print(text)
    if options.dry:
        return
    (ROOT / f"bench/results/{name}.md").write_text(text)
    (ROOT / f"bench/results/{name}.svg").write_text(diagram(totals(bins), options.count))


if __name__ == "__main__":
    main()
