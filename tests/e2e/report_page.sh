#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The page of a run of 1,000 launches: its size, the same bytes again, and in a browser: no wider than the window from
# 400 to 1,600 pixels, clicks that sort and fold. Screenshots at three widths stay in tests/screenshots of the build
# folder. With WARPAGE_PYTHON and its package axe-playwright-python: keys that sort and fold, and axe's rules, in light
# and dark.
#
# Run by run.sh: $WPCC, $WARPAGE, $E2E, $TMP (an empty folder), $DEVICES (the device).
set -u
case $DEVICES in cpu) ;; *) exit 77 ;; esac
cd "$TMP" || exit 1
failures=0
fail() {
    echo "  $*"
    failures=$((failures + 1))
}
expect() { # what, got, wanted
    [ "$2" = "$3" ] || fail "$1: $2, expected $3"
}

cat >program.cu <<'PROGRAM'
__global__ void middle(int *x) { x[threadIdx.x] += 1; }
__global__ void beta(int *x) { for (int i = 0; i < 40; i++) x[threadIdx.x + 32 * i] += 1; }
template <typename T, int N> __global__ void alpha(T *x) { x[threadIdx.x * N] += 1; }
int main()
{
    int *x;
    cudaMallocManaged(&x, 1 << 20);
    for (int i = 0; i < 300; i++) middle<<<1 + i % 3, 32>>>(x);
    for (int i = 0; i < 600; i++) beta<<<1, 32>>>(x);
    for (int i = 0; i < 100; i++) alpha<int, 64><<<1, 64>>>(x);
    return cudaDeviceSynchronize() != cudaSuccess;
}
PROGRAM
"$WPCC" program.cu -o program || exit 1
program="./a \"quoted\" <script>alert(1)<&> name
of two lines"
cp program "$program"
run() { # folder
    setarch -R "$WARPAGE" run --device sim:gtx1080ti --output "$1" "$program" '<b>' 2>"$1.err" || fail "run: $(cat "$1.err")"
}
run one
run two
for file in index.html report.json report.csv report.txt; do
    cmp -s "one/$file" "two/$file" || fail "$file differs between two runs"
done
bytes=$(wc -c <one/index.html)
[ "$bytes" -lt 1000000 ] || fail "a page of $bytes bytes"
! grep -qE '<b>|<script>alert' one/index.html || fail "the program's name is markup"
! grep -qE '(src|href)=.?(https?:|//)' one/index.html || fail "the page needs other files"
# The verdict's line links to its row in the source; the roofline has a dot for each kernel.
for name in $(sed -n 's/.*<a class=place href="#\([^"]*\)".*/\1/p' one/index.html); do
    grep -q "<tr id=\"$name\"" one/index.html || fail "no row $name"
done
grep -q '<a class=place href="#k[0-9]-0-[0-9]*"><span>program.cu:[0-9]' one/index.html || fail "no line in the verdict"
expect "dots of the roofline" "$(grep -c '<circle class=dot' one/index.html)" 3
expect "shapes of middle" "$(python3 -c 'import json, sys
for kernel in json.load(sys.stdin)["kernels"]:
    if kernel["display_name"].startswith("middle"):
        print(*[shape["launches"] for shape in kernel["shapes"]])' <one/report.json)" '100 100 100'

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
    [ $failures -eq 0 ] || exit 1
    echo "no browser: install chromium"
    exit 77
}
browse() { # options...
    timeout 120 "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$TMP/profile" \
        "$@" 2>browser.err
}

sed 's,</body></html>,,' one/index.html >clicked.html
cat "$E2E/../support/report_page.html" >>clicked.html
browse --virtual-time-budget=10000 --dump-dom "file://$TMP/clicked.html" >dom
sed -n '/<pre id="seen">/,/<\/pre>/p' dom | sed 's/<[^>]*>//g; s/&lt;/</g; s/&gt;/>/g' >seen
folds=$(sed -n 's/^closed: 0 of //p' seen)
cat >wanted <<WANTED
at first: - descending - - - - - - | beta middle alpha<int, 64>
kernel: ascending - - - - - - - | alpha<int, 64> beta middle
kernel again: descending - - - - - - - | middle beta alpha<int, 64>
launches: - - - descending - - - - | beta middle alpha<int, 64>
closed: 0 of $folds
one click: 1 of $folds
in print: $folds of $folds
after print: 1 of $folds
all: $folds of $folds
none: 0 of $folds
WANTED
diff wanted seen >differences || fail "clicks: $(cat differences) $(tail -n 3 browser.err)"

# Frames, as a browser's window may not be as narrow as a phone.
{
    printf '<!DOCTYPE html><body><pre id="measured"></pre><script>addEventListener("message", event => {'
    printf 'document.getElementById("measured").append(event.data + "\\n"); });</script>\n'
    sed 's,</body></html>,,; s,<details>,<details open>,g' one/index.html >measured.html
    cat "$E2E/../support/pages_fit.html" >>measured.html
    for width in 400 1000 1600; do
        printf '<iframe src="measured.html" name="%s" style="width:%spx;height:800px;border:0"></iframe>\n' $width $width
    done
} >all.html
browse --virtual-time-budget=20000 --dump-dom "file://$TMP/all.html" | sed -n '/<pre id="measured">/,/<\/pre>/p' |
    sed 's/<[^>]*>//g' >measured
screenshots=$(dirname "$WARPAGE")/../tests/screenshots
mkdir -p "$screenshots" 2>/dev/null
for width in 400 1000 1600; do
    grep -q "^$width width $width content $width\$" measured || fail "$width pixels: $(cat measured)"
    [ ! -w "$screenshots" ] ||
        "$E2E/../support/screenshot.sh" one/index.html $width 1400 "$screenshots/report-$width.png" ||
        fail "no picture at $width pixels"
done

if [ -n "${WARPAGE_PYTHON:-}" ] && "$WARPAGE_PYTHON" -c 'import axe_playwright_python' 2>/dev/null; then
    "$WARPAGE_PYTHON" "$E2E/../support/report_page_axe.py" "$browser" one/index.html || fail "keys, or axe's rules"
    [ $failures -eq 0 ]
else
    [ $failures -eq 0 ] || exit 1
    echo "no accessibility check: WARPAGE_PYTHON has no axe-playwright-python"
    exit 77
fi
