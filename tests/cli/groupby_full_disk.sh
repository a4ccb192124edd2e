# SPDX-License-Identifier: Apache-2.0
# Results that cannot be written are a failure.
printf 'user,price\n1,2\n' >t.csv
warpage groupby --key user t.csv >/dev/full
echo "status $?"
warpage groupby --key user --output /dev/full t.csv
echo "status $?"
warpage groupby --key user --output missing/out.csv t.csv
