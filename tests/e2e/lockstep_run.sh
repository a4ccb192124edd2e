# SPDX-License-Identifier: Apache-2.0
# WARPAGE_LOCKSTEP=1 at run time: a program compiled without --lockstep runs with the lanes of its warps in step.
set -e
cd "$TMP"
export XDG_CACHE_HOME="$TMP/cache"
unset WARPAGE_LOCKSTEP
"$WPCC" -I "$E2E" "$E2E/lockstep.cu" -o plain
./plain >said && { echo "the program needs no steps"; cat said; exit 1; }
for device in cpu sim:gtx1080ti; do
    WARPAGE_LOCKSTEP=1 WARPAGE_DEVICE=$device ./plain >said 2>talk || { echo "on $device:"; cat said talk; exit 1; }
    [ "$(tail -n 1 said)" = PASS ] || { echo "on $device:"; cat said talk; exit 1; }
done
WARPAGE_LOCKSTEP=2 ./plain >said 2>talk && { echo "2 was taken"; exit 1; }
grep -qi "lockstep" talk || { cat said talk; exit 1; }
