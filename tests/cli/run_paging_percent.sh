# SPDX-License-Identifier: Apache-2.0
# Half of the data's size is memory enough.
warpage run --device sim:gtx1080ti --oversubscribe 49% "$CASES/programs/records"
