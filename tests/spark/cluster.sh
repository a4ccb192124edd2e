#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a command with a cluster of Apache Spark on 127.0.0.1, and ends the cluster with it:
#
#     cluster.sh [--workers N] [--apart] [--gpus] COMMAND...        (2 workers, of one core and 1 GB each)
#
# --gpus: each worker has a resource gpu, with the address 0 at the first, 1 at the second and so on.
# --apart: each worker has an address of its own, 127.0.0.2 and so on, so that Spark takes them for several hosts.
# Prints the ports. The command has SPARK_MASTER (spark://127.0.0.1:PORT), SPARK_WORKERS (the workers' process ids; each
# is the leader of a session with its executors and their Python) and SPARK_LOGS, a folder. Its exit status is the
# command's; 77: pyspark or Java is missing. The workers' Python is PYSPARK_PYTHON, else WARPAGE_PYTHON, else python3.
set -u
count=2
if [ "${1:-}" = --workers ]; then
    count=$2
    shift 2
fi
is_apart=0
if [ "${1:-}" = --apart ]; then
    is_apart=1
    shift
fi
has_gpus=
if [ "${1:-}" = --gpus ]; then
    has_gpus=1
    shift
fi
[ $# -gt 0 ] || {
    echo "usage: cluster.sh [--workers N] [--apart] [--gpus] COMMAND..." >&2
    exit 2
}
python=${WARPAGE_PYTHON:-python3}
home=$("$python" -c 'import os, pyarrow, pyspark; print(os.path.dirname(pyspark.__file__))' 2>/dev/null) || {
    echo "skipped: $python has no pyspark and pyarrow: pip install 'pyspark>=4.0' pyarrow"
    exit 77
}
[ -n "${JAVA_HOME:-}" ] || command -v java >/dev/null || {
    echo "skipped: Spark needs Java: Debian's package openjdk-17-jre-headless"
    exit 77
}
PYSPARK_PYTHON=${PYSPARK_PYTHON:-$python}
SPARK_HOME=$home SPARK_LOCAL_IP=127.0.0.1
SPARK_LOGS=$(mktemp -d) || exit 1
export PYSPARK_PYTHON SPARK_HOME SPARK_LOCAL_IP SPARK_LOGS
# Files of executors, shuffles included.
export SPARK_LOCAL_DIRS="$SPARK_LOGS/local"
# Short runs: Java's second compiler and the threads of its parallel collector cost more than they give.
export SPARK_DAEMON_JAVA_OPTS="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC" SPARK_CONF_DIR="$SPARK_LOGS/conf"
mkdir "$SPARK_CONF_DIR"
cat >"$SPARK_CONF_DIR/spark-defaults.conf" <<END
spark.driver.extraJavaOptions $SPARK_DAEMON_JAVA_OPTS
spark.executor.extraJavaOptions $SPARK_DAEMON_JAVA_OPTS
spark.sql.shuffle.partitions 4
spark.ui.enabled false
END

sessions=
command=

# Processes of the sessions that were started: the sixth field of /proc/PID/stat, behind a name in parentheses.
processes() {
    for stat in /proc/[0-9]*/stat; do
        line=$(cat "$stat" 2>/dev/null) || continue
        # shellcheck disable=SC2086  # a list of words
        set -- ${line##*) }
        case " $sessions " in
        *" $4 "*) [ "$1" = Z ] || echo "${line%% *}" ;;
        esac
    done
}

end() {
    trap - EXIT HUP INT TERM
    [ -z "$command" ] || kill "$command" 2>/dev/null
    for signal in TERM TERM KILL; do
        rest=$(processes)
        [ -n "$rest" ] || break
        # shellcheck disable=SC2086
        kill -$signal $rest 2>/dev/null
        tries=0
        while [ $tries -lt 50 ] && [ -n "$(processes)" ]; do
            tries=$((tries + 1))
            sleep 0.1
        done
    done
    rm -rf "$SPARK_LOGS"
}
trap end EXIT
trap 'exit 1' HUP INT TERM

# A daemon in a session of its own, whose log is NAME.
start() { # name, class and arguments
    name=$1
    shift
    setsid "$SPARK_HOME/bin/spark-class" "$@" >"$SPARK_LOGS/$name" 2>&1 </dev/null &
    sessions="$sessions $!"
}

# What follows PATTERN in a log, as soon as it is there.
wait_for() { # name, pattern
    tries=0
    while ! found=$(sed -n "s/.*$2\([^ ,]*\).*/\1/p" "$SPARK_LOGS/$1" 2>/dev/null | head -n 1) || [ -z "$found" ]; do
        tries=$((tries + 1))
        [ $tries -lt 600 ] || {
            echo "cluster.sh: $1 did not start:" >&2
            tail -n 20 "$SPARK_LOGS/$1" >&2
            exit 1
        }
        sleep 0.1
    done
    echo "$found"
}

host_of() { # number of a worker
    echo 127.0.0.$((1 + is_apart * $1))
}

start master org.apache.spark.deploy.master.Master --host 127.0.0.1 --port 0 --webui-port 0
SPARK_MASTER=$(wait_for master 'Starting Spark master at ') || exit 1
echo "master $SPARK_MASTER"
SPARK_WORKERS=
number=1
while [ $number -le "$count" ]; do
    if [ -n "$has_gpus" ]; then
        find="$SPARK_LOGS/find-gpu$number"
        printf '#!/bin/sh\necho '\''{"name": "gpu", "addresses": ["%d"]}'\''\n' $((number - 1)) >"$find"
        chmod +x "$find"
        export SPARK_WORKER_OPTS="-Dspark.worker.resource.gpu.amount=1 -Dspark.worker.resource.gpu.discoveryScript=$find"
    fi
    start worker$number org.apache.spark.deploy.worker.Worker --host "$(host_of $number)" --port 0 --webui-port 0 \
        --cores 1 --memory 1G --work-dir "$SPARK_LOGS/work$number" "$SPARK_MASTER"
    SPARK_WORKERS="$SPARK_WORKERS $!"
    number=$((number + 1))
done
number=1
while [ $number -le "$count" ]; do
    port=$(wait_for worker$number "Starting Spark worker $(host_of $number):") || exit 1
    wait_for worker$number 'Successfully registered with master ' >/dev/null || exit 1
    echo "worker $(host_of $number):$port"
    number=$((number + 1))
done
export SPARK_MASTER SPARK_WORKERS

"$@" &
command=$!
wait $command
status=$?
command=
exit $status
