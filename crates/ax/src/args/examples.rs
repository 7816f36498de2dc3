//! Examples for every verb. The tests run each of them exactly as written here.

use crate::exit;

pub(super) const AX: &str = "\
Examples:
  ax demo
  ax \"Which database for a real-time app?\"
  ax \"Which database for a real-time app?\" --offline
  ax discuss --help

A question needs no verb. Put it in quotes: a single word, or words that look
like a mistyped verb, are refused.

`ax help VERB` explains a verb, with examples.";

const DISCUSS: &str = "\
Examples:
  ax discuss \"What's the best database for a real-time app?\"
  ax ask \"Tabs or spaces?\" --offline
  ax discuss \"Microservices vs Monolith\" --pattern debate --rounds 3
  ax discuss \"Best API style\" --pattern settle --options \"REST,GraphQL,gRPC\"
  ax discuss \"Tabs or spaces?\" --pattern debate --debate-format free-form --judge qwen
  ax discuss \"What shall we build?\" --pattern roundtable --participants claude,gemini,me:person
  ax discuss \"Rewrite or refactor?\" --rounds 5 --dry-run
  ax discuss \"Rewrite or refactor?\" --dry-run --worst-case
  ax discuss \"Rewrite or refactor?\" --max-calls 30 --detach
  ax discuss --again last --pattern debate --rounds 3
  ax discuss \"Which database for events?\" --recall
  ax discuss \"Best API style\" --output-format jsonl > events.jsonl
  ax discuss \"Is this sound?\" -f notes.md -f todo.md --usage
  cat notes.md | ax discuss \"What did we miss?\" --quiet > answer.md

On a terminal, ? shows the keys while it runs. The first Ctrl-C stops asking and
concludes with what was said; the second aborts. `ax config show` prints the
configured defaults.";

pub(super) fn discuss() -> String {
    format!("{DISCUSS}\n\nExit codes:\n{}", exit::codes())
}

pub(super) const FOLLOW: &str = "\
Examples:
  ax follow \"And what would it cost?\"
  ax follow last \"And what would it cost?\" --rounds 1
  ax follow last \"Who should do it?\" --dry-run

Everyone is shown the question, answer and dissent of that discussion, and of
those that it followed itself. Panel, pattern and session stay the same unless
flags change them. A pattern that votes on options becomes a synthesis if the
next question has no --options.";

const RUN: &str = "\
Examples:
  ax run review.yaml --input \"a new cache\" --offline
  ax run architecture-decision --input @request.json --max-calls 20 --offline
  ax run review.yaml --set area=billing --dry-run
  ax run review.yaml --input \"a new cache\" --offline --json

A run is recorded like a discussion: `ax resume`, `ax pause`, `ax stop`,
`ax show`, `ax export` and `ax fork` work on it, and no answered call is
repeated. --offline uses simulated voices, which cost nothing.";

pub(super) fn run() -> String {
    format!("{RUN}\n\nExit codes:\n{}", exit::codes())
}

const EVAL: &str = "\
Examples:
  ax eval questions.jsonl --offline --dry-run
  ax eval questions.jsonl --offline --max-cost 2 --out first-eval
  ax eval questions.jsonl --offline --protocols majority,settle,voting:2

A question is a JSON object with question and answer, and optionally id,
options, grade (choice, exact, number, regex, contains, judge) and context.
Files of MMLU, GPQA, lm-evaluation-harness and promptfoo need no conversion.";

pub(super) fn eval() -> String {
    format!("{EVAL}\n\nExit codes:\n{}", exit::codes())
}

pub(super) const WORKFLOW: &str = "\
Examples:
  ax workflow list
  ax workflow check review.yaml
  ax workflow show architecture-decision
  ax workflow schema > workflow.schema.json";

pub(super) const RESUME: &str = "\
Examples:
  ax resume last
  ax resume last --json > result.json";

pub(super) const WATCH: &str = "\
Examples:
  ax watch last
  ax attach last~1

It works for a discussion of any process with the same database: a detached one,
one of `ax serve`, or one at another terminal. p pauses it, s stops it and
concludes, q or Ctrl-C leaves it running. Turns appear when they are complete.";

pub(super) const PAUSE: &str = "\
Examples:
  ax pause last";

pub(super) const STOP: &str = "\
Examples:
  ax stop last > answer.md";

pub(super) const ABORT: &str = "\
Examples:
  ax abort last";

pub(super) const NOTE: &str = "\
Examples:
  ax note last \"Mind the budget of this year.\"";

pub(super) const RATE: &str = "\
Examples:
  ax rate last 4";

pub(super) const RESOLVE: &str = "\
Examples:
  ax resolve last Postgres
  ax resolve last SQLite --by \"the incident review\"";

