# SPDX-License-Identifier: Apache-2.0
# On a terminal groups are an aligned table: numbers to the right, long texts wrapped, NULL by name,
# control characters as escapes. In a pipe and in a file it is CSV.
printf 'user,item,price\n7,"a long text, of more words than fit the line of the terminal",2.5\n-31,"two\nlines\033[2J",\n,zürich,1234.5\n' >t.csv
script -qec 'stty cols 50; warpage groupby --key item,user --agg sum:price t.csv' /dev/null | tr -d '\r'
script -qec 'stty cols 50; warpage groupby --key user --output out t.csv' /dev/null && cat out
warpage groupby --key item,user --agg sum:price --format text t.csv
script -qec 'warpage groupby --key user --format parquet t.csv' /dev/null | head -n 1 | tr -d '\r'
