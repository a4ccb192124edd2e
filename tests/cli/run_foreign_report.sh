# SPDX-License-Identifier: Apache-2.0
# A report that was asked for and cannot be had is a failure.
warpage run --report r.json -- true; status=$?; ls; exit $status
