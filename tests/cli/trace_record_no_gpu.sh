# SPDX-License-Identifier: Apache-2.0
# A program that uses no GPU leaves no trace.
warpage trace record -o none.wpt -- true; status=$?; [ ! -e none.wpt ] && exit $status
