# SPDX-License-Identifier: Apache-2.0
# Checked kernels are compiled once and kept; a damaged one is compiled again; without wpcc the launch fails with a
# message; without a folder it goes on without a cache.
cd "$TMP" || exit 2
export WARPAGE_CACHE="$TMP/cache"
export WARPAGE_CHECK=1
cat >mistakes.cu <<'END'
#include <string.h>
__global__ void store(int *x) { x[threadIdx.x] = 1; }
int main(int argc, char **argv) {
    int *x, *gone;
    cudaMalloc(&x, 64);
    cudaMalloc(&gone, 64);
    cudaFree(gone);
    store<<<1, 4>>>(argc > 1 && strcmp(argv[1], "freed") == 0 ? gone : x);
    cudaDeviceSynchronize();
    cudaFree(x);
    return 0;
}
END
"$WPCC" mistakes.cu -o mistakes || exit 1
fail() { echo "$1"; cat out talk; exit 1; }
run() { WARPAGE_LOG=device.variant:info ./mistakes "$@" >out 2>talk; }

run none || fail "first run"
grep -q "made 'races' with " talk || fail "not made by wpcc"
[ "$(find cache -name 'races-*' | wc -l)" -eq 1 ] || fail "the cache holds $(ls cache)"
run none || fail "second run"
grep -q 'from the cache' talk || fail "made twice"

for file in cache/races-*.so; do
    printf 'not a library' >"$file"
done
run none || fail "a damaged library is not made again"
grep -q "made 'races' with " talk || fail "a damaged library was taken"
grep -q 'nothing found' talk || fail "not checked"

# Cut short at a page, as by a full disk or a crash, in each kind of variant: the loader would die of SIGBUS.
WARPAGE_CHECK=0 WARPAGE_DEVICE=sim:k80 ./mistakes >out 2>talk || fail "no simulated run"
for file in cache/*.so; do
    truncate -s 8192 "$file"
done
run none || fail "a truncated library is not made again"
grep -q "made 'races' with " talk || fail "a truncated library was taken"
for again in made from; do
    WARPAGE_CHECK=0 WARPAGE_DEVICE=sim:k80 WARPAGE_LOG=device.variant:info ./mistakes >out 2>talk || fail "truncated: exit status $?"
    grep -q "device.variant: .*$again" talk || fail "truncated: not '$again'"
done

# Others could have put code there: not loaded, one sentence, and the run goes on.
chmod go+w cache
run none || fail "a cache that others can write ends the program"
[ "$(grep -c 'can be written by other users and is not used; run: chmod go-w' talk)" -eq 1 ] || fail "an open folder is not told"
grep -q "made 'races' with " talk || fail "a library of an open folder was loaded"
chmod go-w cache
chmod go+w cache/races-*.so
run none || fail "a library that others can write ends the program"
grep -q "can be written by other users and is not used" talk || fail "an open file is not told"
run none || fail "not made again"
grep -q 'from the cache' talk || fail "an open file stays open"
grep -q 'other users' talk && fail "still open"

touch file # a folder that cannot be made
WARPAGE_CACHE="$TMP/file/cache" run freed || fail "no cache, no check"
grep -q 'use of freed memory' talk || fail "not checked without a cache"

mkdir empty
WARPAGE_CACHE="$TMP/empty" WARPAGE_WPCC=/nonexistent/wpcc run none
grep -q "WARPAGE_WPCC is '/nonexistent/wpcc', which is not a program" talk || fail "a missing wpcc is not told"
grep -q 'the kernels could not be checked' talk || fail "an unchecked run looks like a clean one"
[ -z "$(ls empty)" ] || fail "something was left in the cache"
WARPAGE_CACHE="$TMP/empty" WARPAGE_WPCC=/bin/false "$WARPAGE" run --check -- ./mistakes none >out 2>talk
[ $? -eq 1 ] || fail "not checked, yet a success"
grep -q "/bin/false could not compile the variant 'races'" talk || fail "a failing wpcc is not told"
exit 0
