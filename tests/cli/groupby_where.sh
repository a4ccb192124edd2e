# SPDX-License-Identifier: Apache-2.0
# --where: rows that satisfy comparisons; a comparison with NULL is not true. Wrong conditions are one sentence.
try() {
    echo "-- $1"
    warpage groupby --key item --agg count,sum:price --where "$1" t.csv 2>&1
}
printf 'user,item,price,two words\n7,apple,2.5,x\n-3,pear,,y\n7,,0.1,x\n,pear,4,x\n7,"it'"'"'s",0.2,y\n9,apple,0.25,x\n' >t.csv
try "price > 0.2"
try "item = 'it''s'"
try "item >= 'apple' and user != 9"
try "price is null"
try "user IS NOT NULL AND price<=2.5and item is not null"
try "user IS NOT NULL AND price<=2.5 and item is not null"
try "\"two words\"='x' and user<7.5"
try "user > 100"
try "user > 9223372036854775807"
try "user"
try "user >"
try "user is"
try "user = x"
try "user = 'x'"
try "item = 5"
try "item = 'abc"
try "user > 1 or user < 0"
try "usr > 1"
try ""
