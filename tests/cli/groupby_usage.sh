# SPDX-License-Identifier: Apache-2.0
# Wrong requests: one sentence each, status 2.
try() {
    warpage groupby "$@" 2>&1
    echo "status $?"
}
printf 'user,price\n1,2\n' >t.csv
try t.csv
try --key user
try --key user --agg median:price t.csv
try --key user --agg sum t.csv
try --key user --strategy copi t.csv
try --key user --format xml t.csv
try --key user --scope 5 t.csv
try --key user --delimiter ab t.csv
try --key user t.csv --agg count
try --key user --set a=b t.csv
try --key user --device gpu t.csv
