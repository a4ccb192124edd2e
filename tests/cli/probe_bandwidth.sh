# SPDX-License-Identifier: Apache-2.0
# Bandwidth of each level: the same source on all devices. Of one SM, with one warp or four: a rate four times as high; with
# one lane a sector, 32 bytes move for 4 that are used; L1, where a profile has it on, is not slower than L2.
WARPAGE_LIBCUDA=$(dirname "$(command -v warpage)")/../tests/libfake_cuda.so
export WARPAGE_LIBCUDA
bandwidth() { warpage probe bandwidth --format csv --blocks 1 --repeats 1 "$@"; }
bandwidth --device sim:k80 --threads 32,128 --coalesced 1 --level dram,l2,shared |
    awk -F, 'NR == 1 { print; next }
             { if ($1 != "shared" && int($5 / $6 + 0.5) != 8) print $1 ": moved " $5 ", used " $6
               if ($2 $3 == "132") { one = $6; next }
               print $1, ($6 > 3.5 * one && $6 < 4.1 * one) ? "four times" : $6 " and " one }'
bandwidth --device sim:k80 --set l1.on=on --threads 64 --level l1,l2 |
    awk -F, 'NR == 2 { first = $6 } NR == 3 { print (first >= $6 ? "L1 is fast" : first " and " $6) }'
bandwidth --device cpu --threads 64 --level dram,shared --repeats 3 | cut -d, -f1-4
bandwidth --device cuda:0 --threads 32 --level l2 --repeats 10 --format values | sed 's/ .*//'
