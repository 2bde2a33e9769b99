#!/usr/bin/env bash
# Builds deploy/Dockerfile on Debian without Docker: buildah, on a base that is made here. The base has the name that the
# Dockerfile asks for, Debian's own packages (debootstrap) and Node.js from npm. Needs root, the Debian mirror of this
# machine's apt and the registry of its npm, nothing else. Prints size, user and layers.
#   deploy/image/build-here.sh          INLET_IMAGE_DIR: where images are kept, /var/tmp/inlet-image
set -euo pipefail
cd "$(dirname "$0")/../.."
source deploy/image/here.sh
source scripts/use-node.sh
base=$(sed -n 's/^ARG BASE=//p' deploy/Dockerfile)

install_missing buildah debootstrap

make_base() {
  local root=$place/base npm_version
  npm_version=$(npm --version)
  rm -rf "$root"
  # Where apt finds this release, with what comes after it.
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Codename: bookworm' | head -n 1)
  said "base: Debian from $mirror"
  debootstrap --variant=minbase bookworm "$root" "$mirror" >"$place/debootstrap.log"
  rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/* "$root"/usr/share/{doc,man,info,locale}/* "$root"/var/log/*
  said "base: Node.js $(node --version), npm $npm_version"
  install -m 755 "$(command -v node)" "$root/usr/local/bin/node"
  npm install --prefix "$place/npm" --no-save --no-package-lock --loglevel=error "npm@$npm_version"
  mkdir -p "$root/usr/local/lib/node_modules"
  cp -r "$place/npm/node_modules/npm" "$root/usr/local/lib/node_modules/npm"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
  chroot "$root" useradd --uid 1000 --user-group --create-home --shell /bin/bash node
  container=$(buildah_here from scratch)
  buildah_here copy --quiet "$container" "$root" / >/dev/null
  buildah_here config --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin --cmd node "$container"
  buildah_here commit --quiet --rm "$container" "localhost/$base" >/dev/null
  rm -rf "$root" "$place/npm"
}

buildah_here inspect --type image "localhost/$base" >/dev/null 2>&1 || make_base

# What npm needs to know here (registry, keys, certificates) is lent for one step. test/image looks for it in the image.
lent=$(mktemp -d)
trap 'rm -rf "$lent"' EXIT
{
  echo "registry=$(npm config get registry)"
  grep -hE '^//|_auth' "$(npm config get userconfig)" 2>/dev/null || true
} >"$lent/npmrc"
cat "${NODE_EXTRA_CA_CERTS:-/etc/ssl/certs/ca-certificates.crt}" >"$lent/certificates"

said "image: deploy/Dockerfile on $base"
# chroot, because a container for each step would need more of the kernel than some machines let one have.
buildah_here build --pull-never --isolation chroot --layers --format docker --quiet \
  --secret "id=npmrc,src=$lent/npmrc" --secret "id=certificates,src=$lent/certificates" \
  --file deploy/Dockerfile --tag "$image" .
buildah_here images --format '{{.Name}}:{{.Tag}} {{.Size}}' "$image"
