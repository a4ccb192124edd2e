# SPDX-License-Identifier: Apache-2.0
# A temporary folder without space: `run` says that the run record could not be written, and why, and fails.
cd "$TMP" || exit 2
"$WPCC" "$E2E/../../examples/vecadd.cu" -o vecadd || exit 1
mkdir full
mount -t tmpfs -o size=64k tmpfs full 2>/dev/null || exit 77 # needs root
trap 'umount full' EXIT
fail() { echo "$1"; cat out talk; exit 1; }

# Room for the note that stands for the record, not for the record.
fill() { dd if=/dev/zero of=full/fill bs=1024 count="$1" 2>/dev/null; }
for kib in 56 60 64; do
    fill $kib
    TMPDIR=$TMP/full "$WARPAGE" run -- ./vecadd >out 2>talk
    status=$?
    [ $kib -eq 64 ] || [ $status -ne 0 ] || continue # it did fit
    [ $status -eq 1 ] || fail "$kib KiB used: exit status $status"
    [ "$(grep -c '^warpage run: ' talk)" -eq 1 ] || fail "$kib KiB used: not one sentence"
    grep '^warpage run: ' talk | grep -q 'No space left on device; set TMPDIR' || fail "$kib KiB used: not why"
    grep -q 'not built by wpcc' talk && fail "$kib KiB used: a guess"
    [ "$(ls full)" = fill ] || fail "$kib KiB used: $(ls full) is left"
    seen="$seen $(grep -c 'the run record of ./vecadd could not be written' talk)"
    rm full/fill
done
case $seen in *1*) ;; *) fail "no run came as far as its record:$seen" ;; esac

# The program's own failure comes first.
fill 60
printf '#!/bin/sh\n./vecadd\nexit 3\n' >three && chmod +x three
TMPDIR=$TMP/full "$WARPAGE" run -- ./three >out 2>talk
[ $? -eq 3 ] || fail "not the program's exit status"
exit 0
