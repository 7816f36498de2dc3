#!/usr/bin/env bash
# Has check-jsonschema, another implementation, check our examples and the tests' workflow files
# with the schema that `ax workflow schema` prints, and refuse ten broken files. Also checks that
# the schema is valid JSON Schema 2020-12. Not part of the tests: it installs the program under
# target/check-jsonschema. Needs python3 with venv.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target="${CARGO_TARGET_DIR:-$PWD/target}"
place="$target/check-jsonschema"
mkdir -p "$place/broken"
if [ ! -x "$place/venv/bin/check-jsonschema" ]; then
    python3 -m venv "$place/venv"
    "$place/venv/bin/pip" --quiet install 'check-jsonschema==0.*'
fi
check="$place/venv/bin/check-jsonschema"
cargo build --quiet --package quorum-ax
"$target/debug/ax" workflow schema > "$place/workflow.schema.json"

"$check" --check-metaschema "$place/workflow.schema.json"
"$check" --schemafile "$place/workflow.schema.json" examples/workflows/*.yaml crates/ax/tests/cli/flows/*

# Each is a right file with one thing broken.
write() {
    printf 'workflowId: %s\nversion: %s\nsteps:\n  - stepId: %s\n    type: %s\n    %s\n' "${@:2}" > "$place/broken/$1.yaml"
}
write upper-case Bad 1.0.0 a prompt 'config: { prompt: x }'
write version-of-two w '"1.0"' a prompt 'config: { prompt: x }'
write number-as-version w 1.0 a prompt 'config: { prompt: x }'
write step-id w 1.0.0 '"1a"' prompt 'config: { prompt: x }'
write unknown-type w 1.0.0 a promt 'config: { prompt: x }'
write unknown-field-of-a-step w 1.0.0 a prompt 'confg: { prompt: x }'
write unknown-field-of-a-prompt w 1.0.0 a prompt 'config: { promt: x }'
write too-short-a-timeout w 1.0.0 a prompt 'timeout: 10'
write too-many-attempts w 1.0.0 a prompt 'retryPolicy: { maxAttempts: 11 }'
write nested-mistake w 1.0.0 a parallel 'config: { steps: [{ stepId: b, type: prompt, config: { promt: x } }] }'
refused=0
for file in "$place"/broken/*.yaml; do
    if "$check" --schemafile "$place/workflow.schema.json" "$file" > "$place/said.txt" 2>&1; then
        echo "accepted, and should not be: $file" >&2
        exit 1
    fi
    refused=$((refused + 1))
done
echo "The schema is valid; all examples pass; $refused broken files are refused."
