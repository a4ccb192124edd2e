#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the pictures of pages in README and guide anew:    tools/pictures.sh [BUILD FOLDER [PICTURE...]]
# All of them, or those named:
# In docs/pictures: run-page.webp (README), slow-gather.webp, slow-stencil.webp, slow-bfs.webp (docs/guide/source.md),
# with the command that the tests take screenshots with, tests/support/screenshot.sh; needs Chromium. And
# accuracy-p100.svg (README), accuracy-p100-ptxas.svg, accuracy-v100.svg, accuracy-titan-ptxas.svg
# (docs/guide/accuracy.md): the recorded rows of `warpage reproduce hardware`.
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

plot() { # figure of hardware
    case $chosen in "  " | *" accuracy-$1 "*) ;; *) return 0 ;; esac
    warpage reproduce --list --html "$1.html" "hardware/$1" >/dev/null
    python3 - "$1.html" >"$root/docs/pictures/accuracy-$1.svg" <<'PYTHON'
import re, sys
svg = re.search("<svg.*?</svg>", open(sys.argv[1]).read(), re.S)[0]
print(svg.replace("<svg ", "<svg xmlns='http://www.w3.org/2000/svg' ", 1).replace("style='", "style='background:#fff;font-family:sans-serif;", 1))
PYTHON
    echo "docs/pictures/accuracy-$1.svg: $(wc -c <"$root/docs/pictures/accuracy-$1.svg") bytes"
}

for figure in p100 p100-ptxas v100 titan-ptxas; do
    plot $figure
done
