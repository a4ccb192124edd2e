# SPDX-License-Identifier: Apache-2.0
# A folder with other files in it is not touched, and nothing is run.
mkdir mine && echo precious >mine/notes && warpage run --device sim:gtx1080ti --pages mine "$CASES/programs/records" 0
status=$?
ls mine && exit $status
