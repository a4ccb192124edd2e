#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs what other compilers make: kernels of Triton and Numba (tests/foreign), and the programs of tests/e2e built by
# nvcc, with the static runtime (its default) and with the shared one. Fetches the compilers from PyPI (tools/nvcc.sh,
# and 200 MB of tools/foreign-ptx.txt into build/foreign-ptx); none needs a GPU. Prints a line for each kernel or
# program, and how many are right. Exit status: 0 if all are right, 77 if the compilers cannot be fetched.
#
#     tools/foreign-ptx.sh BUILD_FOLDER [triton | numba | static | shared] [names...]
#
# WARPAGE_DEVICE=sim:a100 runs them there (default: cpu). NVCC=/usr/local/cuda/bin/nvcc uses that one for static and
# shared, and fetches nothing.
set -eu
build=$(cd "${1:?usage: foreign-ptx.sh <build folder> [triton | numba | static | shared] [names...]}" && pwd)
cd "$(dirname "$0")/.."
folder=$PWD/build/foreign-ptx
python=$folder/venv/bin/python
toolkit=
shift

kinds=${1:-triton numba static shared}
[ $# = 0 ] || shift
case $kinds in
static | shared) ;;
*)
    toolkit=$(tools/nvcc.sh) || exit 77
    toolkit=${toolkit%/bin/nvcc}
    if [ ! -e "$folder/complete" ]; then
        rm -rf "$folder/venv"
        { python3 -m venv "$folder/venv" || { tools/setup.sh python3-venv && python3 -m venv "$folder/venv"; }; } >&2 &&
            "$python" -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: \
                --require-hashes -r tools/foreign-ptx.txt >&2 || {
            echo "foreign-ptx: the compilers could not be fetched from PyPI (Python 3.11 is needed)" >&2
            exit 77
        }
        touch "$folder/complete"
    fi
    ;;
esac
[ -n "${NVCC-}" ] || NVCC=$(tools/nvcc.sh) || exit 77

export CUDA_HOME="$toolkit" NUMBA_CUDA_USE_NVIDIA_BINDING=0 TRITON_CACHE_DIR="$folder/triton" PYTHONDONTWRITEBYTECODE=1
export LIBCUDA="$build/lib/libwarpage.so.0" LD_LIBRARY_PATH="$build/lib/warpage/nvidia"

# Programs of tests/e2e that only wpcc compiles are left out: those that use its own headers and options, or what CUDA
# 13 dropped; and those of libraries besides the runtime, which have other versions in CUDA 13. Each is compiled as
# nvcc does by default, and linked with a runtime of one kind: static, nvcc's default, or shared.
run_nvcc() { # kind, names...
    cudart=$1 right=0 all=0
    shift
    mkdir -p "$folder/nvcc"
    # What -lcuda links: the driver's functions alone, as in NVIDIA's library.
    nm -D "$build/lib/libwarpage.so.0" | sed -n 's/.* T \(cu[A-Z].*\)/int \1;/p' |
        gcc -shared -x c - -o "$folder/nvcc/libcuda.so" -Wl,-soname,libcuda.so.1
    [ $# -gt 0 ] || set -- $(cd tests/e2e && grep -L 'warpage/\|textureReference\|^// FLAGS: --[clr][aoe]\|^// FLAGS: -l' -- *.cu | sed 's/\.cu$//')
    for name in "$@"; do
        object=$folder/nvcc/$name.o program=$folder/nvcc/$name-$cudart log=$folder/nvcc/$name-$cudart.log
        flags=$(sed -n '1,12s|^// FLAGS: *||p' "tests/e2e/$name.cu")
        # An object is compiled once for both kinds.
        if [ ! "$object" -nt "tests/e2e/$name.cu" ]; then
            "$NVCC" -std=c++17 -O2 -w -I tests/e2e $flags -c "tests/e2e/$name.cu" -o "$object" >"$log" 2>&1 || {
                echo "not by nvcc: $name: $(grep -m 1 error "$log" | cut -c 1-100)"
                continue
            }
        fi
        all=$((all + 1))
        grep -q '<cuda.h>' "tests/e2e/$name.cu" && flags="$flags -L$folder/nvcc -lcuda"
        "$NVCC" -cudart "$cudart" $flags "$object" -o "$program" >"$log" 2>&1 || true
        if timeout 300 "$build/bin/warpage" run -- "$program" >"$log" 2>"$log.talk" && [ "$(tail -n 1 "$log")" = PASS ]
        then
            right=$((right + 1))
            echo "right  $name"
        else
            echo "FAILED $name: $(cat "$log" "$log.talk" | grep -v '^$' | head -n 1 | cut -c 1-160)"
        fi
    done
    echo "$right of $all right"
    [ $right = $all ]
}

status=0
for kind in $kinds; do
    echo "$kind:"
    case $kind in
    static | shared) run_nvcc "$kind" "$@" || status=1 ;;
    *) "$python" "tests/foreign/${kind}_kernels.py" "$@" || status=1 ;;
    esac
done
exit $status
