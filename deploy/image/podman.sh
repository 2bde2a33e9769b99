#!/usr/bin/env bash
# Runs podman with the images from build-here.sh. Uses runc, because Debian's crun fails on machines with both cgroup versions.
source "$(dirname "$0")/here.sh"
exec podman "${storage[@]}" --runtime "${INLET_IMAGE_RUNTIME:-runc}" "$@"
