# SPDX-License-Identifier: Apache-2.0
# A word that --in-step does not have, and one that is nearly right.
warpage run --in-step sometimes ./app; warpage run --in-step alway ./app
