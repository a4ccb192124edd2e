#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A picture of a page:    screenshot.sh PAGE.html WIDTH HEIGHT FILE [dark]
# FILE ends in .png, or in .webp, which has half the bytes. Exit status 77: there is no browser.
set -u
[ $# -ge 4 ] || { echo "usage: screenshot.sh PAGE.html WIDTH HEIGHT FILE [dark]" >&2; exit 2; }
page=$(realpath "$1") width=$2 height=$3 file=$4
case ${5:-light} in dark) scheme=0 ;; *) scheme=1 ;; esac
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
    echo "no browser: install chromium" >&2
    exit 77
}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
browse() { # options...
    timeout 120 "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$tmp/profile" \
        --blink-settings=preferredColorScheme=$scheme "$@" 2>"$tmp/err"
}

browse --window-size="$width,$height" --screenshot="$tmp/shot.png" "file://$page" >/dev/null
[ -s "$tmp/shot.png" ] || { tail -n 3 "$tmp/err" >&2; exit 1; }
case $file in
*.webp) ;;
*) mv "$tmp/shot.png" "$file" && exit 0 ;;
esac

# The browser is the encoder, too.
{
    printf '<!DOCTYPE html><pre id="image"></pre><script>const image = new Image();'
    printf 'image.onload = () => { const canvas = document.createElement("canvas");'
    printf 'canvas.width = image.width; canvas.height = image.height;'
    printf 'canvas.getContext("2d").drawImage(image, 0, 0);'
    printf 'document.getElementById("image").append("\\n" + canvas.toDataURL("image/webp", 0.85) + "\\n"); };'
    printf 'image.src = "data:image/png;base64,'
    base64 -w 0 "$tmp/shot.png"
    printf '";</script>\n'
} >"$tmp/encode.html"
browse --virtual-time-budget=10000 --dump-dom "file://$tmp/encode.html" |
    sed -n 's,^data:image/webp;base64\,,,p' | base64 -d >"$tmp/shot.webp"
[ -s "$tmp/shot.webp" ] || { echo "screenshot.sh: no WebP from $browser" >&2; exit 1; }
mv "$tmp/shot.webp" "$file"
