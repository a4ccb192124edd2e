# SPDX-License-Identifier: Apache-2.0
# Policies of paging are asked for where pages do not move.
warpage run --device sim:k80 --evict lru-4k "$CASES/programs/records"
