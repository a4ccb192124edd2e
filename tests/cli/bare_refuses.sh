# tools/bare.sh where no bare system can be made: one sentence, exit status 69, and nothing left behind.
bare=$CASES/../../tools/bare.sh
mkdir user root tmp
echo 'echo 1000' >user/id
echo 'echo 0' >root/id
echo 'echo "unshare: unshare failed: Operation not permitted" >&2; exit 1' >root/unshare
ln -s "$(command -v dirname)" "$(command -v cat)" user/ # and no sudo
chmod +x user/id root/*
sed -i '1i #!/bin/sh' user/id root/id root/unshare
PATH=$PWD/user "$bare" touch ran
echo "exit status $?"
TMPDIR=$PWD/tmp PATH=$PWD/root:$PATH "$bare" touch ran
echo "exit status $?"
"$bare" --fast true
echo "exit status $?"
[ ! -e ran ] || echo "the command ran"
ls tmp
