# Puts Node.js 24 first in PATH. Usage: source scripts/use-node.sh
# The script does nothing if the shell already uses a version in the range of `engines` in package.json. Otherwise, it
# installs the oldest version of the range from npm into .tools/ of this clone. Run it before "npm ci", which rejects
# other Node versions (engine-strict).
inlet_root="$(cd "$(dirname "${BASH_SOURCE[0]:-$0}")/.." && pwd)"
inlet_range="$(sed -n 's/.*"node": ">=\([0-9.]*\) <\([0-9]*\)".*/\1 \2/p' "$inlet_root/package.json")"
inlet_least="${inlet_range% *}"
inlet_below="${inlet_range#* }"

inlet_node_fits() {
  local version
  version="$(node --version 2>/dev/null)" || return 1
  version="${version#v}"
  [ "${version%%.*}" -lt "$inlet_below" ] &&
    [ "$(printf '%s\n' "$inlet_least" "$version" | sort -V | head -n 1)" = "$inlet_least" ]
}

case "$(uname -m)" in
  x86_64) inlet_arch=x64 ;;
  aarch64 | arm64)
    inlet_arch=arm64
    echo 'Note: on arm64, "npm run stack:up", "npm run dev", and the tests that need servers do not work, because the' >&2
    echo 'ClickHouse package for development exists only for Linux x64. Install with "npm ci --force" for the checks and unit' >&2
    echo 'tests, or with "npm ci --omit=dev" to run the service on your own servers.' >&2
    ;;
  *) inlet_arch="$(uname -m)" ;;
esac

if ! inlet_node_fits; then
  inlet_tools="$inlet_root/.tools/node-$inlet_least"
  if [ ! -x "$inlet_tools/node_modules/node-linux-$inlet_arch/bin/node" ]; then
    echo "installing Node.js $inlet_least into $inlet_tools"
    mkdir -p "$inlet_tools"
    npm install --prefix "$inlet_tools" --no-save --no-package-lock --loglevel=error "node-linux-$inlet_arch@$inlet_least"
  fi
  export PATH="$inlet_tools/node_modules/node-linux-$inlet_arch/bin:$PATH"
fi
