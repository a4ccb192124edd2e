# SPDX-License-Identifier: Apache-2.0
"""jax_convolutions.py ROUNDS IMAGES CHANNELS SIZE MAPS WINDOW STEP PADDING GROUPS: prints a list of the three ways' shortest
(wall, processor) seconds on the processor."""
import sys
import time

import jax
import numpy

rounds, n, c, size, k, window, step, pad, groups = map(int, sys.argv[1:])
random = numpy.random.default_rng(0)
x = jax.numpy.asarray(random.standard_normal((n, c, size, size), dtype=numpy.float32))
w = jax.numpy.asarray(random.standard_normal((k, c // groups, window, window), dtype=numpy.float32))


def forward(x, w):
    return jax.lax.conv_general_dilated(x, w, (step, step), ((pad, pad), (pad, pad)), feature_group_count=groups)


y = jax.numpy.asarray(random.standard_normal(forward(x, w).shape, dtype=numpy.float32))
calls = [(jax.jit(forward), (x, w)), (jax.jit(lambda w, y: jax.vjp(lambda x: forward(x, w), x)[1](y)[0]), (w, y)),
         (jax.jit(lambda x, y: jax.vjp(lambda w: forward(x, w), w)[1](y)[0]), (x, y))]
best = []
for call, arguments in calls:
    call(*arguments).block_until_ready()
    seconds = []
    for _ in range(rounds):
        wall, work = time.perf_counter(), time.process_time()
        call(*arguments).block_until_ready()
        seconds.append((time.perf_counter() - wall, time.process_time() - work))
    best.append(tuple(map(min, zip(*seconds))))
print(best)
