# shellcheck shell=bash
# A private etcd on loopback, for --elector etcd.

need_etcd() {
  command -v etcd >/dev/null || refuse "etcd is not installed" "install Debian's etcd-server"
}

start_etcd() {
  local client=http://127.0.0.1:$etcd_port peer=http://127.0.0.1:$etcd_peer_port
  mkdir -p "$dir/etcd"
  start_detached etcd etcd --name one --data-dir "$dir/etcd/data" --logger zap \
    --listen-client-urls "$client" --advertise-client-urls "$client" \
    --listen-peer-urls "$peer" --initial-advertise-peer-urls "$peer" --initial-cluster "one=$peer"
}

# It must serve, not only listen.
is_etcd_serving() {
  (
    exec 3<>"/dev/tcp/127.0.0.1/$etcd_port" || exit
    printf 'GET /health HTTP/1.0\r\n\r\n' >&3
    timeout 2 cat <&3 | grep -q '"health":"true"'
  ) 2>/dev/null
}
