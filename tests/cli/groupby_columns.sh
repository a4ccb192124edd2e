# SPDX-License-Identifier: Apache-2.0
# Raw columns and .npy files side by side; a file for the result.
printf '\001\000\000\000\377\377\377\377\001\000\000\000' >user.bin
{
    printf '\223NUMPY\001\000\106\000'
    printf "%-69s\n" "{'descr': '<u2', 'fortran_order': False, 'shape': (3,)}"
    printf '\012\000\024\000\036\000'
} >price.npy
{
    printf '\223NUMPY\002\000\200\000\000\000'
    printf "%-127s\n" "{'descr': [('k', '|u1'), ('v', '<i2')], 'fortran_order': False, 'shape': (2,), }"
    printf '\001\376\377\002\005\000'
} >records.npy
warpage groupby --key user --agg sum:price,avg:price --output out.csv user.bin:int32 price.npy && cat out.csv
warpage groupby --key k --agg sum:v records.npy
ls
