#!/bin/sh
# Generates a Python and a TypeScript client from our own server, compiles both, and runs the
# examples in examples/clients with them. Needs Python with venv, npm and curl; the generators and
# what they make stay under target/.
set -eu
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
case $target in /*) ;; *) target=$PWD/$target ;; esac
tools=$target/clients
examples=$PWD/examples/clients
mkdir -p "$tools"
ax=${AX:-$target/debug/ax}
[ -x "$ax" ] || cargo build --package quorum-ax

if [ ! -f "$tools/python/ready" ]; then
    python3 -m venv "$tools/python"
    "$tools/python/bin/pip" install --quiet 'openapi-python-client>=0.26,<1' 'mypy>=1,<3'
    touch "$tools/python/ready"
fi
if [ ! -f "$tools/typescript/ready" ]; then
    mkdir -p "$tools/typescript"
    (cd "$tools/typescript" && echo '{"type":"module","private":true}' > package.json &&
        npm install --silent --no-audit --no-fund openapi-typescript@7 openapi-fetch@0.17 typescript@5 @types/node@22)
    touch "$tools/typescript/ready"
fi

data=$(mktemp -d)
printf '[defaults]\nsimulate = "latency=0ms"\n' > "$data/config.toml"
AX_DATA_DIR=$data AX_CONFIG=$data/config.toml "$ax" serve --port 0 --offline 2> "$data/said" &
server=$!
trap 'kill "$server" 2> /dev/null || true; wait "$server" 2> /dev/null || true; rm -rf "$data"' EXIT INT TERM
until grep -qs 'Listening on' "$data/said"; do
    kill -0 "$server"
    sleep 0.1
done
QUORUM=$(sed -n 's/.*Listening on \(http:[^ ]*\).*/\1/p' "$data/said" | sed 's,/*$,,')
export QUORUM
curl --silent --fail --output "$tools/openapi.json" "$QUORUM/openapi.json"

echo '== Python =='
printf 'project_name_override: quorum-client\npackage_name_override: quorum_client\npost_hooks: []\n' > "$tools/python.yaml"
(cd "$tools" && python/bin/openapi-python-client generate --path openapi.json --config python.yaml \
    --output-path generated --overwrite --fail-on-warning)
PYTHONPATH=$tools/generated
export PYTHONPATH
"$tools/python/bin/python" -m compileall -q "$tools/generated"
MYPYPATH=$PYTHONPATH "$tools/python/bin/mypy" --no-error-summary --follow-imports silent \
    --cache-dir "$tools/mypy" "$examples/python/ask.py"
"$tools/python/bin/python" "$examples/python/ask.py" > "$data/python.txt"
cat "$data/python.txt"
grep -q '^completed: .' "$data/python.txt"

echo '== TypeScript =='
cp "$examples/typescript/ask.ts" "$tools/typescript/"
cd "$tools/typescript"
node_modules/.bin/openapi-typescript ../openapi.json --output schema.d.ts
node_modules/.bin/tsc --strict --target es2022 --module esnext --moduleResolution bundler \
    --skipLibCheck false --outDir built ask.ts
node built/ask.js > "$data/typescript.txt"
cat "$data/typescript.txt"
grep -q '^completed: .' "$data/typescript.txt"
