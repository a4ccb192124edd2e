# SPDX-License-Identifier: Apache-2.0
# The kinds of tables of pvc on GPUs: without page faults managed memory beyond device memory is refused, with the
# reason; with them it is counted right while pages are evicted. A table in page-locked memory is accessed across the
# link, and copied no second time.
set -e
pvc=$(dirname "$WPCC")/../apps/pvc
[ -x "$pvc" ] || { echo "pvc is not built"; exit 1; }
"$pvc" --size 20K >"$TMP/whole" 2>"$TMP/stderr"

! WARPAGE_DEVICE=sim:gtx780ti "$pvc" --size 4000 --table managed --heap 4GiB >"$TMP/stdout" 2>"$TMP/stderr"
[ "$(wc -l <"$TMP/stderr")" -eq 1 ]
grep -q "4294967296 bytes of managed memory on .*GTX 780 Ti.* has no page faults: all of it must be resident" "$TMP/stderr"

"$WARPAGE" run --device sim:gtx1080ti --set gpu.memory=3MiB --report "$TMP/managed.json" -- "$pvc" --size 20K \
    --table managed --heap 16MiB --page 4KiB --buckets 2048 --group 1 --chunk 64KiB >"$TMP/managed" 2>"$TMP/stderr"
for table in sepo pinned; do
    "$WARPAGE" run --device sim:gtx780ti --report "$TMP/$table.json" -- "$pvc" --size 20K --table $table --heap 4MiB \
        >"$TMP/$table" 2>"$TMP/stderr"
done
python3 - "$TMP" <<EOF
import json, sys
counters = {}
for kind in "managed", "sepo", "pinned":
    printed, whole = (open(f"{sys.argv[1]}/{name}").read() for name in (kind, "whole"))
    assert printed.startswith(whole), kind # the report of the run follows
    counters[kind] = json.load(open(f"{sys.argv[1]}/{kind}.json"))["simulation"]["counters"]
assert counters["managed"]["paging_evicted"] > 0
assert counters["sepo"]["link_to_host_remote_bytes"] == 0
assert counters["pinned"]["link_to_host_remote_bytes"] > 100000
table_bytes = 100000 # a little less
assert counters["pinned"]["link_to_host_copied_bytes"] < counters["sepo"]["link_to_host_copied_bytes"] - table_bytes
EOF
