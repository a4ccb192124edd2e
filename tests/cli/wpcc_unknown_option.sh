# SPDX-License-Identifier: Apache-2.0
# An unknown option, with the one that was meant.
wpcc --use_fast_maths a.cu
