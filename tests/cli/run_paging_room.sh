# SPDX-License-Identifier: Apache-2.0
# How much memory there is, is said once.
warpage run --device sim:gtx1080ti --oversubscribe 125% --set gpu.memory=1GiB "$CASES/programs/records"
