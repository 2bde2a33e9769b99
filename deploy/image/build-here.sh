#!/usr/bin/env bash
# Builds deploy/Dockerfile on Debian without Docker, using buildah: the image and its variant for backups. The script also builds the
# base image, from Debian packages (debootstrap) and Node.js from npm, and tags it with the name that the Dockerfile expects. Needs
# root, and uses this machine's apt mirror and npm registry. Prints the names and sizes of the images.
#   deploy/image/build-here.sh          INLET_IMAGE_DIR: image storage, /var/tmp/inlet-image by default
set -euo pipefail
cd "$(dirname "$0")/../.."
source deploy/image/here.sh
source scripts/use-node.sh
base=$(sed -n 's/^ARG BASE=//p' deploy/Dockerfile)

install_missing buildah debootstrap

make_base() {
  local root=$image_dir/base npm_version
  npm_version=$(npm --version)
  rm -rf "$root"
  # The mirror from which apt downloads this Debian release.
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Codename: bookworm' | head -n 1)
  log "base: Debian from $mirror"
  debootstrap --variant=minbase bookworm "$root" "$mirror" >"$image_dir/debootstrap.log"
  rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/* "$root"/usr/share/{doc,man,info,locale}/* "$root"/var/log/*
  log "base: Node.js $(node --version), npm $npm_version"
  install -m 755 "$(command -v node)" "$root/usr/local/bin/node"
  npm install --prefix "$image_dir/npm" --no-save --no-package-lock --loglevel=error "npm@$npm_version"
  mkdir -p "$root/usr/local/lib/node_modules"
  cp -r "$image_dir/npm/node_modules/npm" "$root/usr/local/lib/node_modules/npm"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
  chroot "$root" useradd --uid 1000 --user-group --create-home --shell /bin/bash node
  container=$(buildah_here from scratch)
  buildah_here copy --quiet "$container" "$root" / >/dev/null
  buildah_here config --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin --cmd node "$container"
  buildah_here commit --quiet --rm "$container" "localhost/$base" >/dev/null
  rm -rf "$root" "$image_dir/npm"
}

buildah_here inspect --type image "localhost/$base" >/dev/null 2>&1 || make_base

# Passes this machine's npm configuration (registry, credentials, certificates) as build secrets. test/image checks that none of
# it remains in the image.
secrets=$(mktemp -d)
trap 'rm -rf "$secrets"' EXIT
{
  echo "registry=$(npm config get registry)"
  grep -hE '^//|_auth' "$(npm config get userconfig)" 2>/dev/null || true
} >"$secrets/npmrc"
cat "${NODE_EXTRA_CA_CERTS:-/etc/ssl/certs/ca-certificates.crt}" >"$secrets/certificates"

log "image: deploy/Dockerfile on $base"
# Uses chroot isolation, because a container per step needs kernel features that some machines do not allow.
build() {
  buildah_here build --pull-never --isolation chroot --layers --format docker --quiet \
    --secret "id=npmrc,src=$secrets/npmrc" --secret "id=certificates,src=$secrets/certificates" \
    --file deploy/Dockerfile "$@" .
}
build --tag "$image"
build --target backup --tag "$image-backup"
for built in "$image" "$image-backup"; do
  buildah_here images --format '{{.Name}}:{{.Tag}} {{.Size}}' "$built"
done
