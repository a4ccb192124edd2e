#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tools/gpu-check.sh run: what it makes of programs that pass, fail, hang, or print something else on the
# GPU. The programs are scripts, the GPU is the stand-in for the driver.
# shellcheck disable=SC2016,SC2028,SC2015  # the text of scripts; and A && B || C is meant so
build=$(cd "$(dirname "$WPCC")/.." && pwd)
fake=$build/tests/libfake_cuda.so
[ -f "$fake" ] || { echo "$fake is missing"; exit 77; }
pack=$TMP/pack
mkdir -p "$pack/bin" "$pack/lib" "$pack/programs" "$pack/bench" "$pack/apps"
cp "$build/bin/warpage" "$pack/bin/"
cp -P "$build"/lib/libwarpage*.so* "$pack/lib/"
cp "$E2E/../../tools/gpu-check.sh" "$pack/"
echo 0123abcd >"$pack/commit"

script() { # file; what it does on stdin
    { echo '#!/bin/sh'; echo 'on_gpu() { [ "$WARPAGE_DEVICE" = cuda:0 ]; }'; cat; } >"$pack/$1"
    chmod +x "$pack/$1"
}
echo 'echo PASS' | script programs/good
echo 'on_gpu && exit 3; echo PASS' | script programs/bad
echo 'on_gpu && exec sleep 60; echo PASS' | script programs/hangs
echo 'on_gpu && echo "sum 1.00001, count 7" || echo "sum 1.00002, count 7"' | script programs/digits
echo 'on_gpu && echo "sum 1.01" || echo "sum 1.02"' | script programs/other_sum
echo 'on_gpu && echo "count 7" || echo "count 8"' | script programs/other_count
echo 'on_gpu && printf "a 1\nb 2\n" || printf "b 2\na 1\n"' | script programs/order
echo 'on_gpu && printf "a\n" || printf "a\nb\n"' | script programs/shorter
echo 'echo "$COLOUR"' | script programs/environment
echo 'COLOUR=red' >"$pack/programs/environment.env"
script apps/graph <<'END'
echo '  copy to device     82.99 ms   230.4 MiB    2.9 GB/s' >&2
echo '  kernels              2.46 s   1,068 launches  370.9 M edges/s' >&2
[ "$*" = "--size 1M --check" ] || exit 2
END
for name in bandwidth latency; do
    echo 'echo "{\"what\": \"x\", \"unit\": \"GB/s\", \"median\": 2, \"repeats\": 10}"; echo PASS' | script bench/$name
done
echo 'echo "{\"what\": \"1 GiB\", \"median\": 3}"; echo "not enough" >&2; exit 1' | script bench/random_access
cat >"$pack/cases.txt" <<'END'
both 5 programs/good
both 5 programs/bad
both 1 programs/hangs
both 5 programs/digits
both 5 programs/other_sum
both 5 programs/other_count
both 5 programs/order
both 5 programs/shorter
both 5 programs/environment
gpu 5 apps/graph --size 1M --check
gpu 5 apps/graph --size 2M --check
both 5 programs/missing
END

failures=0
expect() { # file, pattern
    grep -q -e "$2" "$TMP/results/$1" && return
    echo "  $1 lacks '$2':"
    cat "$TMP/results/$1"
    failures=1
}
WARPAGE_LIBCUDA=$fake "$pack/gpu-check.sh" run "$TMP/results" >"$TMP/said" 2>&1
status=$?
[ $status -eq 1 ] || { echo "  exit status $status"; cat "$TMP/said"; failures=1; }
expect tests.txt '^passed  programs/good  ('
expect tests.txt '^FAILED: exit status 3 on cuda:0, passed on cpu  programs/bad'
expect tests.txt '^FAILED: ran out of time on cuda:0, passed on cpu  programs/hangs'
expect tests.txt '^passed, last digits differ  programs/digits'
expect tests.txt '^FAILED: prints something else than on the CPU  programs/other_sum'
expect tests.txt '^FAILED: prints something else than on the CPU  programs/other_count'
expect tests.txt '^passed, lines in another order  programs/order'
expect tests.txt '^FAILED: prints something else than on the CPU  programs/shorter'
expect tests.txt '^passed  programs/environment'
expect tests.txt '^passed  apps/graph --size 1M --check'
expect tests.txt '^FAILED: exit status 2 on cuda:0  apps/graph --size 2M'
expect tests.txt '^FAILED: exit status 12[67] .*programs/missing'
expect tests.txt '^passed  bench/latency'
expect tests.txt '^FAILED: exit status 1  bench/random_access: not enough'
about='"device": "Fake GPU 0", "driver": ".*CUDA 12.4", "date": "20[0-9-]*T[0-9:]*Z", "commit": "0123abcd"'
expect results.json "^{\"command\": \"bench/bandwidth\", $about, \"what\": \"x\", \"unit\": \"GB/s\", \"median\": 2"
expect results.json '"command": "bench/random_access", .*"what": "1 GiB"' # what came before it failed
expect results.json "\"command\": \"apps/graph --size 1M --check\", $about, \"what\": \"kernels\", \"unit\": \"s\", \"median\": 2.46"
expect results.json '"what": "copy to device", "unit": "s", "median": 0.08299'
expect output/programs_other_count.gpu '^count 7'
grep -q '^7 passed, 8 failed, 0 left out' "$TMP/said" || { cat "$TMP/said"; failures=1; }

# The time of a run is bounded, whatever hangs.
yes "both 20 programs/hangs" | head -n 9 >"$pack/cases.txt"
began=$(date +%s)
LIMIT_S=6 WARPAGE_LIBCUDA=$fake "$pack/gpu-check.sh" run "$TMP/results" >"$TMP/said" 2>&1
[ $(($(date +%s) - began)) -le 10 ] || { echo "  took $(($(date +%s) - began)) s"; failures=1; }
expect tests.txt '^skipped: no time left  programs/hangs'

# No GPU; programs that do not even start here.
WARPAGE_LIBCUDA=/nowhere/libcuda.so.1 "$pack/gpu-check.sh" run "$TMP/results" >"$TMP/said" 2>&1
status=$?
[ $status -eq 77 ] && grep -q 'no CUDA driver' "$TMP/said" || { echo "  exit status $status"; cat "$TMP/said"; failures=1; }
echo 'echo "libc is too old" >&2; exit 1' | script bin/warpage
WARPAGE_LIBCUDA=$fake "$pack/gpu-check.sh" run "$TMP/results" >"$TMP/said" 2>&1
status=$?
[ $status -eq 1 ] && grep -q 'do not run on this machine: libc is too old' "$TMP/said" ||
    { echo "  exit status $status"; cat "$TMP/said"; failures=1; }
exit $failures
