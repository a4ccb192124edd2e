# SPDX-License-Identifier: Apache-2.0
# --output has a page with the result; what stands in it from the device is text.
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
warpage probe --device sim:k80 --budget 1ms --output "$dir/out" >/dev/null 2>&1 # no TLB in that time
grep -q '<h1>warpage probe</h1>' "$dir/out/index.html" || echo "no heading"
grep -q '<dt>sim:k80</dt><dd>NVIDIA Tesla K80' "$dir/out/index.html" || echo "no device"
grep -q 'the budget of 1.00 ms is spent' "$dir/out/index.html" || echo "no result"
! grep -qE '(src|href)=.?(https?:|//)' "$dir/out/index.html" || echo "other files"
