# SPDX-License-Identifier: Apache-2.0
"""python -m warpage: the version, the libraries and the devices."""
import os
from warpage import command, native


def _rows():
    yield "cpu", "%d threads" % len(os.sched_getaffinity(0))
    for number in range(64):
        spec = "cuda:%d" % number
        try:
            with native.Device(spec) as handle:
                yield spec, native.device_name(handle)
        except native.WarpageError as error:
            if number == 0:
                yield spec, "not available: %s" % error
            break
    simulated = native.simulated_devices()
    if simulated and (os.environ.get("WARPAGE_WPCC") or command.find("wpcc")):
        yield from ((spec, "a simulated GPU") for spec in simulated)
    elif simulated:
        yield "sim:<gpu>", "not available: simulated GPUs need %s" % native.HOW


def main():
    print("warpage %s" % native.__version__)
    print("libraries: %s" % (native.FOLDER or "found by the system"))
    rows = list(_rows())
    width = max(len(spec) for spec, note in rows)
    for spec, note in rows:
        print("%-*s  %s" % (width, spec, note))


main()
