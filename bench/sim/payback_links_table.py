# SPDX-License-Identifier: Apache-2.0
"""The table of bench/sim/payback_links.sh: payback's kernel time over the best of the others'."""
import csv
import glob
import os
import sys

times = {}  # (program, percent, service) -> link -> policy -> ns
for path in sorted(glob.glob(os.path.join(sys.argv[1], "*.csv"))):
    program, percent, service, policy = (
        os.path.basename(path)[:-4].replace("merge-join", "merge_join").split("-", 3)
    )
    for row in csv.DictReader(open(path)):
        link = (row["link.bandwidth"], row["link.remote_turn"])
        case = times.setdefault((program.replace("_", "-"), percent, service), {})
        case.setdefault(link, {})[policy] = int(row["kernel_time_ns"])

links = sorted(
    {link for case in times.values() for link in case},
    key=lambda link: [int("".join(c for c in part if c.isdigit())) for part in link],
)
print("| program | data | service | " + " | ".join(f"{b} {t}" for b, t in links) + " |")
print("|---|---|---|" + "---|" * len(links))
ratios = []
for (program, percent, service), case in times.items():
    cells = []
    for link in links:
        of = dict(case[link])
        own = of.pop("payback")
        best = min(of, key=of.get)
        ratios.append(own / of[best])
        cells.append(f"{own / of[best]:.2f} {best}" if own > of[best] else f"{own / of[best]:.2f}")
    print(f"| {program} | {percent} % | {service} | " + " | ".join(cells) + " |")
over = sum(ratio > 1.1 for ratio in ratios)
print(f"\n{len(ratios)} cases: over 1.1 in {over}, at most {max(ratios):.2f}.")
