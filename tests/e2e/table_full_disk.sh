# SPDX-License-Identifier: Apache-2.0
# A folder without space: a table that is saved there, or that spills what exceeds the host's memory, says so in one
# sentence; the file that was there before stays, and nothing else does.
cd "$TMP" || exit 2
pvc=$(dirname "$WPCC")/../apps/pvc
[ -x "$pvc" ] || { echo "pvc is not built"; exit 1; }
cat >save.cu <<'EOF'
#include <stdio.h>
#include <cuda_runtime.h>
#include <warpage/cudart.h>
#include <warpage/table.h>

static wp_status insert(void *table, const wp_units *units, uint64_t first, uint64_t outer, wp_error *err)
{
    const wp_table_view view = wp_table_get_view((const wp_table *)table);
    (void)err;
    for (uint64_t unit = first; unit < outer; unit++) {
        wp_attempt attempt = wp_attempt_begin(units, unit);
        wp_table_emit(&view, &attempt, &unit, sizeof unit, &unit, sizeof unit);
        wp_attempt_end(&attempt);
    }
    return WP_STATUS_OK;
}

int main(int count, char **arguments)
{
    wp_table_spec spec = WP_TABLE_SPEC_INIT;
    spec.heap_bytes = 1 << 20;
    const wp_postpone_spec units = {10000, 0, 1, 0};
    wp_table *table = NULL;
    wp_postpone *postpone = NULL;
    wp_error err = {WP_STATUS_OK};
    if (wp_table_create(wp_cudart_device(), &spec, &table, &err) == WP_STATUS_OK &&
        wp_postpone_create(wp_cudart_device(), &units, &postpone, &err) == WP_STATUS_OK) {
        const wp_requester requester = {table, insert, NULL};
        if (wp_table_run(table, postpone, &requester, NULL, &err) == WP_STATUS_OK)
            (void)wp_table_save(table, arguments[1], &err);
    }
    if (err.status != WP_STATUS_OK) fprintf(stderr, "save: %s\n", err.message);
    wp_postpone_destroy(postpone);
    wp_table_close(table);
    return count != 2 || err.status != WP_STATUS_OK;
}
EOF
"$WPCC" -O1 save.cu -o save || exit 1
mkdir full
mount -t tmpfs -o size=256k tmpfs full 2>/dev/null || exit 77 # needs root
trap 'umount full' EXIT
fail() { echo "$1"; cat talk; ls -l full; exit 1; }

echo before >full/table
WARPAGE_DEVICE=cpu ./save full/table 2>talk && fail "saved"
[ "$(wc -l <talk)" -eq 1 ] || fail "not one sentence"
grep -q '^save: .*full/table.*: No space left on device' talk || fail "not why"
[ "$(ls full)" = table ] || fail "something is left"
[ "$(cat full/table)" = before ] || fail "the file from before is gone"
rm full/table

# A plain log stays in its file, so that only the table needs room.
awk 'BEGIN { for (i = 0; i < 20000; i++) printf "10.0.0.1 - - [x] \"GET /%d.html HTTP/1.0\" 200 9\n", i }' >log
TMPDIR=$TMP/full WARPAGE_DEVICE=cpu "$pvc" --input log --table sepo --heap 256KiB --host-memory 300KiB >out 2>talk && fail "spilled"
[ "$(grep -c '^pvc: ' talk)" -eq 1 ] || fail "not one sentence"
grep -q '^pvc: .*exceed host_bytes.*/full: No space left on device' talk || fail "not why"
[ ! -s out ] || fail "a result in spite of it"
[ -z "$(ls full)" ] || fail "something is left"

# A log that is made goes to a file, too.
TMPDIR=$TMP/full WARPAGE_DEVICE=cpu "$pvc" --size 200K --table sepo --heap 256KiB --host-memory 300KiB >out 2>talk && fail "made"
[ "$(grep -c '^pvc: ' talk)" -eq 1 ] || fail "not one sentence"
grep -q '^pvc: the log: no room for .*: No space left on device; set TMPDIR' talk || fail "not why"
[ -z "$(ls full)" ] || fail "something is left"
exit 0
