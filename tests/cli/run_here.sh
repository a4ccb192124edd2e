# SPDX-License-Identifier: Apache-2.0
# A program of this folder, without its "./".
printf '#!/bin/sh\n' >app && chmod +x app && warpage run app
