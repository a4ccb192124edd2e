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
try --key user t.csv --aggs count
try --key user --set a=b t.csv
try --key user --device gpu t.csv
# What only a GPU has a use for; one that has too little memory; scopes of a strategy without any.
try --key user --scope 1MiB t.csv
try --key user --device cpu --strategy copy t.csv
try --key user --placement resident t.csv
try --key user --memory 1GiB t.csv
try --key user --device sim:k80 --strategy direct --scope 1MiB t.csv
try --key user --device sim:k80 --placement pinned t.csv
try --key user --device sim:k80 --memory 1KiB t.csv
try --key user --device sim:k81 t.csv
