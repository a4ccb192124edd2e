#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs what other compilers make: kernels of Triton and Numba (tests/foreign), and the programs of tests/e2e built by
# nvcc. Fetches the compilers from PyPI (300 MB, tools/foreign-ptx.txt) into build/foreign-ptx; none needs a GPU. Prints
# a line for each kernel or program, and how many are right. Exit status: 0 if all are right, 77 if the compilers cannot
# be fetched.
#
#     tools/foreign-ptx.sh BUILD_FOLDER [triton | numba | nvcc] [names...]
#
# WARPAGE_DEVICE=sim:a100 runs them there (default: cpu).
set -eu
build=$(cd "${1:?usage: foreign-ptx.sh <build folder> [triton | numba | nvcc] [names...]}" && pwd)
cd "$(dirname "$0")/.."
folder=$PWD/build/foreign-ptx
python=$folder/venv/bin/python
toolkit=$folder/toolkit
shift

if [ ! -e "$folder/complete" ]; then
    rm -rf "$folder/venv"
    { python3 -m venv "$folder/venv" || { tools/setup.sh python3-venv && python3 -m venv "$folder/venv"; }; } >&2 &&
        "$python" -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes \
            -r tools/foreign-ptx.txt >&2 || {
        echo "foreign-ptx: the compilers could not be fetched from PyPI (Python 3.11 is needed)" >&2
        exit 77
    }
    # The packages' files as a toolkit: nvcc looks for cicc in ../nvvm, Numba for libNVVM in nvvm/lib64.
    rm -rf "$toolkit"
    cp -r "$folder"/venv/lib/python3.*/site-packages/nvidia/cu13 "$toolkit"
    chmod +x "$toolkit"/bin/* "$toolkit"/nvvm/bin/*
    ln -s ../lib "$toolkit/nvvm/lib64"
    touch "$folder/complete"
fi

export CUDA_HOME="$toolkit" NUMBA_CUDA_USE_NVIDIA_BINDING=0 TRITON_CACHE_DIR="$folder/triton" PYTHONDONTWRITEBYTECODE=1
export LIBCUDA="$build/lib/libwarpage.so.0" LD_LIBRARY_PATH="$build/lib/warpage/nvidia"

# Programs of tests/e2e that only wpcc compiles are left out: those that use its own headers, or what CUDA 13 dropped.
run_nvcc() {
    right=0 all=0
    mkdir -p "$folder/nvcc"
    [ $# -gt 0 ] || set -- $(cd tests/e2e && grep -L 'warpage/\|textureReference' -- *.cu | sed 's/\.cu$//')
    for name in "$@"; do
        program=$folder/nvcc/$name
        "$toolkit/bin/nvcc" -std=c++17 -O2 -arch=compute_75 -code=compute_75 -cudart shared -w -I tests/e2e \
            "tests/e2e/$name.cu" -o "$program" >"$program.log" 2>&1 || {
            echo "not by nvcc: $name: $(grep -m 1 error "$program.log" | cut -c 1-100)"
            continue
        }
        all=$((all + 1))
        if timeout 300 "$program" >"$program.log" 2>&1 && [ "$(tail -n 1 "$program.log")" = PASS ]; then
            right=$((right + 1))
            echo "right  $name"
        else
            echo "FAILED $name: $(head -n 1 "$program.log" | cut -c 1-160)"
        fi
    done
    echo "$right of $all right"
    [ $right = $all ]
}

kinds=${1:-triton numba nvcc}
[ $# = 0 ] || shift
status=0
for kind in $kinds; do
    echo "$kind:"
    case $kind in
    nvcc) run_nvcc "$@" || status=1 ;;
    *) "$python" "tests/foreign/${kind}_kernels.py" "$@" || status=1 ;;
    esac
done
exit $status
