# SPDX-License-Identifier: Apache-2.0
# A folder with other files in it is not touched.
mkdir mine && echo precious >mine/notes && warpage run --output mine "$CASES/programs/records" 0
status=$?
ls mine && exit $status
