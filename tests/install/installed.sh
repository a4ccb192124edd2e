#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# An installed Warpage is complete and does not use the build tree: installed.sh <build tree>
set -u
failures=0
build=$(cd "$1" && pwd) || exit 2
here=$(cd "$(dirname "$0")" && pwd) || exit 2
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
prefix=$tmp/prefix
unset WARPAGE_DEVICE WARPAGE_SET WARPAGE_POLICY_FILES
cmake --install "$build" --prefix "$prefix" >"$tmp/log" 2>&1 || {
    cat "$tmp/log"
    exit 1
}
mkdir "$tmp/here" && cd "$tmp/here" || exit 2

fail() {
    echo "$1"
    failures=1
}

# Every program, page and script; nothing in it leads to the build tree.
for file in bin/wpcc bin/warpage lib/libwarpage.so.0 lib/warpage/devicelib.bc lib/warpage/configs/k80.ini lib/warpage/cuda/bin/nvcc \
    lib/warpage/policy/libwarpage_policy.a lib/warpage/policy/include/policy/migrate.h include/warpage/warpage.h include/warpage/table.h include/warpage/table_data.h include/warpage/table_kernel.h include/warpage/postpone.h include/warpage/mapreduce.h lib/pkgconfig/warpage.pc \
    share/man/man1/warpage.1 share/man/man1/wpcc.1 share/bash-completion/completions/warpage share/bash-completion/completions/wpcc \
    share/zsh/site-functions/_warpage share/zsh/site-functions/_wpcc; do
    [ -e "$prefix/$file" ] || fail "$file is not installed"
done
for app in "$here"/../../apps/*/*.md; do
    app=$(basename "$app" .md)
    [ -x "$prefix/lib/warpage/apps/$app" ] || fail "lib/warpage/apps/$app is not installed"
done
find "$prefix" -type l | while read -r link; do
    [ -e "$link" ] || echo "$link leads nowhere"
    case $(readlink "$link") in /*) echo "$link is absolute" ;; esac
done >links
[ -s links ] && fail "$(cat links)"
for file in "$prefix"/bin/w* "$prefix"/lib/*.so.0 "$prefix"/lib/warpage/apps/*; do
    readelf -d "$file" | grep 'R.*PATH' | grep -q "$build" && fail "$file searches libraries in the build tree"
done

PATH=$prefix/bin:$PATH
export PATH

# Apps run, and `reproduce` finds them and the claims.
warpage run -- "$prefix/lib/warpage/apps/bfs" --size 2K --check >out 2>err || fail "bfs: $(cat out err)"
warpage run --device sim:k80 --report r.json -- "$prefix/lib/warpage/apps/triad" --size 4K >out 2>err || fail "triad: $(cat out err)"
grep -q '"simulated_time_ns"' r.json || fail "triad on a simulated GPU has no report"
warpage reproduce --list --format csv >out 2>err || fail "reproduce --list: $(cat err)"
grep -q '^adaptive-migration-ganguly20,fig1,' out || fail "reproduce --list lacks claims"
warpage study --list --format csv >out 2>err || fail "study --list: $(cat err)"
grep -q '^neidty,beyond,' out || fail "study --list lacks claims"
mkdir -p "$prefix/lib/warpage/repro/test/tiny"
cat >"$prefix/lib/warpage/repro/test/tiny/claims.json" <<'END'
{"title": "t", "source": "s", "program": "apps",
 "runs": {"one": {"device": "sim:k80", "arguments": ["bfs", "--size", "2K"]}},
 "claims": [{"claim": "the same time", "value": {"over": ["one:kernel_time_ns", "one:kernel_time_ns"]}, "published": 1,
             "tolerance": 0.1, "unit": "x"}]}
END
warpage reproduce test/tiny >out 2>err && grep -q 'reproduced' out || fail "reproduce: $(cat out err)"

# A policy of one's own; every header by itself.
cp "$prefix/lib/warpage/policy/examples/migrate/cautious.c" mine.c
wpcc --policy -v mine.c -o mine.so >out 2>commands || fail "wpcc --policy: $(cat commands)"
grep -q "$build" commands && fail "wpcc --policy uses the build tree: $(cat commands)"
warpage run --device sim:gtx1080ti --policy-file mine.so --migrate cautious -- "$prefix/lib/warpage/apps/ra" --size 64K \
    --memory managed >out 2>err || fail "a policy file: $(cat err)"
(cd "$prefix/lib/warpage/policy/include" && ls policy/*.h base/*.h) >headers
while read -r header; do
    sed "1i #include \"$header\"" mine.c >one.c
    wpcc --policy one.c -o one.so >out 2>&1 || fail "$header does not stand by itself: $(cat out)"
    [ -s out ] && fail "$header: $(cat out)"
done <headers

# Pages that roff has nothing to say about, one for each command; `man` finds them.
for command in $(warpage help | sed -n '/^Commands:/,/^$/s/^    \([a-z]*\) .*/\1/p'); do
    [ -s "$prefix/share/man/man1/warpage-$command.1" ] || fail "there is no page of $command"
done
if command -v groff >/dev/null 2>&1; then
    for page in "$prefix"/share/man/man1/*.1; do
        groff -ww -man -Tutf8 "$page" >out 2>err || fail "$page: $(cat err)"
        [ -s err ] && fail "$page: $(cat err)"
    done
    groff -man -Tascii "$prefix/share/man/man1/warpage-run.1" | sed 's/.\x08//g; s/\x1b\[[0-9;]*m//g' >page
    for option in $(warpage help run | sed -n 's/^    \(--[a-z-]*\).*/\1/p'); do
        grep -q -- "^ *$option" page || fail "warpage-run(1) lacks $option"
    done
fi

# Completion.
for script in "$prefix"/share/bash-completion/completions/*; do
    bash -n "$script" || fail "$script"
done
bash "$here/completion.bash" "$prefix/share/bash-completion/completions" || failures=1
if command -v zsh >/dev/null 2>&1; then
    zsh -n "$prefix/share/zsh/site-functions/_warpage" || failures=1
    timeout 120 zsh -f "$here/completion.zsh" "$prefix/share/zsh/site-functions"
    [ $? -eq 1 ] && failures=1
fi
exit $failures
