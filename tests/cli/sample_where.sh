# SPDX-License-Identifier: Apache-2.0
# --where samples only rows that satisfy it, also of a file that is mapped otherwise; --precision rounds.
awk -v OFS=, 'BEGIN { print "fare,zone"; for (i = 0; i < 3000; i++) print (i % 3 ? 2.53125 : ""), (i % 2 ? "a" : "b") }' >t.csv
warpage sample --column fare --n 1000 --where "zone = 'a' and fare is not null" t.csv
warpage sample --column fare --n 1000 --where "zone = 'a' and fare > 1" --precision 3 t.csv
warpage sample --column fare --n 1000 --where "zone != 'a' and fare > 1" --precision 3 --format csv t.csv
warpage sample --column fare --where "zone = 'c'" t.csv 2>&1
warpage sample --column fare --where "zone" t.csv 2>&1
{
    printf '\223NUMPY\001\000\106\000'
    printf "%-69s\n" "{'descr': '<u2', 'fortran_order': False, 'shape': (3,)}"
    printf '\012\000\024\000\036\000'
} >price.npy
warpage sample --column price --n 64 --where "price > 10 and price < 30" price.npy | head -n 2
