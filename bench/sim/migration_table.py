#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A Markdown table of what migration.sh measured: a line for each app and level, a column for each policy,
the fastest that can be had in bold; and how many times as fast as each other policy payback is, in the
geometric mean of the lines in which both have a time.

    migration_table.py FILE     lines: app, level, policy, eviction, ms of kernels, ms of the run; "# group" """
import math
import sys

OURS = "payback"
UNREAL = ("oracle",)  # knows the future


def read(path):
    lines, policies, group = {}, [], ""
    for text in open(path, encoding="ascii"):
        if text.startswith("#"):
            group = text[1:].strip()
            continue
        app, level, policy, _, kernels, _ = text.split()
        if policy not in policies:
            policies.append(policy)
        times = lines.setdefault((group, app, level), {})
        if kernels != "-":
            times[policy] = float(kernels)
    return lines, policies


def cell(times, policy):
    if policy not in times:
        return "-"
    best = min(ms for name, ms in times.items() if name not in UNREAL)
    text = f"{times[policy]:.2f}" if times[policy] >= 1 else f"{times[policy]:.3f}"
    is_best = len(times) > 1 and policy not in UNREAL and times[policy] == best
    return f"**{text}**" if is_best else text


def print_times(lines, policies):
    print("| app | % |", " | ".join(policies), "|")
    print("|---|---|" + "---|" * len(policies))
    last = None
    for (group, app, level), times in lines.items():
        if group != last and group:
            print(f"| *{group}* |" + " |" * (len(policies) + 1))
        last = group
        print(f"| {app} | {level} |", " | ".join(cell(times, policy) for policy in policies), "|")


def gain(chosen, policy):
    ratios = [times[policy] / times[OURS] for times in chosen if policy in times and OURS in times]
    if not ratios:
        return "-"
    mean = math.exp(sum(math.log(ratio) for ratio in ratios) / len(ratios))
    return f"{mean:.2f}, {sum(ratio > 1 for ratio in ratios)} of {len(ratios)}"


def print_gains(lines, policies):
    others = [policy for policy in policies if policy != OURS]
    print("\n| lines | % |", " | ".join(others), "|")
    print("|---|---|" + "---|" * len(others))
    for group in dict.fromkeys(group for group, _, _ in lines):
        for level in dict.fromkeys(level for _, _, level in lines):
            chosen = [times for (g, _, l), times in lines.items() if g == group and l == level]
            print(f"| {group or 'all'} | {level} |",
                  " | ".join(gain(chosen, policy) for policy in others), "|")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lines, policies = read(sys.argv[1])
    print_times(lines, policies)
    if OURS in policies:
        print_gains(lines, policies)


if __name__ == "__main__":
    main()
