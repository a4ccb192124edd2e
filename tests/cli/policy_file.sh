# SPDX-License-Identifier: Apache-2.0
# A policy of a file is listed and selected by name like one of Warpage's own.
wpcc --policy "$CASES/../../examples/policies/migrate/cautious.c" -o mine.so || exit
warpage policies --policy-file mine.so --format csv migrate | grep cautious
warpage params --device sim:gtx1080ti --policy-file mine.so --set migrate=cautious --format csv paging.migrate | cut -d, -f1-4
warpage params --format csv policy-files | cut -d, -f1-6
