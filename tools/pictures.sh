#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the pictures of pages in README and guide anew:    tools/pictures.sh [BUILD FOLDER [PICTURE...]]
# All of them, or those named:
# In docs/pictures: run-page.webp (README), slow-gather.webp, slow-stencil.webp, slow-bfs.webp (docs/guide/source.md),
# with the command that the tests take screenshots with, tests/support/screenshot.sh. Needs Chromium.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
bin=$(cd "${1:-build/release}" && pwd)/bin
[ $# -eq 0 ] || shift
chosen=" $* "
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cp -r examples apps "$tmp"
cd "$tmp"
PATH=$bin:$PATH

page() { # picture, height, options of warpage run and the program...
    picture=$1 height=$2
    shift 2
    case $chosen in "  " | *" $picture "*) ;; *) return 0 ;; esac
    warpage run --output "$picture" "$@" >/dev/null 2>"$picture.err" || { cat "$picture.err"; exit 1; }
    "$root/tests/support/screenshot.sh" "$picture/index.html" 1000 "$height" "$root/docs/pictures/$picture.webp"
    echo "docs/pictures/$picture.webp: $(wc -c <"$root/docs/pictures/$picture.webp") bytes"
}

for name in slow_gather slow_stencil slow_bfs; do
    wpcc -O2 examples/$name.cu -o $name
done
wpcc -O2 -I apps apps/nw/nw.cu apps/common/*.c apps/common/*.cu -o nw
page run-page 935 --device sim:gtx1080ti --oversubscribe 125% --estimate ./nw --memory managed
page slow-gather 720 --device sim:k80 --estimate ./slow_gather
page slow-stencil 700 --device sim:p100 --oversubscribe 150% --evict tree --estimate ./slow_stencil
page slow-bfs 620 --device sim:p100 ./slow_bfs
