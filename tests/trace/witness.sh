#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Programs of tests/e2e with their kernels in the variants `trace` and `instep`, under the eyes of
# witness.c: results must be right, and every thread's words must fit the tables.
#     witness.sh <wpcc> <source.cu>...
# A source with the line `// WITNESS: trace` is tried in that variant only: `instep` leaves it to the simulated GPU to
# keep the lanes of a warp together.
# The CPU device runs the variants in the place of `check`, for which it asks a wpcc that stands in.
set -u
wpcc=$1
shift
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$(dirname "$wpcc")/.." && pwd)
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
cat >"$tmp/wpcc" <<END
#!/bin/sh
for word; do
    shift
    [ "\$word" = --variant=races ] && word=--variant=\$WITNESS_VARIANT
    set -- "\$@" "\$word"
done
exec "$build/bin/wpcc" "\$@"
END
chmod +x "$tmp/wpcc"
status=0
for source; do
    # shellcheck disable=SC2046  # flags are words
    "$wpcc" $(sed -n '1,12s|^// FLAGS: *||p' "$source") "$source" -o "$tmp/x" || exit 1
    variants=$(sed -n '1,12s|^// WITNESS: *||p' "$source")
    for variant in ${variants:-trace instep}; do
        env WARPAGE_WORKERS=2 WARPAGE_CHECK=1 WARPAGE_CACHE="$tmp/$variant" WARPAGE_WPCC="$tmp/wpcc" \
            WITNESS_VARIANT=$variant WITNESS_REPORTS=1 LD_PRELOAD="$build/tests/libtrace_witness.so" \
            timeout 200 "$tmp/x" >"$tmp/out" 2>"$tmp/err"
        code=$?
        if [ $code -ne 0 ] || [ "$(tail -n 1 "$tmp/out")" != PASS ] ||
            ! grep -q 'witness: [1-9]' "$tmp/err"; then
            echo "$(basename "$source") as $variant: exit status $code"
            tail -n 5 "$tmp/out" "$tmp/err"
            status=1
        fi
        rm -rf "${tmp:?}/$variant"
    done
done
exit $status
