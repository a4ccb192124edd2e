# SPDX-License-Identifier: Apache-2.0
# Each wrong option has its sentence.
for bad in "--level l3" "--threads 33" "--threads 2048" "--coalesced 3" "--blocks 0" "--repeats 0" "--format xml" more; do
    # shellcheck disable=SC2086
    warpage probe bandwidth --device sim:k80 $bad 2>&1 | head -1
done
warpage probe bandwidth --device sim:k80 --level l3 2>/dev/null
