# SPDX-License-Identifier: Apache-2.0
# Of a file of values only what is drawn is read, and it is what reading all of it gives: one of 64 GiB (a hole)
# would not fit memory.
WARPAGE_LIBCUDA=$(dirname "$(command -v warpage)")/../tests/libfake_cuda.so
export WARPAGE_LIBCUDA
truncate -s 64G zeros.bin
warpage sample --column zeros --n 1024 zeros.bin:int32
rm zeros.bin
for value in $(seq 2 2 120); do printf '%b' "\\0$(printf '%o' "$value")\\0000"; done >short.bin
for _ in $(seq 200); do cat short.bin; done >fare.bin
{
    printf '\223NUMPY\001\000\106\000'
    printf "%-69s\n" "{'descr': '<i2', 'fortran_order': False, 'shape': (11999,)}"
    head -c 23998 fare.bin
    printf '\377\377\377\377'
} >fare.npy
head -c 23998 fare.bin >less.bin
{
    printf 'x'
    cat less.bin
} >odd.bin
{
    echo fare
    for _ in $(seq 200); do seq 2 2 120; done | head -11999
} >fare.csv
sample() {
    warpage sample --column fare --n 4096 --seed 3 --format csv "$@" || echo "status $?: $*"
}
sample fare.csv >wanted
mv less.bin fare.bin
for device in cpu sim:p100 cuda:0; do
    for placement in auto zero-copy resident; do
        for file in fare.bin:int16 fare.npy; do
            sample --device $device --placement $placement $file >ours
            cmp wanted ours || echo "differs: $device $placement $file"
        done
    done
done
head -1 wanted
# Beside another file, packed, cut off.
cp fare.npy tip.npy
sample fare.npy tip.npy | cmp wanted -
gzip -k fare.npy && mv fare.npy.gz packed.npy
warpage sample --column packed --n 4096 --seed 3 --format csv packed.npy | cmp wanted -
mv odd.bin fare.bin
sample fare.bin:int16
head -c 20000 fare.npy >cut.npy
warpage sample --column cut cut.npy || echo "status $?"
: >none.bin
warpage sample --column none none.bin:int16 || echo "status $?"
