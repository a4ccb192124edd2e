#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what Warpage can use but does not need: Python packages whose tables it reads, in a virtual environment in
# build/optional, with axe's rules of accessibility, NVIDIA's nvcc, whose programs are run, and of Debian's packages a
# Java runtime (for pyspark) and Chromium (for screenshots of reports).
# Prints the path of that Python, for WARPAGE_PYTHON. Needs root or sudo where Debian's are missing.
set -u
cd "$(dirname "$0")/.." || exit 2
venv=build/optional
status=0
tools/setup.sh python3-venv default-jre-headless chromium >&2 || status=1
# Debian's Python: its package python3-venv is for no other.
python=/usr/bin/python3
if [ ! -x $venv/bin/python3 ]; then
    mkdir -p build && rm -rf $venv.part && "$python" -m venv $venv.part && mv $venv.part $venv || exit 1
fi
for package in numpy pandas pyarrow polars duckdb pyspark axe_playwright_python; do
    $venv/bin/python3 -c "import $package" 2>/dev/null ||
        $venv/bin/python3 -m pip install --quiet --disable-pip-version-check $package >&2 || {
        echo "optional: the Python package $package could not be installed" >&2
        status=1
    }
done
# What pyspark's client of Spark Connect needs.
$venv/bin/python3 -c "import grpc_status, zstandard, google.rpc.error_details_pb2" 2>/dev/null ||
    $venv/bin/python3 -m pip install --quiet --disable-pip-version-check "pyspark[connect]" >&2 || {
    echo "optional: what pyspark[connect] needs could not be installed" >&2
    status=1
}
tools/nvcc.sh >&2 || status=1
echo "$PWD/$venv/bin/python3"
exit $status
