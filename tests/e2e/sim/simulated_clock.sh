#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# warpage run --simulated-clock: every clock that the program reads says what the events say.
set -u
failures=0
cd "$TMP" || exit 1
fail() {
    echo "$1"
    failures=1
}
"$WPCC" -O2 "$E2E/sim/simulated_clock.cu" -o clocks || exit 1

"$WARPAGE" run --device sim:v100 --simulated-clock ./clocks >first 2>err || {
    grep -q 'this build has no library for it' err && exit 77 # sanitizers
    fail "$(cat err)"
}
awk '$1 == "event" {
    if (!($2 > 1)) { print "no time: " $0; exit 1 }
    for (i = 4; i <= 10; i += 2) if ($i < $2 - 1.5 || $i > $2 + 1.5) { print $(i - 1) ": " $0; exit 1 }
    found = 1
}
END { exit !found }' first || fail "clocks and events differ: $(cat first)"
grep -qx "day $(($(date +%s) / 86400))" first || fail "another day: $(cat first)"

"$WARPAGE" run --device sim:v100 ./clocks 2>/dev/null |
    awk '$1 == "event" && $4 > 2 * $2 { found = 1 } END { exit !found }' || fail "real clocks are simulated, too"
"$WARPAGE" run --simulated-clock ./clocks 2>err && fail "accepted on cpu"
grep -q -- '--simulated-clock needs a simulated GPU' err || fail "no reason: $(cat err)"
exit $failures
