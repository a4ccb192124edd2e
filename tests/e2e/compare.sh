# SPDX-License-Identifier: Apache-2.0
# A comparison: replayed where that may be, the program run elsewhere; the same whatever -j, and taken up
# again where it was interrupted.
set -eu
cd "$TMP"

fail() {
    echo "$1"
    exit 1
}

sed 's/cudaMallocManaged/cudaMalloc/' "$E2E/../../examples/vecadd.cu" >vecadd.cu # not as fast as the link
"$WPCC" vecadd.cu -o vecadd
vary="--vary sm.warps=8,16,64 --vary gpu.core_clock=1000MHz,1481MHz"
"$WARPAGE" compare --device sim:gtx1080ti $vary -j 2 --output kept -- ./vecadd >two 2>err || fail "$(cat err)"
[ "$(wc -l <two)" -eq 7 ] || fail "not six combinations: $(cat two)"
[ "$(grep -c ' replayed' two)" -eq 6 ] || fail "not all were replayed: $(cat two)"
grep -q '^ *8 .*1000MHz .* worst$' two && grep -q '^ *64 .*1481MHz .* best$' two || fail "best and worst: $(cat two)"
# For people: units, numbers at the right of their columns; what the program says on stderr is not among them.
head -n 1 two | grep -q '^sm.warps  gpu.core_clock  kernel time  *copy time  *simulated time  ' || fail "$(head -n 1 two)"
[ "$(grep -cE ' [0-9.]+ (us|ms)  +[0-9.]+ (ns|us|ms)  +[0-9.]+ (us|ms)  +[0-9.]+ %  ' two)" -eq 6 ] || fail "units: $(cat two)"
[ "$(awk '{ print index($0, "  replayed") }' two | sort -u | wc -l)" -eq 2 ] || fail "columns: $(cat two)"
[ "$(grep -c '<tr class=best>' kept/index.html)" -eq 1 ] && grep -q '<svg' kept/index.html || fail "the page: $(head -c 9000 kept/index.html)"
# Side by side: a bar for each run, the kernel's times, and the line that the time went to.
expect_page() { # text
    grep -qF "$1" kept/index.html || fail "the page lacks $1"
}
expect_page '<figcaption>kernel time</figcaption>'
expect_page '<th scope=row class=name>add</th><td class="n'
expect_page "<th scope=row class=name>vecadd.cu:$(sed -n '/\[i\] = /{=;q}' vecadd.cu)</th>"
mkdir again && cp kept/*.wpt again/
"$WARPAGE" compare --device sim:gtx1080ti $vary -j 1 --output again -- ./vecadd >one 2>err || fail "$(cat err)"
cmp one two || fail "-j changes the table"
same_folders() { # all but the trace, which knows when it was made
    for file in "$1"/*.json "$1"/*.svg; do
        [ ! -e "$file" ] || cmp "$file" "$2/$(basename "$file")" || fail "$file differs from $2's"
    done
    [ "$(ls "$1" | grep -vc wpt)" -eq "$(ls "$2" | grep -vc wpt)" ] || fail "$1 has other files than $2"
}
same_folders kept again

# Another scheduler: the plan's commands make the same reports; a table of the first three, then of all.
mkdir planned && cp kept/*.wpt planned/
"$WARPAGE" compare --device sim:gtx1080ti $vary --output planned --plan -- ./vecadd >plan.json
! ls planned/*.json >/dev/null 2>&1 || fail "--plan made reports"
run_planned() { # first, outer
    python3 - "$@" <<'END'
import json, os, subprocess, sys
for cell in json.load(open("plan.json"))[int(sys.argv[1]):int(sys.argv[2])]:
    assert cell["how"] == "replayed" and cell["trace"].endswith(".wpt"), cell
    subprocess.run(cell["command"], env={**os.environ, **dict(word.split("=", 1) for word in cell["environment"])}, check=True)
    assert os.path.exists(cell["report"])
END
}
run_planned 0 3
"$WARPAGE" compare --device sim:gtx1080ti $vary --output planned --finished -- ./vecadd >some 2>err || fail "$(cat err)"
[ "$(wc -l <some)" -eq 4 ] && [ "$(grep -c best$ some)" -eq 1 ] || fail "three of six: $(cat some)"
run_planned 3 6
"$WARPAGE" compare --device sim:gtx1080ti $vary --output planned --finished -- ./vecadd >all 2>err || fail "$(cat err)"
cmp all two || fail "--finished has another table"
# For programs: numbers are numbers, also those of --show, which may be repeated.
"$WARPAGE" compare --device sim:gtx1080ti $vary --output planned --finished --format json --show dram_read_bytes --show no_such -- ./vecadd >all.json 2>err || fail "$(cat err)"
python3 - <<'END' || fail "$(cat all.json)"
import json
for row in json.load(open("all.json")):
    assert row["kernel_time_ns"] > 0 and row["times_best"] >= 1 and 0 <= row["l2_hit_pct"] <= 100, row
    assert row["dram_read_bytes"] > 0 and row["no_such"] is None and row["how"] == "replayed" and row["sm.warps"] in ("8", "16", "64"), row
END
same_folders kept planned
! "$WARPAGE" compare --device sim:gtx1080ti $vary --output empty --finished -- ./vecadd 2>err || fail "a table of nothing"
grep -q 'empty has the report of no combination' err || fail "$(cat err)"

# Other numbers of the same results; one that no report has is an error.
"$WARPAGE" compare --device sim:gtx1080ti $vary --format csv --show dram_read_bytes,dram_read_byte --output kept \
    -- ./vecadd >shown 2>err || fail "$(cat err)"
grep -q "no report has 'dram_read_byte'; did you mean 'dram_read_bytes'?" err || fail "an unknown number: $(cat err)"
column=$(head -n 1 shown | tr , '\n' | grep -n '^dram_read_bytes$' | cut -d: -f1)
for bytes in $(sed 1d shown | cut -d, -f"$column"); do
    grep -q "\"dram_read_bytes\": $bytes\>" kept/*.json || fail "no result has $bytes bytes: $(cat shown)"
done

# What is interrupted and taken up again ends in the same bytes.
cp -r again cut && rm cut/*.json cut/compare.svg 2>/dev/null
"$WARPAGE" compare --device sim:gtx1080ti $vary -j 1 --output cut -- ./vecadd >broken 2>err &
job=$!
for i in $(seq 200); do
    [ "$(ls cut | grep -c json)" -lt 2 ] || break
    sleep 0.02
done
kill -TERM $job # INT is ignored by what runs behind a script
wait $job && fail "an interrupted comparison says that it is done"
[ "$(ls cut | grep -c json)" -lt 6 ] || fail "it was not interrupted in time"
"$WARPAGE" compare --device sim:gtx1080ti $vary -j 2 --output cut -- ./vecadd >resumed 2>err || fail "$(cat err)"
cmp one resumed || fail "what was resumed has another table"
same_folders cut again
if command -v gnuplot >/dev/null; then
    grep -q 'gpu.core_clock=1481MHz' kept/compare.svg || fail "the plot lacks a label"
fi

# A combination's numbers are those of a replay with --set.
"$WARPAGE" trace replay --device sim:gtx1080ti --set sm.warps=16 --set gpu.core_clock=1481MHz --report r.json kept/*.wpt
time_ns=$(sed -n 's/.*"time_ns": \([0-9]*\),.*/\1/p' r.json | head -n 1)
"$WARPAGE" compare --device sim:gtx1080ti $vary --format csv --output kept -- ./vecadd >numbers 2>err || fail "$(cat err)"
grep -q "^16,1481MHz,$time_ns," numbers || fail "a replay says $time_ns ns: $(cat numbers)"

