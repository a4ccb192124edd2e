# SPDX-License-Identifier: Apache-2.0
# --order-by and --limit: columns of the result, NULL last both ways, ties in order of keys.
printf 'user,item,price\n7,apple,2.5\n-3,pear,\n7,,0.1\n,pear,4\n7,kiwi,0.2\n9,apple,0.25\n' >t.csv
warpage groupby --key item --agg count,max:price --order-by count:desc t.csv
warpage groupby --key user --agg count,max:price --order-by max:price t.csv
warpage groupby --key user --agg count,max:price --order-by max_price:desc,user:desc --limit 2 t.csv
warpage groupby --key item,user --order-by user:desc,item --limit 3 t.csv
warpage groupby --key item --limit 0 --format json t.csv
try() {
    warpage groupby --key item --agg sum:price "$@" t.csv 2>&1 | head -n 1
}
try --order-by sum_prize
try --order-by price
try --order-by item --unsorted
try --limit x
warpage groupby --key count --order-by count t.csv
printf 'count\n1\n' >count.csv
warpage groupby --key count --order-by count count.csv
