#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fetches NVIDIA's nvcc 13.0 from PyPI (250 MB, tools/nvcc.txt) into build/nvcc, laid out as a toolkit, and prints the
# path of its nvcc. It needs neither a GPU nor a driver; tests run what it builds. Exit status 77: it cannot be fetched.
set -eu
cd "$(dirname "$0")/.."
folder=$PWD/build/nvcc
if [ ! -x "$folder/bin/nvcc" ]; then
    packages=$folder.packages
    rm -rf "$packages"
    mkdir -p build
    { python3 -m venv "$packages" || { tools/setup.sh python3-venv && /usr/bin/python3 -m venv "$packages"; }; } >&2 &&
        "$packages/bin/python3" -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: \
            --require-hashes -r tools/nvcc.txt >&2 || {
        echo "nvcc.sh: nvcc could not be fetched from PyPI" >&2
        exit 77
    }
    # nvcc looks for cicc in ../nvvm and for its libraries in ../lib64, the linker for libcudart.so, Numba for libNVVM in
    # nvvm/lib64.
    rm -rf "$folder"
    mv "$packages"/lib/python3.*/site-packages/nvidia/cu13 "$folder"
    rm -rf "$packages"
    chmod +x "$folder"/bin/* "$folder"/nvvm/bin/*
    ln -s lib "$folder/lib64"
    ln -s libcudart.so.13 "$folder/lib/libcudart.so"
    ln -s ../lib "$folder/nvvm/lib64"
fi
echo "$folder/bin/nvcc"
