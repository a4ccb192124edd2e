# SPDX-License-Identifier: Apache-2.0
# An earlier report is replaced as a whole, and nothing is left beside it.
warpage run --output out "$CASES/programs/records" 0 >/dev/null && echo old >out/walks.svg
warpage run --output out/ "$CASES/programs/records" 0 >/dev/null && ls . out
