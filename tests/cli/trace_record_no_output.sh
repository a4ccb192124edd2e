# SPDX-License-Identifier: Apache-2.0
# Where should the trace go?
warpage trace record -- true