pub(super) const CALIBRATION: &str = "\
Examples:
  ax calibration
  ax calibration --json";

pub(super) const DELETE: &str = "\
Examples:
  ax delete last --yes
  ax delete last --yes --with-copies";

pub(super) const RESTORE: &str = "\
Examples:
  ax restore
  ax restore --all";

pub(super) const SAY: &str = "\
Examples:
  ax say last \"I would rather wait a year.\"
  ax say last - --as me < answer.md";

pub(super) const FORK: &str = "\
Examples:
  ax fork last --at 1/awaiting-responses/gemini --judge mistral
  ax fork last --at 1/awaiting-responses/gemini --judge mistral --dry-run
  ax fork last --at 1/awaiting-responses/gemini --rounds 4

A step is round/phase/name. An unknown step is refused with a list of the known
ones.

For a workflow run, --at is the name of a step. Every step whose configuration
is the same after replacing expressions is kept:
  ax fork RUN --at summarise --set tone=formal --dry-run
  ax fork RUN --at discuss --workflow review.yaml";

pub(super) const HISTORY: &str = "\
Examples:
  ax history
  ax history event sourcing -n 5
  ax history --json | jq -r '.[].topic'";

pub(super) const SHOW: &str = "\
Examples:
  ax show last --verbose
  ax show last~1
  ax show last --usage
  ax show last --json | jq -r .synthesis";

pub(super) const EXPORT: &str = "\
Examples:
  ax export last > discussion.md
  ax export last -o discussion.html
  ax export last --format jsonl | jq -r .type";

pub(super) const REPLAY: &str = "\
Examples:
  ax replay last
  ax replay last --speed 4
  ax replay last --fast";

pub(super) const SERVE: &str = "\
Examples:
  ax serve
  ax serve --port 8080 --offline
  curl -N http://localhost:3000/api/discussions/ID/events";

pub(super) const MCP: &str = "\
Examples:
  ax mcp install claude
  ax mcp install codex --write
  ax mcp --offline < /dev/null

Clients start `ax mcp` themselves, and talk to it on standard input and output.
`ax serve` offers the same at /mcp. AX_MCP_TOOL_PREFIX is the prefix of tool
names, `ax` by default.";

pub(super) const PATTERNS: &str = "\
Examples:
  ax patterns
  ax patterns --json | jq -r '.patterns[].name'";

pub(super) const PROMPTS: &str = "\
Examples:
  ax prompts debate
  ax prompts voting \"Which API style?\" --options \"REST,GraphQL,gRPC\"
  ax prompts roundtable --consensus moderator --synthesizer claude
  ax prompts synthesis --rounds 2 --json | jq -r '.[].tokens'

Simulated voices answer, so the talk in the later prompts is made up. Nothing is
recorded.";

pub(super) const AGENTS: &str = "\
Examples:
  ax agents
  ax agents register reviewer.md
  ax agents show reviewer --topic \"Is this diff safe?\"
  ax discuss \"Is this diff safe?\" --participants claude,reviewer:agent
  ax agents remove reviewer";

pub(super) const SESSIONS: &str = "\
Examples:
  ax sessions create \"Billing rewrite\"
  ax sessions rename Travel Holidays
  ax sessions list --json
  ax history --session Travel";

pub(super) const DEMO: &str = "\
Examples:
  ax demo
  ax demo --fast";

pub(super) const CONFIG: &str = "\
Examples:
  ax config path
  ax config show
  ax config check

A configuration may look like this:
  [defaults]
  providers = \"claude,gemini,qwen\"
  max-cost = 0.5

  [presets.architecture]
  pattern = \"debate\"
  rounds = 3
  judge = \"qwen\"

Its keys are the long flags of `ax discuss`. Flags on the command line override
a preset, and a preset overrides the defaults:
  ax discuss \"…\" --preset architecture --rounds 4";

pub(super) const DB: &str = "\
Examples:
  ax db migrate
  ax db check
  ax db check --all --json
  ax db move --to copy.db

Without an argument, the configured database is used: AX_DATABASE_URL, [store]
url, or the file in the data directory. `ax db move` copies that file to the
configured URL, and `ax db move --back` copies in the other direction. The
source is only read. End all processes that use either database first.";

pub(super) const COMPLETIONS: &str = "\
Examples:
  ax completions bash > ax.bash
  ax completions zsh > _ax
  ax completions fish > ax.fish

Install them here:
  bash  ~/.local/share/bash-completion/completions/ax
  fish  ~/.config/fish/completions/ax.fish
  zsh   _ax in a directory of $fpath

Providers, presets and ids are looked up each time, so they are up to date.";

pub(super) const MAN: &str = "\
Examples:
  ax man > ax.1
  ax man discuss > ax-discuss.1

`ax man discuss | man -l -` shows a page without saving it.";
