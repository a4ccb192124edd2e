#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fetches ptxas, NVIDIA's assembler, for the tests that assemble our PTX: one program out of NVIDIA's own
# package on PyPI, into build/ptxas/. Prints its path. Nothing else of Warpage needs it. The version is
# one that knows sm_70 (13 dropped it) and sm_90. WARPAGE_PTXAS=/path/to/ptxas names another one.
#     ptxas.sh 11     that of CUDA 11 instead, which knows sm_35 and sm_37, into build/ptxas/11/
set -eu
cd "$(dirname "$0")/.."
case ${1:-12} in
12)
    package=nvidia-cuda-nvcc-cu12
    version=12.4.131
    sha256=e4c9a35435c3b0e36c6397c5696334c9ea6650e524736cbd1c5d345ea099bb04
    folder=build/ptxas
    if [ -n "${WARPAGE_PTXAS:-}" ]; then
        echo "$WARPAGE_PTXAS"
        exit 0
    fi
    ;;
11)
    package=nvidia-cuda-nvcc-cu11
    version=11.8.89
    sha256=3e25894debe6ce87e6dbb99b2311fba6f56c1b647daae2c4e5de537dc5d88876
    folder=build/ptxas/11
    ;;
*)
    echo "usage: ptxas.sh [11|12]" >&2
    exit 2
    ;;
esac

if [ ! -x $folder/ptxas ]; then
    python3 -m pip --version >/dev/null 2>&1 || tools/setup.sh python3-pip >&2
    mkdir -p $folder
    trap 'rm -rf $folder/download' EXIT
    rm -rf $folder/download
    echo "$package==$version --hash=sha256:$sha256" >$folder/requirements.txt
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
        --platform manylinux2014_x86_64 --platform manylinux1_x86_64 --require-hashes -r $folder/requirements.txt \
        -d $folder/download >&2 || {
        echo "ptxas: $package $version could not be fetched; set WARPAGE_PTXAS to a ptxas ${version%%.*}" >&2
        exit 1
    }
    python3 - "$folder" <<'EOF'
import glob, os, shutil, sys, zipfile
folder = sys.argv[1]
with zipfile.ZipFile(glob.glob(folder + "/download/*.whl")[0]) as wheel:
    name = [n for n in wheel.namelist() if n.endswith("/bin/ptxas")][0]
    with wheel.open(name) as source, open(folder + "/ptxas.part", "wb") as target:
        shutil.copyfileobj(source, target)
os.chmod(folder + "/ptxas.part", 0o755)
os.rename(folder + "/ptxas.part", folder + "/ptxas")
EOF
fi
echo "$PWD/$folder/ptxas"
