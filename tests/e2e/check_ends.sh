# SPDX-License-Identifier: Apache-2.0
# The checker's ways out: nothing found, leaks, the exit status, WARPAGE_CHECK_STOP, the environment alone.
cd "$TMP" || exit 2
export WARPAGE_CACHE="$TMP/cache"
"$WPCC" "$E2E/check/mistakes.cu" -o mistakes || exit 1
fail() { echo "$1"; cat out talk; exit 1; }

"$WARPAGE" run --check -- ./mistakes none >out 2>talk || fail "a clean program fails"
grep -q '^warpage check: nothing found$' talk || fail "nothing found, and not said"

"$WARPAGE" run --check -- ./mistakes leak >out 2>talk
[ $? -eq 1 ] || fail "a leak does not change the exit status"
grep -q '^warpage check: 1 allocation was never freed, 1000 bytes$' talk || fail "no leak"
grep -Eq '^    1000 bytes at 0x[0-9a-f]+, number 1, allocated by mistakes\+0x[0-9a-f]+$' talk || fail "whose leak?"

# Without `warpage run` the exit status is the program's own.
WARPAGE_CHECK=1 ./mistakes global_over >out 2>talk || fail "the program's exit status was changed"
grep -q 'out-of-bounds access$' talk || fail "WARPAGE_CHECK=1 finds nothing"
./mistakes none >out 2>talk || fail "does not run unchecked"
grep -q 'warpage check' talk && fail "checked unasked"

# The kernel ends, CUDA answers with its error.
WARPAGE_CHECK=1 WARPAGE_CHECK_STOP=1 ./mistakes freed >out 2>talk
[ "$(cat out)" = cudaErrorIllegalAddress ] || fail "WARPAGE_CHECK_STOP=1 does not stop the kernel"
grep -q '^warpage check: 1 finding$' talk || fail "one mistake is not one finding"

# A program that fails keeps its status.
"$WARPAGE" run --check -- sh -c './mistakes freed; exit 3' >out 2>talk
[ $? -eq 3 ] || fail "the program's own failure is hidden"
WARPAGE_CHECK=maybe ./mistakes none >out 2>talk
grep -q "check: 'maybe' is neither on nor off" talk || fail "a wrong value is taken"
exit 0
