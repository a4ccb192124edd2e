# SPDX-License-Identifier: Apache-2.0
# Mistakes in MapReduce programs and in their input: the program fails with one sentence that names the mistake and its
# place, and writes no result; where kernels find it, on a simulated GPU, too.
cd "$TMP" || exit 1
cat >program.cu <<'END'
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <warpage/cudart.h>
#include <warpage/mapreduce.h>

static __device__ unsigned runs;

/* A pair for each letter; of digits: 3 emits more each time, 4 gives the line's first letter a value of another size, 5 has a large key. */
static __device__ void map_line(const wp_map_record *line, wp_emitter *to) {
    const uint64_t one = 1;
    for (uint32_t i = 0; i < line->bytes; i++) {
        const char c = line->data[i];
        const uint32_t times = c == '3' ? atomicAdd(&runs, 1u) + 1 : 1;
        for (uint32_t n = 0; n < times; n++)
            wp_emit(to, line->data + (c == '4' ? 0 : i), c == '5' ? line->bytes - i : 1, &one, c == '4' ? 4 : 8);
    }
}
WP_MAPREDUCE(letters, map_line)

int main(int argc, char **argv) {
    wp_error err = WP_ERROR_INIT;
    wp_mapreduce *job;
    wp_mapreduce_spec spec = WP_MAPREDUCE_SPEC_INIT;
    const char *mistake = argv[1];
    spec.program = &letters;
    spec.partitioner = strcmp(mistake, "fastq") == 0 ? wp_partition_fastq() : wp_partition_lines();
    if (strcmp(mistake, "partitioner") == 0) spec.partitioner.cut = NULL;
    if (strcmp(mistake, "chunk") == 0) spec.chunk_bytes = 64;
    if (strcmp(mistake, "heap") == 0) spec.table.heap_bytes = spec.table.page_bytes = 64;
    spec.paths = argv + 2;
    spec.path_count = argc - 2;
    const wp_output output = strcmp(mistake, "table") == 0 ? WP_OUTPUT_TABLE : WP_OUTPUT_NUMBERS;
    if (wp_mapreduce_run(wp_cudart_device(), &spec, &job, &err) != WP_STATUS_OK ||
        wp_mapreduce_write(job, "result", output, &err) != WP_STATUS_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    printf("%llu\n", (unsigned long long)wp_mapreduce_pair_count(job));
    wp_mapreduce_close(job);
}
END
"$WPCC" -O1 program.cu -o program || exit 1
failures=0
fails() { # the sentence, an extended regular expression; mistake; files
    sentence=$1
    shift
    devices=cpu
    case $1-$2 in heap* | *sizes | *restless) devices="cpu sim:gtx780ti" ;; esac
    for device in $devices; do
        rm -f result
        WARPAGE_DEVICE=$device WARPAGE_LOG=error ./program "$@" >stdout 2>stderr
        status=$?
        if [ $status -ne 1 ] || [ "$(wc -l <stderr)" -ne 1 ] || ! grep -Eqx -- "$sentence" stderr; then
            echo "$* on $device: expected exit status 1 and /$sentence/, got $status and:"
            cat stdout stderr
            failures=1
        fi
        if [ -n "$(find . -name 'result*')" ]; then
            echo "$* on $device: a result is there"
            failures=1
        fi
    done
}
printf 'abc\nab\n' >good
./program none good >stdout || failures=1
[ "$(cat stdout)" = 3 ] || { echo "three letters expected, not" && cat stdout && failures=1; }
: >empty
awk 'BEGIN { printf "ab\n"; for (i = 0; i < 99; i++) printf "x"; print "" }' >long
printf 'ab\n3333\n' >restless
printf 'a4\n' >sizes
awk 'BEGIN { print "a"; printf "5"; for (i = 0; i < 200; i++) printf "y"; print "" }' >large
printf '@r\nACGT\n+\nFFF\n' >reads
gzip -c long >all.gz && head -c 30 all.gz >cut.gz
cp all.gz wrong.gz && printf zzzz | dd of=wrong.gz bs=1 seek=25 conv=notrunc 2>dd.log
printf '\050\265\057\375\044\005\051' >cut.zst

fails 'mapreduce: no partitioner; set one, .*' partitioner good
fails 'mapreduce: no input; set paths, or memory' none
fails 'mapreduce: empty is empty' none good empty
fails '.*missing.*' none good missing
fails 'mapreduce: long, record 2 \(at byte 3\) has 99 bytes, more than a chunk of 64; raise chunk_bytes' chunk good long
fails 'mapreduce: large, record 2 \(at byte 2\): table: a pair takes [0-9]* bytes and the heap has 64.*' heap large
fails 'mapreduce: sizes, record 1 \(at byte 0\): table: a value of [48] bytes was to be combined with one of [48].*' none sizes
fails 'mapreduce: restless, record 2 \(at byte 3\): map emitted [0-9]* pairs, and [0-9]* when it ran again.*' none restless
fails 'mapreduce: reads, record 1 \(at byte 0\): .*' fastq reads
fails '.*cut.gz.*' none cut.gz
fails '.*wrong.gz.*' none wrong.gz
fails '.*cut.zst.*' none cut.zst
# A full disk, for either form of the result.
fails_on_full_disk() {
    (
        trap '' XFSZ
        ulimit -f 0
        failures=0
        rm -f result
        message=$(./program "$1" good 2>&1) && echo "$1: succeeded on a full disk" && exit 1
        [ "$(printf '%s\n' "$message" | wc -l)" -eq 1 ] && [ -z "$(find . -name 'result*')" ] || { echo "$message"; exit 1; }
        case $message in *result*) ;; *) echo "$1: $message" && exit 1 ;; esac
    ) || failures=1
}
fails_on_full_disk none
fails_on_full_disk table
# What looks like a mistake and is none: a record whose pairs exceed the heap together is served over several passes.
printf 'abcdefghijklmnopqrstuvwxyz' >alphabet
./program heap alphabet >stdout && [ "$(cat stdout)" = 26 ] || { echo "alphabet: 26 letters expected"; failures=1; }
exit $failures
