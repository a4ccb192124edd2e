#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every HTML page in a browser, 1280 and 400 pixels wide: nothing lies beyond the right edge, and labels of plots
# do not cover each other. Screenshots stay in $WARPAGE_SCREENSHOTS, if that names a folder.
#
# Run by run.sh: $WPCC, $WARPAGE, $E2E, $TMP (an empty folder), $DEVICES (the device).
set -u
case $DEVICES in cpu) ;; *) exit 77 ;; esac
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
    echo "no browser: install chromium"
    exit 77
}
command -v gnuplot >/dev/null || { echo "no gnuplot: install gnuplot-nox"; exit 77; }
cd "$TMP" || exit 1
failures=0
fail() {
    echo "  $*"
    failures=$((failures + 1))
}

browse() { # options...
    timeout 120 "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$TMP/profile" \
        "$@" 2>browser.err
}

# Each page in frames of both widths, all in one run: a window of a browser may not be as narrow as a phone.
# Lines "FOLDER-WIDTH width W content W", "FOLDER-WIDTH overlap: LABEL | LABEL".
measure() { # folders...
    {
        printf '<!DOCTYPE html><body><pre id="measured"></pre><script>addEventListener("message", event => {'
        printf 'document.getElementById("measured").append(event.data + "\\n"); });</script>\n'
        for folder; do
            sed 's,</body></html>,,' "$folder/index.html" >"$folder/measured.html"
            cat "$E2E/../support/pages_fit.html" >>"$folder/measured.html"
            for width in 1280 400; do
                printf '<iframe src="%s" name="%s" style="width:%spx;height:800px;border:0"></iframe>\n' \
                    "$folder/measured.html" "$folder-$width" $width
            done
        done
    } >all.html
    browse --virtual-time-budget=20000 --dump-dom "file://$TMP/all.html" | sed -n '/<pre id="measured">/,/<\/pre>/p' |
        sed 's/<[^>]*>//g'
}

# A page that is too wide and has two labels in one place is found to be so.
mkdir bad
cat >bad/index.html <<'PAGE'
<!DOCTYPE html><html><body><div style="width:2000px">wide</div>
<svg width="200" height="100"><text x="10" y="50">first</text><text x="20" y="52">second</text></svg>
</body></html>
PAGE

# Long names, many kernels, allocations of one page beside large ones.
cat >program.cu <<'PROGRAM'
namespace outer { namespace inner {
template <typename T> struct pair_of_values { T a, b; };
template <typename T, int N>
__global__ void transform_every_one_of_them(pair_of_values<T> *output, const pair_of_values<T> *input, unsigned count)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) output[i] = {input[i].b * N, input[i].a};
}
}}
namespace { __global__ void hidden(int *small) { small[threadIdx.x] = 1; } }
template <typename F> __global__ void apply(F f, float *values, float *other_values_with_a_long_name, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) values[i] = f(other_values_with_a_long_name[i]);
}
int main()
{
    using outer::inner::pair_of_values;
    const int count = 1 << 17;
    pair_of_values<double> *a, *b;
    float *p, *other;
    int *q;
    cudaMallocManaged(&a, sizeof *a * count);
    cudaMallocManaged(&b, sizeof *b * count);
    cudaMallocManaged(&p, sizeof *p * count);
    cudaMallocManaged(&other, sizeof *p * count);
    cudaMallocManaged(&q, 4096);
    for (int i = 0; i < count; i++) a[i].a = other[i] = i;
    outer::inner::transform_every_one_of_them<double, 7><<<count / 256, 256>>>(b, a, count);
    apply<<<count / 256, 256>>>([] __device__(float x) { return x * 2; }, p, other, count);
    hidden<<<1, 256>>>(q);
    return cudaDeviceSynchronize() != cudaSuccess || b[5].a != 0;
}
PROGRAM
"$WPCC" --extended-lambda program.cu -o program || exit 1

"$WARPAGE" run --device sim:gtx1080ti --output run --pages pages ./program 2>err || fail "run: $(cat err)"
"$WARPAGE" run --output cpu ./program 2>err || fail "run on the CPU: $(cat err)"
"$WARPAGE" compare --device sim:gtx1080ti --vary paging.prefetch=none,tree --vary tlb.l1.entries=16,64 \
    --show prefetch_coverage_pct,translation_mean_ns --output compare --pages side-by-side -- ./program \
    >out 2>err || fail "compare: $(cat err)"
"$WARPAGE" advise --device sim:gtx1080ti --oversubscribe 125% --limit 4 --output advise -- ./program >out 2>err ||
    fail "advise: $(cat err)"
mkdir reproduce
"$WARPAGE" reproduce --list --html reproduce/index.html >out 2>err || fail "reproduce: $(cat err)"
mkdir groupby
{ echo 'a,b_with_a_name_that_is_rather_long_for_a_column,c'; seq 2000 | awk '{ print $1 % 1500 ",a text of some words " $1 % 700 "," $1 / 7 }'; } >t.csv
"$WARPAGE" groupby --device sim:k80 --key a,b_with_a_name_that_is_rather_long_for_a_column --agg count,sum:c,avg:c --memory 1MiB \
    --output groupby/index.html t.csv 2>err || fail "groupby: $(cat err)"

folders="run pages cpu compare side-by-side advise reproduce groupby"
for folder in $folders; do
    [ -f "$folder/index.html" ] || { fail "no page $folder/index.html"; mkdir -p "$folder" && : >"$folder/index.html"; }
done
measure bad $folders >measured
grep -q '^bad-1280 width 1280 content 20..$' measured && grep -q '^bad-400 overlap: first | second$' measured ||
    fail "a bad page is taken for a good one: $(cat measured) $(tail -n 3 browser.err)"
for folder in $folders; do
    for width in 1280 400; do
        grep -q "^$folder-$width width $width content $width\$" measured ||
            fail "$folder, $width pixels: $(grep "^$folder-$width width" measured)"
        ! grep "^$folder-$width overlap" measured || fail "$folder, $width pixels: labels cover each other"
        [ -z "${WARPAGE_SCREENSHOTS:-}" ] ||
            browse --window-size=$width,3600 --screenshot="$WARPAGE_SCREENSHOTS/$folder-$width.png" \
                "file://$TMP/$folder/index.html" >/dev/null
    done
done

[ $failures -eq 0 ]
