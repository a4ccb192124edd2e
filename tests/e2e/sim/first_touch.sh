#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# An unused page is created on the device: a far fault, and nothing over the link; pages the host has used are transferred.
set -u
"$WPCC" -O2 "$E2E/sim/first_touch.cu" -o "$TMP/first_touch" || exit 1
. "$E2E/../support/page_counts.sh"

copied() { member link_to_device_copied_bytes; }
# far_faults fetched made remote evicted, copied bytes of managed memory
check() { # how, counts, bytes of other copies
    report --prefetch $prefetch -- "$TMP/first_touch" "$1"
    expect "$1" "$(counts far_faults fetched made remote evicted)$(($(copied) - ${3:-0}))" "$2"
    expect_replay "$TMP/first_touch" "$1"
}
check none "1024 0 1024 0 0 0"
check some "1024 50 974 0 0 $((50 * 4096))"
check read "1024 5 1019 0 0 $((5 * 4096))"
check copy "1024 50 974 0 0 $((50 * 4096))" $((50 * 4096))
check fill "1024 30 994 0 0 $((30 * 4096))"
check sent "1024 60 964 0 0 $((60 * 4096))"
check brought "0 0 1024 0 0 0"
check mapped "964 0 964 180 0 0" # read and written, and read

# Served in batches, the same. As UVMSmart, and where it is switched off, everything comes.
report --prefetch none --set service=batch -- "$TMP/first_touch" some
expect batches "$(counts fetched made)" "50 974 "
report --as uvmsmart --prefetch none -- "$TMP/first_touch" none
expect uvmsmart "$(counts fetched made)" "1024 0 "
report --prefetch none --set zero_fill=off -- "$TMP/first_touch" none
expect off "$(copied)" $((1024 * 4096))
# What was made has no copy on the host: it is written back, and comes the next time.
report --prefetch none --evict lru-2m --oversubscribe 200% --set drop_clean=on -- "$TMP/first_touch" none
expect "written back" "$(counts written_back)" "$(counts evicted)"
[ "$(member paging_fetched)" -gt 0 ] || { echo "nothing came again"; failures=1; }
# In order, the driver brings 2 MiB as a whole to the device that they prefer, if they are nowhere yet.
report --prefetch driver -- "$TMP/first_touch" preferred
expect preferred "$(counts far_faults made)" "2 1024 "
exit $failures
