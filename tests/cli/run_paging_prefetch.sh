# SPDX-License-Identifier: Apache-2.0
# A prefetcher has nothing to do where nothing faults.
warpage run --device sim:gtx1080ti --migrate zero-copy --prefetch tree "$CASES/programs/records"
