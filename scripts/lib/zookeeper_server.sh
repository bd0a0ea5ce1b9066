# shellcheck shell=bash
# A private ZooKeeper, or an ensemble of three, on loopback. zkServer.sh is never used: it reads the
# machine's own configuration.

# The jar's manifest names everything that it needs except a log library.
readonly zookeeper_class_path=/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar

configure_zookeeper() {
  local n=$1 i folder=$dir/zookeeper-$1
  mkdir -p "$folder/data"
  {
    printf '%s\n' tickTime=500 initLimit=20 syncLimit=6 maxSessionTimeout=40000 \
      "dataDir=$folder/data" "clientPort=${zk_ports[n - 1]}" clientPortAddress=127.0.0.1 \
      admin.enableServer=false maxClientCnxns=0 4lw.commands.whitelist=srvr,ruok,mntr,cons \
      autopurge.purgeInterval=1
    if ((zookeepers > 1)); then
      for ((i = 1; i <= zookeepers; i++)); do
        echo "server.$i=127.0.0.1:${zk_quorum_ports[i - 1]}:${zk_election_ports[i - 1]}"
      done
    fi
  } >"$folder/zoo.cfg"
  echo "$n" >"$folder/data/myid"
}

start_zookeeper() {
  start_detached "zookeeper-$1" java -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
    -XX:-UsePerfData -Dorg.slf4j.simpleLogger.showDateTime=true \
    -Dorg.slf4j.simpleLogger.defaultLogLevel=warn -cp "$zookeeper_class_path" \
    org.apache.zookeeper.server.quorum.QuorumPeerMain "$dir/zookeeper-$1/zoo.cfg"
}

# ask_zookeeper N WORD: the answer to a four-letter word. When no process listens, descriptor 3 still belongs
# to the caller: nothing may be written to it.
ask_zookeeper() {
  (
    exec 3<>"/dev/tcp/127.0.0.1/${zk_ports[$1 - 1]}" || exit
    printf '%s' "$2" >&3
    timeout 2 cat <&3
  ) 2>/dev/null
}

# It must serve, not only listen: a member without a quorum also answers imok.
is_zookeeper_serving() {
  local answer
  answer=$(ask_zookeeper "$1" srvr) && [[ $answer == *Mode:* ]]
}

zookeeper_addresses() {
  local list
  printf -v list '127.0.0.1:%s,' "${zk_ports[@]}"
  printf '%s\n' "${list%,}"
}
