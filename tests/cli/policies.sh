# SPDX-License-Identifier: Apache-2.0
# A kind of policies, with the key that selects one.
warpage policies --format csv scheduler
