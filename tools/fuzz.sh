#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fuzzes the readers of profiles, traces and tables with libFuzzer, under the address and undefined-behaviour sanitizers:
#
#     tools/fuzz.sh [seconds] [trace.wpt...]      e.g. tools/fuzz.sh 240 small.wpt
#
# Builds in build/fuzz with clang 19; inputs that find something new are kept in build/fuzz/corpus, what breaks a reader
# in build/fuzz/found. Seeds: configs/*.ini, and the traces named (`warpage trace record` of something small).
# Exit status: 0 nothing was found, 1 something was.
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-240}
[ $# -eq 0 ] || shift
build=build/fuzz
sanitize=address,undefined
mkdir -p $build/corpus/profile $build/corpus/trace $build/corpus/table $build/found
cmake -G Ninja -S . -B $build -DCMAKE_C_COMPILER=clang-19 -DCMAKE_BUILD_TYPE=RelWithDebInfo -DWARPAGE_WERROR=OFF \
    -DCMAKE_C_FLAGS="-fsanitize=fuzzer-no-link,$sanitize -fno-sanitize-recover=undefined" >$build/configure.log
ninja -C $build wpruntime wpbase wptable_io wpops >$build/build.log || { tail -n 20 $build/build.log; exit 1; }
# Words of profiles: sections, keys, choices, units.
{
    sed -n 's/^ *{"\([a-z]*\)\.\([a-z*]*\.\)\{0,1\}\([a-z_]*\)", WPI.*/"[\1]"\n"\3 = "/p' src/sim/profile/profile_keys.c | sort -u
    printf '"%s"\n' tlb.l1 tlb.l4 class.fp32 gto lru random xor modulo groups gpc GiB KiB cycles ns GB/s B/cycle 6x8,1x17 '| '
} >$build/profile.dict
printf '"Warpage"\n"\\x28\\xb5\\x2f\\xfd"\n' >$build/trace.dict # zstd's first bytes
printf '","\n"\\x93NUMPY"\n"descr"\n"shape"\n"fortran_order"\n' >$build/table.dict
cp tests/table_io/inputs/* $build/corpus/table
cp configs/*.ini $build/corpus/profile
[ $# -eq 0 ] || cp "$@" $build/corpus/trace
status=0
for target in profile trace table; do
    clang-19 -g -O1 -std=c17 -D_POSIX_C_SOURCE=200809L -DWP_FUZZ -Iinclude -Isrc -Itests/support \
        -fsanitize=fuzzer,$sanitize -fno-sanitize-recover=undefined tests/fuzz/$target.c \
        -Wl,--start-group $build/objects/libwptable_io.a $build/objects/libwpops.a $build/objects/libwpruntime.a $build/objects/libwpbase.a -Wl,--end-group \
        -linih -lzstd -lz -ljansson -ldl -lm -lpthread -o $build/fuzz_$target
    $build/fuzz_$target -max_total_time="$seconds" -max_len=16384 -dict=$build/$target.dict -artifact_prefix=$build/found/$target- \
        $build/corpus/$target >$build/$target.log 2>&1 || status=1
    tail -n 2 $build/$target.log
done
exit $status
