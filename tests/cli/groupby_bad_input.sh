# SPDX-License-Identifier: Apache-2.0
# Tables that are wrong: one sentence each, status 1, nothing on stdout and no file.
try() {
    warpage groupby --output out.csv "$@"
    echo "status $?" >&2
}
printf 'user,price\n1,2\n3\n4,5\n' >short.csv
printf 'user,price\n1,2\n3,4,5\n' >long.csv
{
    echo user,price
    seq -f '%.0f,1' 20000
    echo 'x,1'
} >late.csv
printf 'user,price\n1,2\n"3,4\n5,6\n' >quote.csv
printf 'user,price\n1,2\n"3"4,4\n' >behind.csv
printf 'user,price\n1,300\n' >range.csv
printf 'user,price\n1,9223372036854775807\n1,1\n2,5\n' >sum.csv
: >empty.csv
seq 1000 | gzip | head -c 100 >cut.csv.gz
seq 100000 | zstd -q | head -c 1000 >cut.csv.zst
printf '\037\213\010\000......\007damaged' >damaged.csv.gz
printf 'abcde' >five.bin
printf 'abcdefgh' >eight.bin
printf 'not one' >no.npy
printf '\223NUMPY\001\000\106\000%-69s\n' "{'descr': '>i4', 'fortran_order': False, 'shape': (3,)}" >big.npy
printf '\223NUMPY\001\000\106\000%-69s\nxx' "{'descr': '<i4', 'fortran_order': False, 'shape': (3,)}" >cut.npy
printf '\223NUMPY\001\000\106\000%-69s\n' "{'descr': '<i4', 'fortran_order': True, 'shape': (3,2)}" >columns.npy
try --key user short.csv
try --key user long.csv
try --key user late.csv
try --key user quote.csv
try --key user behind.csv
try --key price --types price:int8 range.csv
try --key user --agg count,sum:price sum.csv
try --key user empty.csv
try --key 1 cut.csv.gz
try --key 1 cut.csv.zst
try --key user damaged.csv.gz
seq 3000000 | gzip -1 | head -c 4000000 >late.csv.gz
try --key 1 late.csv.gz
try --key user,user short.csv
try --key user missing.csv
try --key user .
try --key usr short.csv
try --key colour short.csv
printf '1;2\n3;4\n' >semicolons.csv
try --key user semicolons.csv
try --key user --agg sum:user --types user:text short.csv
try --key user --types usr:int8 short.csv
try --key user --types user:int short.csv
try --key five five.bin:int32
try --key eight eight.bin:int32 five.bin:int8
try --key no no.npy
try --key big big.npy
try --key cut cut.npy
try --key c1 columns.npy
try --key user short.csv long.csv
echo out*
