# SPDX-License-Identifier: Apache-2.0
# A cache folder that cannot be made is not fatal.
XDG_CACHE_HOME=/dev/null warpage doctor
