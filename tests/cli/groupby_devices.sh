# SPDX-License-Identifier: Apache-2.0
# On devices the groups are the processor's: every strategy and placement, with room for all and
# with less device memory than the groups take.
WARPAGE_LIBCUDA=$(dirname "$(command -v warpage)")/../tests/libfake_cuda.so
export WARPAGE_LIBCUDA
awk 'BEGIN {
    print "user,item,price,weight"
    for (i = 0; i < 2500; i++) {
        x = (x * 16807 + 11) % 2147483647
        print (i % 19 == 0 ? "" : x % 2000 - 100) ",i" x % 5 "," (i % 11 == 0 ? "" : x % 9973 - 500) "," x % 800 / 4
    }
}' >t.csv

# expect NAME OPTIONS…: what the processor says; check DEVICE NAME OPTIONS…: the device says that, too.
expect() {
    name=$1
    shift
    warpage groupby "$@" t.csv >"$name" || echo "$name: status $?"
}
check() {
    device=$1 name=$2
    shift 2
    warpage groupby --device "$device" --explain "$@" t.csv >ours 2>explained || echo "status $?: $*"
    cmp "$name" ours || echo "on $device, $name differs: $*"
}
wide='--key user --agg count,count:price,sum:price,min:price,max:weight,avg:weight'
pair='--key item,user --agg count,max:price'
# shellcheck disable=SC2086  # they are several words
expect wide $wide
expect narrow --key item
# shellcheck disable=SC2086
expect pair $pair
# shellcheck disable=SC2086
for device in sim:k80 cuda:0; do
    for strategy in auto direct scoped copy partition; do
        how="--strategy $strategy --scope 32KiB"
        [ $strategy != direct ] || how="--strategy direct"
        check $device wide $wide $how --groups 2000
        check $device narrow --key item $how --groups 100
        check $device pair $pair $how --memory 80KiB
        check $device wide $wide $how --memory 130KiB
        grep -q 'spilled [1-9]' explained || echo "on $device nothing was spilled: $strategy"
    done
    for placement in zero-copy copied resident; do
        check $device wide $wide --placement $placement --threads 1000 --groups 500
    done
done
warpage groupby --device sim:p100 $wide --unsorted t.csv | sort >ours
sort wide | cmp - ours
warpage groupby --device cpu $wide t.csv | cmp wide -
echo done
