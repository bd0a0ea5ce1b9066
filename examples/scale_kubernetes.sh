#!/bin/bash
# A hook for pools (docs/autoscale.md) that gives a Deployment of Kubernetes as many replicas as the pool should have
# workers. Workers must have their pods' names as ids (`id` empty: the host's name).
#
#   hooks: [{name: k8s, timeout: 30s, command: [/usr/share/rota/examples/scale_kubernetes.sh, jobs, rota-workers]}]
#
#   scale_kubernetes.sh NAMESPACE DEPLOYMENT
#
# Pods that may be stopped get the lowest deletion cost, so that Kubernetes takes these and no others. Pods that still
# drain are replicas until they are named as stoppable. The Deployment remembers the last sequence number: an older
# call is dropped, and the same one again changes nothing.
#
# KUBE_API (https://kubernetes.default.svc), KUBE_TOKEN_FILE and KUBE_CA_FILE (those of a pod's service account; empty:
# none). Its role needs get and patch of the deployment, patch of deployments/scale, and patch of pods.
set -euo pipefail
[[ $# == 2 ]] || { echo "usage: scale_kubernetes.sh NAMESPACE DEPLOYMENT" >&2; exit 2; }
api=${KUBE_API:-https://kubernetes.default.svc}
account=/var/run/secrets/kubernetes.io/serviceaccount
token_file=${KUBE_TOKEN_FILE-$account/token}
ca_file=${KUBE_CA_FILE-$account/ca.crt}
deployment=$api/apis/apps/v1/namespaces/$1/deployments/$2
pods=$api/api/v1/namespaces/$1/pods

# The token goes by a file descriptor: arguments are seen by everyone on the host.
ask() {
  local -a words=(--silent --show-error --fail --max-time 10)
  if [[ -n $ca_file ]]; then words+=(--cacert "$ca_file"); fi
  if [[ -n $token_file ]]; then
    curl "${words[@]}" --header @<(printf 'Authorization: Bearer %s\n' "$(<"$token_file")") "$@"
  else
    curl "${words[@]}" "$@"
  fi
}
patch() {
  ask --request PATCH --header 'Content-Type: application/merge-patch+json' --data "$2" --output /dev/null "$1"
}
number_of() { sed -n "s/.*\"$1\":\\(-\\{0,1\\}[0-9]\\{1,\\}\\).*/\\1/p" <<<"$call"; }

call=$(cat)
sequence=$(number_of sequence)
keep=$(number_of keep)
[[ -n $sequence && -n $keep ]] || { echo "no call of a hook: $call" >&2; exit 2; }
last=$(ask "$deployment" | tr -d '\n' | sed -n 's/.*"rota\/sequence": *"\([0-9]*\)".*/\1/p')
if ((sequence < ${last:-0})); then
  echo "$sequence is older than $last: dropped" >&2
  exit 0
fi
while IFS= read -r pod; do
  patch "$pods/$pod" '{"metadata":{"annotations":{"controller.kubernetes.io/pod-deletion-cost":"-1000000"}}}' ||
    echo "pod $pod is gone already" >&2
done < <(grep -o '"worker":"[A-Za-z0-9.-]*"' <<<"$call" | cut -d'"' -f4)
patch "$deployment" "{\"metadata\":{\"annotations\":{\"rota/sequence\":\"$sequence\"}}}"
patch "$deployment/scale" "{\"spec\":{\"replicas\":$keep}}"
