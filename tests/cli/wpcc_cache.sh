# SPDX-License-Identifier: Apache-2.0
# --cache adds the cached form of each kernel that can have one; --cache-line is --cache, too, and takes few
# lengths: with another the kernels run plain.
cat >k.cu <<'END'
__global__ void sum(const int *in, int *out, int n) {
    int s = 0;
    for (int i = 0; i < n; i++) s += in[threadIdx.x * n + i];
    out[threadIdx.x] = s;
}
__global__ void one(int *out) { *out = 1; }
END
ask() {
    echo "$@"
    wpcc -ptx k.cu "$@" -o k.ptx 2>&1
    code=$?
    [ $code -eq 0 ] || echo "exit status $code"
    [ ! -e k.ptx ] || sed -n 's/^.*\.entry \(.*\$[^(]*\)(.*/added \1/p' k.ptx
    rm -f k.ptx
}
ask --cache
ask --cache --cache
ask --cache-line=8
ask --cache --cache-line 32
ask --cache-line 32 --cache
ask --cache --stream=sum:in
ask --cache-line=24 --cache-lines=2 --cache-layout=padded
ask --cache-lines 4
ask --cache-lines=3
ask --cache-layout=wide
ask --cache-runs=off --cache-line 8
ask --cache-runs=maybe
ask --rewrite=cache:16,lines=2,layout=dense
ask --rewrite=cache:16,depth=2
ask --cache-line=12
ask --cache-line=
ask --rewrite=cache:64
ask --rewrite=cache --rewrite=cache
