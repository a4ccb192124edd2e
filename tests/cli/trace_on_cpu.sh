# SPDX-License-Identifier: Apache-2.0
# Traces are recorded on simulated GPUs.
warpage trace record --device cpu -o x.wpt -- true
