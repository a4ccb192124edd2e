# SPDX-License-Identifier: Apache-2.0
# More than a hundred times memory.
warpage run --device sim:gtx1080ti --oversubscribe 20000% "$CASES/programs/records"
