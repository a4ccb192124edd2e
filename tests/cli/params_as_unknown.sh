# SPDX-License-Identifier: Apache-2.0
# An overlay that does not exist: the nearest one is named.
warpage params --device sim:gtx1080ti --as uvmsmar
