# SPDX-License-Identifier: Apache-2.0
# doctor --install cccl: what it says when it works (pip is a stand-in here), the second time, and without python3, pip,
# a network; nothing half written. wpcc then finds the headers, or those of --cuda-path.
export XDG_DATA_HOME=$PWD/data
say() { "$@" 2>&1 | sed "s|$PWD|.|g"; }
mkdir bin empty
cat >bin/python3 <<'END'
#!/bin/sh
case $PIP in
none) echo "/usr/bin/python3: No module named pip" && exit 1 ;;
offline) printf 'WARNING: Retrying\nERROR: No matching distribution found for nvidia-cuda-cccl-cu12==12.9.27\n\n' && exit 1 ;;
esac
while [ "$1" != --target ]; do shift; done
[ "$PIP" = other ] && mkdir -p "$2/other" && exit 0
to=$2/nvidia/cuda_cccl/include
mkdir -p "$to/thrust" "$to/cub" "$to/cuda/std/__cccl" "$to/nv"
echo '#define CCCL_VERSION 2008002' >"$to/cuda/std/__cccl/version.h"
echo '#define THRUST_IS 1' >"$to/thrust/version.h"
touch "$to/cub/version.cuh" "$to/cuda/std/version"
END
chmod +x bin/python3
warpage=$(command -v warpage)
(PATH=$PWD/empty && "$warpage" doctor --install cccl 2>&1) | sed "s|$PWD|.|g"
export PATH="$PWD/bin:$PATH"
for PIP in none offline other; do
    export PIP
    say warpage doctor --install cccl
    ls data/warpage
done
export PIP=works
warpage doctor | grep -c '^absent *Thrust, CUB, libcu++ '
say warpage doctor --install cccl
say warpage doctor --install cccl
warpage doctor | grep -o '^ok *Thrust, CUB, libcu++: CCCL 2.8.2 in'
say warpage doctor --install cuda
# A source finds them. A toolkit's are separated from its other headers, which must not mix with ours.
cat >a.cu <<'END'
#include <thrust/version.h>
int is = THRUST_IS;
END
wpcc -c a.cu && ls a.o
mkdir -p toolkit/include
cp -r data/warpage/cccl/nvidia/cuda_cccl/include toolkit
echo '#define THRUST_IS 2' >toolkit/include/thrust/version.h
echo '#error the other toolkit' | tee toolkit/include/cuda_runtime.h >toolkit/include/cuda_runtime_api.h
cat >b.cu <<'END'
#include <cuda_runtime_api.h>
#include <thrust/version.h>
#if THRUST_IS != 2 || __has_include(<nvjpeg.h>)
#error not the toolkit
#endif
END
cp b.cu c.cpp
touch toolkit/include/nvjpeg.h
wpcc -c --cuda-path=toolkit b.cu && ls b.o
wpcc -c -Itoolkit/include b.cu c.cpp && ls c.o
wpcc -c --cuda-path empty a.cu
