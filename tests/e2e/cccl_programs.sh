# SPDX-License-Identifier: Apache-2.0
# Programs of Thrust, CUB and libcu++ on cpu and sim. The libraries are the user's: skipped where there are none.
set -e
"$WARPAGE" doctor | grep -q '^ok *Thrust' || { echo "SKIP: no CCCL; see warpage doctor --install cccl"; exit 77; }
cd "$TMP"
cat >plain.cpp <<'END'
#include <thrust/execution_policy.h>
#include <thrust/transform.h>
struct twice { char operator()(char c) const { return (char)(2 * c); } };
int main()
{
    char text[] = {1, 2, 3, 4};
    thrust::transform(thrust::host, text, text + 4, text, twice{});
    return text[3] != 8;
}
END
"$WPCC" plain.cpp -o plain
./plain
for program in libcudacxx cub thrust driver lambdas; do
    flags=
    [ $program = lambdas ] && flags='-std=c++20 -extended-lambda'
    "$WPCC" --cpu-isa=all $flags -I "$E2E" "$E2E/cccl/$program.cu" -o $program
    ./$program
    WARPAGE_CPU_ISA=baseline ./$program # compiled with less effort, as there are many kernels
    WARPAGE_DEVICE=sim:v100 ./$program 2000 # numbers that Thrust sorts: fewer, as they are simulated
done
