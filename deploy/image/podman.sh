#!/usr/bin/env bash
# podman, with the images of build-here.sh. With runc, since Debian's crun refuses machines that have both kinds of cgroups.
source "$(dirname "$0")/here.sh"
exec podman "${storage[@]}" --runtime "${INLET_IMAGE_RUNTIME:-runc}" "$@"
