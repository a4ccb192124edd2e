#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the programs of tests/e2e from the PTX that their kernels compile to (wpcc --through-ptx), on the CPU, and prints
# how many give the results of a direct run. Exit status: that of tests/e2e/run.sh.
#
#     tools/through-ptx.sh build/release/bin/wpcc [names...]
#
# DEVICES="cpu sim:gtx1080ti" runs them on both.
wpcc=${1:?usage: through-ptx.sh <wpcc> [names...]}
shift
e2e=$(cd "$(dirname "$0")/../tests/e2e" && pwd) || exit 2
[ $# -gt 0 ] || set -- $(cd "$e2e" && ls -- *.cu)
WPCC_FLAGS=--through-ptx WORKERS=${WORKERS:-2} exec "$e2e/run.sh" "$wpcc" "$@"
