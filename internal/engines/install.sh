#!/bin/bash
# Installs the real engines that tests compare with, into the folder named (by
# default one in the user's cache): npm engines 9.7.4, 10.5.1 and 11.8.1, and
# Debian's 7.8.3 tools. What cannot be installed is said and left out; the tests
# that need it skip.
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/rocksdb-go/engines}
mkdir -p "$dir" && cp "$here/package.json" "$here/engine.js" "$dir/" || exit 0
if command -v npm >/dev/null; then
  [ -d "$dir/node_modules/rocksdb-native" ] || (cd "$dir" && npm install --ignore-scripts --force --no-audit --no-fund --loglevel=error) ||
    echo "engines: npm install failed; tests with npm engines will skip"
else
  echo "engines: no npm; tests with npm engines will skip"
fi
if ! [ -x /usr/bin/sst_dump ]; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update >/dev/null 2>&1
    apt-get install -y rocksdb-tools >/dev/null 2>&1 || echo "engines: rocksdb-tools cannot be installed; tests with it will skip"
  else
    echo "engines: no rocksdb-tools, and no right to install them; tests with them will skip"
  fi
fi
exit 0
