# SPDX-License-Identifier: Apache-2.0
# A column without values can be summed and compared: of a file without rows, of rows that are all
# NULL, and of the rows that the types are chosen from.
try() {
    warpage groupby "$@" 2>&1
    echo "status $?"
}
printf 'a,b\n1,\n1,\n' >nulls.csv
printf 'a,b\n' >none.csv
try --key a --agg count,count:b,sum:b,avg:b,max:b --format json nulls.csv
try --key b --agg sum:b nulls.csv
try --key b --where 'b > 1' nulls.csv
try --key a --where "b = 'x'" nulls.csv
try --key a --agg sum:b none.csv
try --key a --agg sum:b --where "b = 'x'" nulls.csv
{ echo a,b; yes 1, | head -n 10000; echo 1,5; } >late.csv
{ cat late.csv; echo 1,2.5; } >later.csv
try --key a --agg count,sum:b late.csv
try --key b late.csv
try --key a --agg sum:b later.csv
