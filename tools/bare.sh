#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
set -u
usage() {
    cat <<'END'
usage: tools/bare.sh [--keep] [COMMAND [ARGUMENT...]]

Run COMMAND in a bare Debian 12 system, such as a fresh installation. The default COMMAND is make demo
followed by make test.

The system is made by debootstrap (variant minbase) in a folder under $TMPDIR (/tmp), with the
packages git and make added, and ca-certificates where a package source needs it. Debian's package
sources and the proxies are those of this machine: apt's configuration, the proxy variables,
/etc/resolv.conf, its own certificate authorities and pip's configuration.

COMMAND runs as root in a clone of this repository at the commit that is checked out. The clone lacks
uncommitted changes.

The mounts are in a namespace that ends with COMMAND, also after a signal. The folder is removed
unless --keep is given, which prints its name.

An archive of the system without the clone is kept in ${XDG_CACHE_HOME:-$HOME/.cache}/warpage/bare
and reused for 30 days.

Requires root or sudo. Installs debootstrap if it is missing.

Exit status: that of COMMAND; 69 if no bare system can be made, with the reason in one sentence
(COMMAND is not run); 2 for wrong usage; 128 + N after signal N.
END
}

suite=bookworm
packages=git,make
keep=
while [ $# -gt 0 ]; do
    case $1 in
    --keep) keep=1 ;;
    -h | --help) usage && exit ;;
    --) shift && break ;;
    -*)
        echo "bare.sh: $1 is not an option; see tools/bare.sh --help" >&2
        exit 2
        ;;
    *) break ;;
    esac
    shift
done
[ $# -gt 0 ] || set -- sh -c 'make demo && make test'

say() { echo "bare.sh: $*" >&2; }
cannot() {
    say "no bare system can be made here: $*"
    exit 69
}

proxies="http_proxy https_proxy ftp_proxy all_proxy no_proxy HTTP_PROXY HTTPS_PROXY FTP_PROXY ALL_PROXY NO_PROXY"
passed="$proxies PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_TRUSTED_HOST PIP_DEFAULT_TIMEOUT CI TERM NO_COLOR WARPAGE_JOBS"
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null 2>&1 || cannot "it requires root, and sudo is not installed"
    sudo -v || cannot "it requires root, and sudo refused"
    [ -z "$keep" ] || set -- --keep -- "$@"
    exec sudo --preserve-env="$(echo "$passed TMPDIR XDG_CACHE_HOME" | tr ' ' ,)" "$0" "$@"
fi
PATH=$PATH:/usr/sbin:/sbin
self=$(cd "$(dirname "$0")/.." && pwd) || exit 2
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
command -v apt-get >/dev/null 2>&1 || cannot "apt-get, which reads Debian's package sources, is missing"
command -v git >/dev/null 2>&1 || cannot "git, which makes the clone, is missing; apt-get install git"
arch=$(dpkg --print-architecture)

scratch=$(mktemp -d "${TMPDIR:-/tmp}/warpage-bare.XXXXXX") || cannot "a folder cannot be created in ${TMPDIR:-/tmp}"
root=$scratch/root
child=
part=
# What runs dies with the process that holds its namespaces, and so do its mounts.
finish() {
    status=$?
    trap '' EXIT HUP INT TERM
    [ -z "$child" ] || kill -KILL "$child" 2>/dev/null
    [ -z "$part" ] || rm -f "$part"
    if [ -n "$keep" ] && [ -d "$root/root/warpage" ]; then
        say "the system is kept in $root; enter it with: chroot $root"
    else
        tries=0
        until rm -rf --one-file-system "$scratch" 2>/dev/null || [ $tries -eq 50 ]; do
            tries=$((tries + 1))
            sleep 0.1 # the last processes are still going
        done
        [ ! -e "$scratch" ] || say "$scratch could not be removed"
    fi
    exit $status
}
trap finish EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# held COMMAND...: in namespaces of its own for mounts and processes; ends when this script does.
exec 3<&0
held() {
    env --default-signal=HUP,INT,QUIT,TERM setpriv --pdeathsig KILL \
        unshare --mount --propagation private --pid --fork --kill-child=KILL -- "$@" <&3 3<&- &
    child=$!
    wait "$child"
    held_status=$?
    child=
    return $held_status
}

held sh -c 'mount -t tmpfs none "$1"' sh "$scratch" >"$scratch/log" 2>&1 ||
    cannot "this process may not mount file systems ($(tail -n 1 "$scratch/log"))"
if ! command -v debootstrap >/dev/null 2>&1; then
    say "installing debootstrap"
    { DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends debootstrap ||
        { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends debootstrap; }
    } >"$scratch/log" 2>&1 ||
        cannot "debootstrap is missing and cannot be installed ($(tail -n 1 "$scratch/log"))"
fi

# Debian's package sources as apt has them, whatever the form of its files: one line each for sources.list. A source
# "mirror+file:" stands for the first address in its file.
mkdir "$scratch/lists"
apt-get -o Dir::State::lists="$scratch/lists/" --print-uris update 2>"$scratch/log" |
    sed -nE "s#^'(.*[^/])/+dists/($suite[a-z-]*)/(main|contrib|non-free|non-free-firmware)/binary-$arch/Packages.*#\1 \2 \3#p" |
    while read -r address release component; do
        case $address in
        mirror+file:*)
            address=$(sed -n 's|^\(https\{0,1\}:[^[:space:]]*[^/[:space:]]\).*|\1|p' "${address#mirror+file:}" | head -n 1)
            ;;
        esac
        case $release in "$suite" | "$suite-updates" | "$suite-security") echo "deb $address $release $component" ;; esac
    done | sort -u >"$scratch/sources.list"
