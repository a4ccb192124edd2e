# SPDX-License-Identifier: Apache-2.0
# Options may follow the table, and those with lists may be repeated; two columns of one name are no
# JSON.
try() {
    warpage groupby "$@" 2>&1
    echo "status $?"
}
printf 'a,b,count\n1,2,7\n1,3,7\n2,5,8\n' >t.csv
try t.csv --key a --agg sum:b
try --key a t.csv --key b --agg count --agg max:count --order-by a:desc --order-by b
try --key a --types a:text --types b:float64 --agg max:b t.csv
try --key a --agg count,sum:b --agg count t.csv
try --key count --format json t.csv
try --key count --format csv t.csv
