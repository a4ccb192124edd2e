#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a test of the Python package as it lies in the build tree on a cluster: run.sh BUILD [--workers N] [--apart] [--gpus] TEST.py
build=$1
shift
options=
if [ "$1" = --workers ]; then
    options="$1 $2"
    shift 2
fi
if [ "$1" = --apart ]; then
    options="$options $1"
    shift
fi
if [ "$1" = --gpus ]; then
    options="$options $1"
    shift
fi
export PYTHONPATH="$build/lib/warpage/python${PYTHONPATH:+:$PYTHONPATH}"
# shellcheck disable=SC2086  # words
exec "${0%/*}/cluster.sh" $options "${WARPAGE_PYTHON:-python3}" -B -X faulthandler "$1"
