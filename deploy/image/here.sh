# Shared by the scripts in this folder. Images are stored separately from those of other programs.
image_dir=${INLET_IMAGE_DIR:-/var/tmp/inlet-image}
image=localhost/inlet
mkdir -p "$image_dir"

log() { printf '== %s\n' "$1"; }

storage=(--root "$image_dir/storage" --runroot "$image_dir/run")
buildah_here() { buildah "${storage[@]}" "$@"; }

install_missing() {
  local missing=()
  for package in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] || DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${missing[@]}"
}