mirror=$(sed -n "s|^deb \(https\{0,1\}:[^ ]*\) $suite main\$|\1|p" "$scratch/sources.list" | head -n 1)
[ -n "$mirror" ] || cannot "apt's sources name no http or https mirror of $suite main, the packages of Debian 12"
if grep -q '^deb https:' "$scratch/sources.list"; then packages=$packages,ca-certificates; fi
apt-config dump | grep -E '^Acquire::(Retries|Check-Date|Check-Valid-Until|(http|https)::[^ ]*) "' >"$scratch/apt.conf"
apt_proxy=$(sed -n 's|^Acquire::http::Proxy "\(.*\)";|\1|p' "$scratch/apt.conf")
[ -n "${http_proxy:-}" ] || [ -z "$apt_proxy" ] || [ "$apt_proxy" = DIRECT ] || bootstrap_proxy=$apt_proxy

cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/warpage/bare
archive=$cache/$suite-$arch-$(echo "$packages" | tr , -).tar.gz
start=$(date +%s)
if [ -n "$(find "$archive" -mtime -30 2>/dev/null)" ] && mkdir "$root" && tar -xzf "$archive" -C "$root" 2>/dev/null; then
    say "Debian 12, variant minbase, from $archive"
else
    say "Debian 12, variant minbase, by debootstrap: a minute or two"
    rm -rf --one-file-system "$root"
    held env ${bootstrap_proxy:+http_proxy="$bootstrap_proxy"} debootstrap --variant=minbase --arch="$arch" \
        --include="$packages" "$suite" "$root" "$mirror" >"$scratch/log" 2>&1 ||
        cannot "debootstrap failed ($(tail -n 1 "$scratch/log"))"
    part=$archive.$$
    if mkdir -p "$cache" 2>"$scratch/log" && tar -C "$root" -I 'gzip -1' --numeric-owner --one-file-system -cf "$part" \
        --exclude='./dev/*' --exclude='./proc/*' --exclude='./sys/*' --exclude='./var/cache/apt/archives/*.deb' . 2>"$scratch/log"; then
        mv "$part" "$archive"
    else
        rm -f "$part"
        say "the archive $archive cannot be written; the next run creates the system again"
    fi
    part=
fi

# What this machine's network needs.
cp "$scratch/sources.list" "$root/etc/apt/sources.list"
cp "$scratch/apt.conf" "$root/etc/apt/apt.conf.d/90host"
for path in /etc/apt/auth.conf /etc/apt/auth.conf.d /etc/apt/trusted.gpg.d /etc/pip.conf /etc/hosts \
    /usr/local/share/ca-certificates; do
    [ ! -e "$path" ] || cp -RL "$path" "$root$(dirname "$path")/"
done
rm -f "$root/etc/resolv.conf"
[ ! -e /etc/resolv.conf ] || cp -L /etc/resolv.conf "$root/etc/resolv.conf"
[ ! -x "$root/usr/sbin/update-ca-certificates" ] || chroot "$root" update-ca-certificates >"$scratch/log" 2>&1
echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe-io" # nothing has to outlive a power failure

# Any owner of the repository is accepted: it is the one that this script is from.
printf '[safe]\n\tdirectory = *\n' >"$scratch/gitconfig"
GIT_CONFIG_GLOBAL=$scratch/gitconfig git clone --quiet --no-hardlinks "$self" "$root/root/warpage" 2>"$scratch/log" ||
    cannot "the repository cannot be cloned ($(tail -n 1 "$scratch/log"))"
commit=$(GIT_CONFIG_GLOBAL=$scratch/gitconfig git -C "$root/root/warpage" log -1 --format=%h)
if [ -n "$(GIT_CONFIG_GLOBAL=$scratch/gitconfig git -C "$self" status --porcelain 2>/dev/null | head -n 1)" ]; then
    say "the clone lacks uncommitted changes"
fi
say "made in $(($(date +%s) - start)) s; commit $commit; running: $*"

cat >"$scratch/inside" <<'END'
# root, then the environment as NAME=VALUE, --, and the command.
set -e
root=$1
shift
exec 4>&2 2>"$root/tmp/mounts"
trap 'exec 2>&4; echo "bare.sh: no bare system can be made here: a mount failed ($(tail -n 1 "$root/tmp/mounts"))" >&2
      exit 69' EXIT
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount -t tmpfs -o mode=755,nosuid tmpfs "$root/dev"
for device in null zero full random urandom tty; do
    : >"$root/dev/$device"
    mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts"
mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs "$root/dev/shm"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
ln -s /proc/self/fd/0 "$root/dev/stdin"
ln -s /proc/self/fd/1 "$root/dev/stdout"
ln -s /proc/self/fd/2 "$root/dev/stderr"
trap - EXIT
exec 2>&4 4>&-
rm "$root/tmp/mounts"
chroot "$root" env -i "$@" # not exec: the first process of a namespace ignores signals that it does not handle
END
count=$#
for name in $passed; do
    eval "value=\${$name-} is_set=\${$name+1}"
    [ -z "$is_set" ] || set -- "$@" "$name=$value"
done
# The command was first: it goes behind its environment.
set -- "$@" HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    sh -c 'cd /root/warpage && exec "$@"' sh
while [ $count -gt 0 ]; do
    word=$1
    shift
    set -- "$@" "$word"
    count=$((count - 1))
done
held sh "$scratch/inside" "$root" "$@"
exit
