# SPDX-License-Identifier: Apache-2.0
# Addresses of variables in constants are the program's variables in checked code too.
cd "$TMP" || exit 2
export WARPAGE_CACHE="$TMP/cache"
"$WPCC" "$E2E/check/tables.cu" -o tables || exit 1
[ "$(./tables)" = PASS ] || exit 1
"$WARPAGE" run --check -- ./tables >out 2>talk || { cat out talk; exit 1; }
grep -qx PASS out || { cat out talk; exit 1; }
