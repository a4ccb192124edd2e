# SPDX-License-Identifier: Apache-2.0
# Of a column of which every value is the same, all is known.
{
    echo fare,tip
    seq -f '7.5,%.0f' 5000
} >t.csv
warpage sample --column fare --n 1024 --range 7.. t.csv
warpage sample --column fare --n 1024 --range ..7 --format csv t.csv
warpage sample --column fare --n 1024 --format json --confidence 90 --output out.json t.csv && cat out.json
gzip t.csv
warpage sample --column fare --n 1024 --device sim:p100 --strategy scoped --scope 64KiB t.csv.gz
