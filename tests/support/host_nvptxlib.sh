#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The mathematics of the GPU's device library as an object for this machine, so that its results can be
# compared with the C library's:    host_nvptxlib.sh <folder of LLVM's tools> <nvptxlib.bc> <object>
# The same IR; address spaces vanish, and GPU instructions (llvm.nvvm.ex2.approx.f …) become functions
# (nvvm.ex2.approx.f …), which the test defines.
set -eu
llvm=$1 library=$2 object=$3
kept='__nv_*'
"$llvm/llvm-dis" "$library" -o - | sed -E \
    -e 's/^target datalayout.*/target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"/' \
    -e 's/^target triple.*/target triple = "x86_64-pc-linux-gnu"/' \
    -e 's/addrspace\([0-9]\) ?//g; s/"target-(cpu|features)"="[^"]*"//g' \
    -e 's/@llvm\.nvvm\./@nvvm./g; s/(nocallback|speculatable|immarg) ?//g' \
    -e '/^define.*@__wp_/,/^}/d' \
    -e '/^define.*@__nv_[a-z]+2[a-z]+_rz\(/,/^}/d' >"$object.ll" # inline PTX
"$llvm/opt" -passes=internalize,globaldce -internalize-public-api-list="$kept" "$object.ll" -o "$object.bc"
"$llvm/clang" -O1 -mfma -fPIC -Wno-override-module -ffunction-sections -c "$object.bc" -o "$object"
