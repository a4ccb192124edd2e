# SPDX-License-Identifier: Apache-2.0
# What stays and what is kept free leave something for the rest.
warpage run --device sim:gtx1080ti --set reserve=60% --set free=40% "$CASES/programs/records"
