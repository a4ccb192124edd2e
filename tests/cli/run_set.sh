# SPDX-License-Identifier: Apache-2.0
# --set may be given again, and comes after what the environment says.
WARPAGE_SET="gpu.seed=1" warpage run --device sim:k80 --set tlb.l2.entries=128 --set=link.bandwidth=24GB/s -- sh -c 'echo "$WARPAGE_SET"' 2>/dev/null
