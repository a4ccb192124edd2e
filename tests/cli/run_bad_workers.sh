# SPDX-License-Identifier: Apache-2.0
# Workers that are no number, or none.
warpage run --workers many ./app; warpage run --workers 0 ./app
