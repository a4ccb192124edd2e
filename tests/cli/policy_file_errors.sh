# SPDX-License-Identifier: Apache-2.0
# What is wrong with a policy file is said in one sentence, and nothing is run.
example=$CASES/../../examples/policies/migrate/cautious.c
first() { "$@" 2>&1 | head -n 1; }
try() { # what is replaced in the example, by what
    sed "s/$1/$2/" "$example" >mine.c
    wpcc --policy -w mine.c -o mine.so || return
    first warpage policies --policy-file mine.so migrate
}
{
    try '.name = "cautious"' '.name = "adaptive"'
    try '.kind = "migrate"' '.kind = "migration"'
    try '.kind = "migrate"' '.kind = "weather"'
    try '.ops = &ops' '.ops = 0'
    try '.threshold = threshold' '.threshold = 0'
    try '.source = "an example"' '.source = 0'
    try '.name = "cautious"' '.name = "a,b"'
    wpcc --policy "$example" -o mine.so
    cp mine.so again.so
    first warpage policies --policy-file mine.so --policy-file again.so
    first warpage run --device sim:k80 --policy-file none.so -- ./app
    first warpage run --device sim:k80 --policy-file . -- ./app
    first warpage run --device sim:k80 --policy-file mine.c -- ./app
    "${CC:-cc}" -shared -fPIC -x c /dev/null -o empty.so
    first warpage run --device sim:k80 --policy-file empty.so -- ./app
    first warpage run --policy-file mine.so -- ./app
    first warpage run --device cpu --policy-file mine.so -- ./app
    WARPAGE_POLICY_FILES=none.so first warpage run --device sim:k80 -- ./app
    mkdir a:b && cp mine.so a:b
    first warpage compare --policy-file a:b/mine.so --vary migrate=always,cautious -- ./app
    first warpage run --device sim:gtx1080ti --policy-file mine.so --migrate cautius -- ./app
} 2>&1 | sed "s|$PWD/||g"
