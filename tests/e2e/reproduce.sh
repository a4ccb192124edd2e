#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A figure run again gives what is recorded.
set -eu
"$WARPAGE" reproduce --list --format csv tlb-damon17/table2 >"$TMP/recorded"
"$WARPAGE" reproduce --format csv tlb-damon17/table2 >"$TMP/again"
diff "$TMP/recorded" "$TMP/again"
