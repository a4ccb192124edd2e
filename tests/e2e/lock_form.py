#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds locks in LLVM IR (text, stdin) that deadlock on GPUs before Volta, and counts the others.

Lanes of a warp meet again at the immediate post-dominator of the branch at which they parted. A lock is a compare-and-swap and
an exchange of the same address, which releases it. Where lanes that fail to take it part from the lane that takes it, they
must meet it again after its exchange and before their next try. If they try again without meeting it, the lane that has the
lock waits for them where the ways meet, and they wait for the lock:

    try: compare-and-swap ─ taken ─► section; exchange ─┐          try: compare-and-swap ◄─┐
                          └ failed ───────────────────► meet ─► try    │ taken     └ failed ┘
                                                                       meet: section; exchange
                         right                                         prone

Prints a line for each lock, `right FUNCTION` or `prone FUNCTION`; exit status 1 if one is prone or there is none.
"""
import re
import sys

LABEL = re.compile(r"^([-\w.$]+|\"[^\"]+\"):")


def functions(text):
    """(name, {block: lines}, in order)."""
    name, blocks, block = None, {}, None
    for line in text.splitlines():
        if line.startswith("define"):
            name, blocks, block = re.search(r"@([-\w.$]+|\"[^\"]+\")\(", line).group(1), {"entry": []}, "entry"
        elif name and line.startswith("}"):
            yield name, blocks
            name = None
        elif name:
            label = LABEL.match(line)
            if label:
                block = label.group(1)
                blocks[block] = []
            elif line.strip():
                blocks[block].append(line.strip())


def edges_of(blocks):
    """Successors; the entry is found under its number, too, which only its successors' phis name."""
    return {block: [label for label in re.findall(r"label %([-\w.$]+|\"[^\"]+\")", " ".join(terminator_of(lines)))]
            for block, lines in blocks.items()}


def terminator_of(lines):
    for at in range(len(lines) - 1, -1, -1):
        if re.match(r"(br|switch|ret|unreachable|indirectbr)\b", lines[at]):
            return lines[at:]
    return []


def reachable(edges, start, without=()):
    seen, todo = set(), [start]
    while todo:
        block = todo.pop()
        if block in seen or block in without:
            continue
        seen.add(block)
        todo += edges.get(block, [])
    return seen


def meeting_place(edges, block):
    """The immediate post-dominator, None: the function's end. The nearest block without which the end is out of reach."""
    ends = {b for b in edges if not edges[b]}
    after = reachable(edges, block)
    common = [b for b in after if b != block and not any(reachable(edges, way, {b}) & ends for way in edges[block] if way != b)]
    for candidate in common:  # the nearest one: all others are reached through it
        if all(other == candidate or not any(other in reachable(edges, way, {candidate}) for way in edges[block] if way != candidate)
               for other in common):
            return candidate
    return None


def condition_of(blocks, block, value):
    """Whether the branch at the block's end depends, within the block, on `value`."""
    names, lines = {value}, blocks[block]
    for line in lines:
        made = re.match(r"(%[-\w.$]+) = ", line)
        if made and any(re.search(re.escape(name) + r"\b", line.split("=", 1)[1]) for name in names):
            names.add(made.group(1))
    branch = re.match(r"br i1 (%[-\w.$]+)", terminator_of(lines)[0]) if terminator_of(lines) else None
    return bool(branch) and branch.group(1) in names


def locks(blocks):
    """(block of the compare-and-swap, block of the exchange)."""
    swaps = [(block, *match.groups()) for block, lines in blocks.items() for line in lines
             if (match := re.match(r"(%[-\w.$]+) = cmpxchg (?:volatile )?ptr(?: addrspace\(\d+\))? (%[-\w.$]+),", line))]
    releases = [(block, match.group(1)) for block, lines in blocks.items() for line in lines
                if (match := re.match(r"%[-\w.$]+ = atomicrmw (?:volatile )?xchg ptr(?: addrspace\(\d+\))? (%[-\w.$]+),", line))]
    for block, value, address in swaps:
        if condition_of(blocks, block, value):
            for at, released in releases:
                if released == address:
                    yield block, at


def is_right(edges, taking, releasing):
    if taking not in set().union(*(reachable(edges, way) for way in edges[taking])):
        return True  # it is tried once
    meet = meeting_place(edges, taking)
    if meet is None:
        return False
    between = set().union(*(reachable(edges, way, {meet}) for way in edges[taking]))
    return releasing in between and taking not in between


def main():
    found = prone = 0
    for name, blocks in functions(sys.stdin.read()):
        edges = edges_of(blocks)
        for taking, releasing in locks(blocks):
            right = is_right(edges, taking, releasing)
            print("right" if right else "prone", name)
            found, prone = found + 1, prone + (not right)
    sys.exit(found == 0 or prone != 0)


if __name__ == "__main__":
    main()
