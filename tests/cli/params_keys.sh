# SPDX-License-Identifier: Apache-2.0
# A simulated GPU's numbers, one changed.
warpage params --device sim:k80 --set tlb.l2.entries=128 --format csv tlb.l2 | grep -e entries -e latency
