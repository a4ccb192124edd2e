# SPDX-License-Identifier: Apache-2.0
# Where pages do not move, nothing can be advised: said before anything runs.
warpage advise --device sim:k80 -- true
