# SPDX-License-Identifier: Apache-2.0
# This machine as a host: each value has a median and a range, and a simulated GPU takes the profile.
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
warpage probe host --max-memory 8MiB --repeats 2 --output "$dir/here.ini" >"$dir/text" || exit 1
sed -n 's/^\(Sequential.*thread\|Sequential.*threads\|Random.*last\|Queuing.*copy\|memcpy of [0-9]* K*i*B\)  *[0-9.]*[A-Za-z/]*  *[0-9.]*[A-Za-z/]*  *[0-9.]*[A-Za-z/]*$/\1/p' "$dir/text"
sed -n '/^poll/d; s/^\([a-z_]*\) = .*/\1/p' "$dir/here.ini"
warpage params --device "sim:gtx680@$dir/here.ini" >"$dir/params" || exit 1
for key in bandwidth core_bandwidth random_latency random_in_flight call; do
    grep -q "host\.$key .*median of 2 measurements" "$dir/params" || echo "$key is not in force"
done
warpage probe host --max-memory 8MiB --repeats 1 --format json >"$dir/json" || exit 1
grep -o '"warpage.host/1"\|"repeats": 1,\|"copy_64_ns"\|"threads"' "$dir/json"
