# SPDX-License-Identifier: Apache-2.0
# A simulated GPU that does not exist: the nearest one is named.
warpage run --device sim:gtx1080 "$CASES/programs/records"
