# SPDX-License-Identifier: Apache-2.0
# Oversubscription begins where memory is as large as the data.
warpage run --device sim:gtx1080ti --oversubscribe 99% "$CASES/programs/records"
