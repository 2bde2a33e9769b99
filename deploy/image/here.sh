# What the scripts beside it share. Images are kept apart from those of other programs.
place=${INLET_IMAGE_DIR:-/var/tmp/inlet-image}
image=localhost/inlet
mkdir -p "$place"

said() { printf '== %s\n' "$1"; }

storage=(--root "$place/storage" --runroot "$place/run")
buildah_here() { buildah "${storage[@]}" "$@"; }

install_missing() {
  local missing=()
  for package in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] || DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${missing[@]}"
}
