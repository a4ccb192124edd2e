# SPDX-License-Identifier: Apache-2.0
# Precompiled headers: taken where they change nothing, left alone where they might, and never seen in the output.
export WARPAGE_CACHE="$PWD/cache"
cat >a.cu <<'END'
#include <stdio.h>
#ifdef PLACE
#include "place.h"
#endif
__global__ void k(int *p) { *p = sizeof(FILE) + printf("x"); }
END
taken() { wpcc -v "$@" 2>&1 | grep -c -- '-include-pch'; }
echo "both sides: $(taken -c a.cu)"
echo "files: $(ls cache/headers-*.pch | wc -l) $(ls cache/headers-*.txt | wc -l)"
echo "again: $(taken -c a.cu)"
echo "files: $(ls cache/headers-*.pch | wc -l)"
cp a.o with.o
echo "not wanted: $(taken --no-header-cache -c a.cu)"
cmp a.o with.o && echo the same object

mkdir place
: >place/place.h
echo "a macro and a folder: $(taken -DPLACE=1 -Iplace -c a.cu)"
echo "a macro that headers have: $(taken -Dsignal=sig -c a.cu)"
: >place/string.h
echo "a folder with a header of theirs: $(taken -DPLACE=1 -Iplace -c a.cu)"
echo "the environment: $(CPATH=$PWD/place taken -c a.cu)"
echo "C++14: $(taken -std=c++14 -c a.cu)"
echo "C++20: $(taken -std=c++20 -c a.cu)"
echo "debug information, the host side reads: $(taken -g -c a.cu)"
echo "a depfile, the host side reads: $(taken -MD -c a.cu)"

# The same complaint, and a header that changed is read again.
echo '__global__ void k() { nonsense(dim3(1)); float4 f = dim3(2); }' >b.cu
wpcc -c b.cu 2>with
wpcc --no-header-cache -c b.cu 2>without
cmp with without && echo the same complaint
for file in cache/headers-*.txt; do
    sed -i 's/^F \([0-9]*\) [0-9]* /F \1 1 /' "$file"
done
touch before
echo "changed: $(taken -c a.cu)"
echo "made anew: $(find cache -name 'headers-*.pch' -newer before | wc -l)"
for file in cache/headers-*.pch; do
    : >"$file"
done
rm a.o
echo "damaged: $(taken -c a.cu)"
cmp a.o with.o && echo works
# The same length and time, other bytes; then a list that lost its end.
for file in cache/headers-*.pch; do
    cp -p "$file" kept
    dd if=/dev/zero of="$file" bs=4096 seek=20 count=20 conv=notrunc 2>/dev/null
    touch -r kept "$file"
done
rm a.o
echo "damaged within: $(taken -c a.cu)"
wpcc -c a.cu && cmp a.o with.o && echo works
for file in cache/headers-*.txt; do
    truncate -s -100 "$file"
done
touch before
echo "a damaged list: $(taken -c a.cu)"
echo "made anew: $(find cache -name 'headers-*.pch' -newer before | wc -l)"
# What another user could have written is not read.
chmod go+w cache
wpcc -c a.cu 2>&1 | sed "s|$PWD|.|g"
chmod go-w cache
(umask 0 && wpcc -c a.cu && rm -r cache && wpcc -c a.cu)
echo "under any umask: $(taken -c a.cu)"
touch file
echo "no folder: $(WARPAGE_CACHE=$PWD/file/cache taken -c a.cu)"
