# SPDX-License-Identifier: Apache-2.0
# A program ended by signal n gives 128 + n.
warpage run -- sh -c 'kill -SEGV $$'
