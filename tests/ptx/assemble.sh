#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The PTX of one source must be complete, and NVIDIA's assembler must take it for each GPU generation. It optimises for the
# first of them only, as that takes most of its time:
#     assemble.sh <wpcc> <llc> <source.cu | nvptxlib.bc>
# A bitcode file is the device library itself: every function of it. As in tests/e2e, `// FLAGS:` in the
# first lines are more options for wpcc. COMPILED=folder: X.ptx in it, if it is there, is the PTX of X.cu, which wpcc made
# with the program (tests/e2e/run.sh).
set -u
wpcc=$1 llc=$2 source=$3
root=$(cd "$(dirname "$0")/../.." && pwd)
ptxas=${WARPAGE_PTXAS:-$root/build/ptxas/ptxas}
if [ ! -x "$ptxas" ]; then
    echo "ptxas is not there; fetch it by tools/ptxas.sh, or set WARPAGE_PTXAS to a ptxas 12"
    exit 1
fi
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
made=${COMPILED:-$tmp}/$(basename "$source" .cu).ptx
case $source in
*.bc) "$llc" -O1 -mcpu=sm_70 -mattr=+ptx63 "$source" -o "$tmp/x.ptx" || exit 1 ;;
*)
    # shellcheck disable=SC2046  # flags are words
    cp "$made" "$tmp/x.ptx" 2>/dev/null ||
        "$wpcc" $(sed -n '1,12s|^// FLAGS: *||p' "$source") -I "$root/apps" -I "$root/src" -I "$root/include" -ptx \
            "$source" -o "$tmp/x.ptx" || exit 1
    ;;
esac

# The driver defines these four; all other functions must be in the file.
left=$(grep -A1 '^\.extern \.func' "$tmp/x.ptx" | grep -oE '[A-Za-z_$][A-Za-z0-9_$]*' |
    grep -vxE 'extern|func|param|align|b8|b32|b64|func_retval0|vprintf|__assertfail|malloc|free|noreturn' |
    grep -vE '_param_[0-9]+$' | sort -u)
if [ -n "$left" ]; then
    echo "undefined functions in the PTX:" $left
    exit 1
fi

needed=$(sed -n 's/^\.target sm_\([0-9]*\).*/\1/p' "$tmp/x.ptx")
only=$(sed -n 's/^\.target sm_[0-9]*\(a*\).*/\1/p' "$tmp/x.ptx") # a: no other generation has its instructions
done=0
level=3
for arch in 70 80 90; do
    [ "$arch" -ge "$needed" ] || continue
    if ! "$ptxas" -O$level -arch=sm_$arch$only "$tmp/x.ptx" -o "$tmp/x.cubin" >"$tmp/log" 2>&1; then
        echo "ptxas -arch=sm_$arch$only:"
        head -n 10 "$tmp/log"
        exit 1
    fi
    done=$((done + 1))
    level=0
done
if [ $done -eq 0 ]; then
    echo "the PTX wants sm_$needed, which is not among the GPUs tested"
    exit 1
fi
