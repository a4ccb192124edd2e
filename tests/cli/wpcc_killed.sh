# SPDX-License-Identifier: Apache-2.0
# wpcc that is killed by SIGKILL leaves no compiler process: each ends with the one that waits for it.
cat >many.cu <<'END'
template <int N> __global__ void kernel(float *x) {
    for (int i = 0; i < N; i++) x[threadIdx.x + i] = x[threadIdx.x] * N + x[i * N % 7];
    __syncthreads();
    for (int i = N; i > 0; i--) x[threadIdx.x] += sinf(x[i]);
}
template <int N> struct all { static void launch(float *x) { kernel<N><<<1, 32>>>(x); all<N - 1>::launch(x); } };
template <> struct all<0> { static void launch(float *) {} };
int main() { all<200>::launch(nullptr); }
END
mark=killed-wpcc-$$
mv many.cu $mark.cu
wpcc -O2 -c $mark.cu -o many.o &
pid=$!
# wpcc itself, the process that it supervises, and tasks of that one: until there are four.
for _ in $(seq 600); do
    count=$(grep -l wpcc $(grep -la "[k]illed-wpcc-$$" /proc/[0-9]*/cmdline 2>/dev/null | sed 's/cmdline/comm/') 2>/dev/null | wc -l)
    [ "$count" -ge 4 ] && break
    sleep 0.1
done
kill -KILL $pid && echo killed
wait $pid 2>/dev/null
for _ in 1 2 3 4 5 6 7 8 9 10; do
    left=$(grep -la "[k]illed-wpcc-$$" /proc/[0-9]*/cmdline 2>/dev/null | wc -l)
    [ "$left" = 0 ] && break
    sleep 1
done
echo "$left processes left"
