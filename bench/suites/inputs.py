#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the inputs that programs of various.txt read, which their repositories do not have: random graphs in two
formats, a formula, a language model with random weights. Reproducible."""
import os
import random
import struct


def dimacs(path, rng, nodes, edges):
    pairs = set()
    while len(pairs) < edges:
        a, b = rng.randrange(1, nodes + 1), rng.randrange(1, nodes + 1)
        if a != b:
            pairs |= {(a, b), (b, a)}
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"c random\np sp {nodes} {len(pairs)}\n")
        for a, b in sorted(pairs):
            file.write(f"a {a} {b} {rng.randrange(1, 100)}\n")


def galois(path, rng, nodes, edges):
    """Galois' binary format, version 1, with 32-bit weights."""
    lists = [[] for _ in range(nodes)]
    for _ in range(edges):
        a, b, weight = rng.randrange(nodes), rng.randrange(nodes), rng.randrange(1, 100)
        if a != b:
            lists[a].append((b, weight))
            lists[b].append((a, weight))
    ends, total = [], 0
    for entries in lists:
        total += len(entries)
        ends.append(total)
    targets = [b for entries in lists for b, _ in entries]
    weights = [weight for entries in lists for _, weight in entries]
    with open(path, "wb") as file:
        file.write(struct.pack("<4Q", 1, 4, nodes, total))
        file.write(struct.pack(f"<{nodes}Q", *ends))
        file.write(struct.pack(f"<{total}I", *targets) + b"\0" * (4 * (total % 2)))
        file.write(struct.pack(f"<{total}I", *weights))


def formula(path, rng, variables, clauses):
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"p cnf {variables} {clauses}\n")
        for _ in range(clauses):
            words = [str(v * rng.choice((1, -1))) for v in rng.sample(range(1, variables + 1), 3)]
            file.write(" ".join(words) + " 0\n")


def model(path, rng):
    """llama2.c's format: seven numbers, then the weights; the vocabulary is that of its tokenizer."""
    size, hidden, layers, heads, words, places = 64, 128, 2, 4, 32000, 256
    half = size // heads // 2
    count = words * size + layers * (size + 4 * size * size + size + 3 * size * hidden) + size + 2 * places * half
    with open(path, "wb") as file:
        file.write(struct.pack("<7i", size, hidden, layers, heads, heads, words, places))
        file.write(struct.pack(f"<{count}f", *(rng.gauss(0, 0.1) for _ in range(count))))


def write(folder):
    dimacs(os.path.join(folder, "graph.gr"), random.Random(1), 2000, 8000)
    dimacs(os.path.join(folder, "small.gr"), random.Random(2), 128, 1000)
    galois(os.path.join(folder, "galois.gr"), random.Random(3), 2000, 8000)
    formula(os.path.join(folder, "formula.cnf"), random.Random(4), 1000, 3500)
    model(os.path.join(folder, "model.bin"), random.Random(5))
