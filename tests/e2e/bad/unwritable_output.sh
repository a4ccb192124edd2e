# SPDX-License-Identifier: Apache-2.0
# An output that cannot be written whole (a full disk) is named, and no part of it stays.
cd "$TMP" || exit 1
echo '__global__ void k(int *p) { *p = 1; } int main(void) { return 0; }' >good.cu
"$WPCC" -c good.cu -o /dev/full 2>stderr
status=$?
[ $status -eq 1 ] && grep -q '/dev/full' stderr || { echo "exit status $status:"; cat stderr; exit 1; }
[ -c /dev/full ] || { echo "/dev/full was replaced"; exit 1; }
echo old >kept
chmod 444 kept
echo '__global__ void k(int *p) { *p = 1 }' >bad.cu
"$WPCC" -c bad.cu -o kept 2>/dev/null && exit 1
[ "$(cat kept)" = old ] || { echo "a failed compilation touched its output"; exit 1; }
