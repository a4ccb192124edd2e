#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wpcc --policy and --policy-file. One of Warpage's own policies of each kind, under another name and compiled to a file, gives the
# same numbers as the one that is part of the library, in run, compare, replay and advise; the examples work; what is recorded says
# which file it was.
set -u
failures=0
cd "$TMP" || exit 1
"$WPCC" -O2 "$E2E/sim/pages_by_allocation.cu" -o program || exit 1
"$WPCC" -O2 "$E2E/sim/host_touch.cu" -o host || exit 1
SOURCE=$E2E/../..

fail() {
    echo "$1"
    failures=1
}
# The library's policy KIND NAME as my-NAME, to FILE.so
copy() { # kind, name, file
    sed "s/\"$2\"/\"my-$2\"/; s/wpi_policy_$1_\([a-z0-9_]* = \)/wpi_policy_$1_my_\1/" "$SOURCE/src/policy/$1/$2.c" >"$3.c"
    "$WPCC" --policy "$3.c" -o "$3.so" 2>err || fail "$1 $2: $(cat err)"
    [ -s err ] && fail "$1 $2 compiles with warnings: $(cat err)"
    rm -f "$3.c" # nothing but the file is used from here on
}
# What was simulated; the file and the clock are not in it.
numbers() { sed '/"policy_files"/,/\],/d; /"wall_time_ns"/d' "$1"; }
same() { # program, key, kind, name, options…
    program=$1 key=$2 kind=$3 name=$4
    shift 4
    copy "$kind" "$name" "$kind"
    "$WARPAGE" run "$@" --set "$key=$name" --report own.json -- "./$program" >own.out 2>err || fail "$key=$name: $(cat err)"
    "$WARPAGE" run "$@" --policy-file "$kind.so" --set "$key=my-$name" --report file.json -- "./$program" >file.out 2>err ||
        fail "$key=my-$name: $(cat err)"
    cmp -s own.out file.out || fail "$key=$name: other output"
    numbers own.json >own.numbers
    numbers file.json >file.numbers
    cmp own.numbers file.numbers || fail "$key=$name: other numbers"
    grep -q "\"path\": \".*/$kind.so\"" file.json || fail "$key=$name: the report does not name the file"
    grep -q policy_files own.json && fail "$key=$name: a report without files names one"
}

same program sm.scheduler scheduler rr --device sim:gtx1080ti
same program 'tlb.l1.replacement' replacement random --device sim:gem5-16sm
same program tlb_sharing.policy tlb_sharing neidty-twice --device sim:gem5-16sm
same program tlb_prefetch.policy tlb_prefetch locality --device sim:gem5-16sm
same program paging.prefetch prefetch idle-tree --device sim:gtx1080ti --oversubscribe 150%
same program paging.evict evict tree --device sim:gtx1080ti --oversubscribe 150%
same program paging.migrate migrate payback --device sim:gtx1080ti --oversubscribe 150% --set prefetch=none
same host paging.thrash thrash driver --device sim:gtx1080ti

# compare, replay and advise; beside --migrate and the like.
"$WARPAGE" compare --device sim:gtx1080ti --oversubscribe 150% --format csv --policy-file migrate.so --policy-file evict.so \
    --vary migrate=payback,my-payback --vary evict=tree,my-tree --output kept -- ./program >table 2>err || fail "compare: $(cat err)"
[ "$(tail -n +2 table | cut -d, -f3-12 | sort -u | wc -l)" -eq 1 ] || fail "compare: four times the same differ: $(cat table)"
"$WARPAGE" trace replay --device sim:gtx1080ti --policy-file migrate.so --set oversubscribe=150% --set migrate=my-payback \
    --format json kept/*.wpt >replay.json 2>err || fail "replay: $(cat err)"
grep -q '"path": ".*/migrate.so"' replay.json || fail "replay: the report does not name the file"
"$WARPAGE" advise --device sim:gtx1080ti --oversubscribe 150% --limit 1 --policy-file migrate.so --migrate my-payback \
    -- ./program >advice 2>err || fail "advise: $(cat err)"
"$WARPAGE" run --device sim:gtx1080ti --oversubscribe 150% --policy-file migrate.so --policy-file evict.so --migrate my-payback \
    --evict my-tree -- ./program >out 2>text || fail "run: $(cat text)"
grep -q '^  with policy file .*/migrate.so (hash [0-9a-f]\{16\})$' text || fail "the report's text names no file: $(cat text)"

# A file that was built anew is not answered from results of the old one.
copy migrate always migrate
"$WARPAGE" run --device sim:gtx1080ti --policy-file migrate.so --migrate my-payback -- ./program >out 2>err &&
    fail "a policy that is no longer in the file is found"
grep -q "no migrate policy 'my-payback'; did you mean" err || fail "$(cat err)"

# The programs' own variable, without the command.
WARPAGE_DEVICE=sim:gtx1080ti WARPAGE_SET=migrate=my-always WARPAGE_POLICY_FILES=$TMP/migrate.so ./program >out 2>err ||
    fail "by environment: $(cat err)"

# The examples, unchanged.
for kind in migrate evict prefetch tlb_sharing; do
    for file in "$SOURCE/examples/policies/$kind"/*.c; do
        name=$(basename "$file" .c)
        "$WPCC" --policy "$file" -o "$name.so" >err 2>&1 || fail "$name: $(cat err)"
        [ -s err ] && fail "$name compiles with warnings: $(cat err)"
        "$WARPAGE" policies --policy-file "$name.so" --format csv "$kind" | grep -q "^$kind,$name," || fail "$name is not listed"
        device=sim:gtx1080ti key=paging.$kind
        [ "$kind" = tlb_sharing ] && device=sim:gem5-16sm key=tlb_sharing.policy
        "$WARPAGE" run --device "$device" --policy-file "$name.so" --set "$key=$name" -- ./program >out 2>err || fail "$name: $(cat err)"
    done
done
exit $failures
