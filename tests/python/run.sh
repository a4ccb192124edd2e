#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a test of the Python package as it lies in the build tree: run.sh BUILD TEST.py
# WARPAGE_PYTHON: another Python than python3, such as one that has pyarrow.
PYTHONPATH=$1/lib/warpage/python${PYTHONPATH:+:$PYTHONPATH} WARPAGE=$1/bin/warpage \
    exec "${WARPAGE_PYTHON:-python3}" -B -X faulthandler "$2"
