# Codex with a provider of its own: our address and the format of responses.
set -eu
cd "$2"
mkdir -p work
codex exec --skip-git-repo-check --cd work --model quorum \
    -c model_provider=panel -c model_providers.panel.name=panel -c "model_providers.panel.base_url=$PANEL/v1" \
    -c model_providers.panel.wire_api=responses -c model_providers.panel.env_key=OPENAI_API_KEY \
    --output-last-message answer 'Tabs or spaces?' < /dev/null > told 2>&1 || { echo "error: $(tail -3 told)" >&2; exit 1; }
grep -q Tabs answer || { echo "error: no answer in $(cat told)" >&2; exit 1; }
echo "| $1 | ok | @openai/codex $VERSION: codex exec ends with the panel's text |"
