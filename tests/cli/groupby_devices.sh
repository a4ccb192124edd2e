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
    for strategy in auto direct scoped copy partition sepo; do
        how="--strategy $strategy --scope 32KiB"
        case $strategy in direct | sepo) how="--strategy $strategy" ;; esac
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
# A GPU does not report its TLBs; a profile names them, and then scopes are considered.
# shellcheck disable=SC2086
check cuda:0 wide $wide --groups 1000000
grep -q 'the TLBs of this device are unknown' explained || echo "the TLBs of a GPU are known"
printf '[gpu]\nbase = k80\n' >own.ini
for profile in k80 ./own.ini; do
    # shellcheck disable=SC2086
    check cuda:0 wide $wide --groups 1000000 --profile $profile
    grep -q "^cuda:0 as $profile: " explained && grep -q '^  partition  scope 1.97 MiB' explained ||
        { echo "--profile $profile changes nothing"; cat explained; }
done
warpage groupby --device cuda:0 --key item --profile k81 t.csv 2>&1
warpage sample --device cuda:0 --column price --profile gone.ini t.csv 2>&1
warpage groupby --key item --profile k80 t.csv 2>&1
warpage groupby --device sim:p100 $wide --unsorted t.csv | sort >ours
sort wide | cmp - ours
warpage groupby --device cpu $wide t.csv | cmp wide -
echo done