# What was interrupted: half of the results are there, one of them changed by us to see that it is used.
rm "$(ls kept/*.json | sed -n 2p)" "$(ls kept/*.json | sed -n 4p)" kept/compare.svg
kept=$(ls kept/*.json | head -n 1)
sed 's/"time_ns": [0-9]*/"time_ns": 1/' "$kept" >changed && mv changed "$kept"
"$WARPAGE" compare --device sim:gtx1080ti $vary --output kept -- ./vecadd >third 2>err || fail "$(cat err)"
[ "$(ls kept/*.json | wc -l)" -eq 6 ] || fail "results are missing"
grep -q ' 1 ns  *0 ns  .* 1.000 .*best$' third || fail "a result that was there was made again: $(cat third)"

# A program that asks for the GPU's name and numbers runs on the other one.
"$WPCC" -I "$E2E" "$E2E/device_queries.cu" -o queries
"$WARPAGE" compare --vary device=sim:k80,sim:p100 --format csv -- ./queries >csv 2>err || fail "$(cat err)"
grep -q '^sim:k80,.*,replayed,' csv && grep -q '^sim:p100,.*,run,' csv || fail "who ran: $(cat csv)"
grep -q 'cannot replay: .* multiprocessors: 13 when it was recorded, but sim:p100 reports 56' err || fail "$(cat err)"

# What the program says on stderr is no part of a comparison, unless it cannot be recorded.
sed 's/^int main(void) {/#include <cstdio>\nint main(void) { fprintf(stderr, "to be or not to be\\n");/' vecadd.cu >talks.cu
"$WPCC" talks.cu -o talks && ./talks 2>&1 >/dev/null | grep -q 'to be' || fail "the program does not talk"
"$WARPAGE" compare --device sim:gtx1080ti --vary sm.warps=8,16 -- ./talks >out 2>err || fail "$(cat err)"
[ ! -s err ] || fail "the program's stderr is in the comparison: $(cat err)"

# A program that fails is said to, and nothing is made up.
printf '#include <cuda_runtime.h>\n__global__ void k(int *p) { *p = 1; }\nint main() { k<<<1, 1>>>(nullptr); return cudaDeviceSynchronize() != 0; }\n' >bad.cu
"$WPCC" bad.cu -o bad
"$WARPAGE" compare --vary sm.warps=8,16 --output failed -- ./bad >out 2>err && fail "a program that fails has times: $(cat out)"
grep -q 'not recorded' err && grep -q 'warpage compare: sm.warps=8: exit status 1' err || fail "a program that fails: $(cat err)"
[ -z "$(ls failed)" ] && [ ! -s out ] || fail "results of nothing: $(ls failed) $(cat out)"
