# SPDX-License-Identifier: Apache-2.0
# doctor names the folder that is used, does not create one below /, and names who owns a wrong one.
line() { warpage doctor | grep 'cache folder' | sed -e "s|$PWD|.|g" -e 's/  */ /g'; }
WARPAGE_CACHE=$PWD/mine line
env -u XDG_CACHE_HOME HOME=/ TMPDIR="$PWD" warpage doctor | grep -c 'cache folder /\.cache'
[ -e /.cache/warpage ] && echo "/.cache was made"
mkdir open
chmod 0777 open
WARPAGE_CACHE=$PWD/open line
