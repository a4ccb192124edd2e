# SPDX-License-Identifier: Apache-2.0
# What cannot be sampled, and wrong requests: one sentence each.
try() {
    warpage sample "$@" 2>&1
    echo "status $?"
}
printf 'fare,name\n1,a\n' >t.csv
printf 'fare,name\n' >none.csv
try t.csv
try --column fare
try --column fair t.csv
try --column name t.csv
try --column fare none.csv
try --column fare --types fare:int8 none.csv
try t.csv --column fare --n 0
try --column fare --n 18446744073709551615 t.csv
try --column fare --range 3 t.csv
try --column fare --range 3..2 t.csv
try --column fare --confidence 100 t.csv
try --column fare --strategy copy t.csv
try --column fare --strategy direct --scope 1MiB t.csv
try --column fare --placement copied t.csv
try --column fare --scope 7 t.csv
try --column fare --device sim:k81 t.csv
awk 'BEGIN { print "fare"; for (i = 0; i < 200000; i++) print i }' >large.csv
try --column fare --device sim:k80 --set gpu.memory=1MiB large.csv
