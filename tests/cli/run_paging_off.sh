# SPDX-License-Identifier: Apache-2.0
# Policies of paging are asked for where pages do not move.
warpage run --device sim:p100 --evict lru-4k "$CASES/programs/records"
