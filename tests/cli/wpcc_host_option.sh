# SPDX-License-Identifier: Apache-2.0
# An option of the host compiler in the wrong place.
wpcc -mavx2 a.cu
