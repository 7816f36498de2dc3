// What patterns and methods declare: their forms, results, endings and decisions. Fetched once for a page.

import { get } from './api.js';

let known = { patterns: [], methods: [] };
let asked;

/** Fetches it. Where that fails, what is recorded is shown without it. */
export function learn() {
  asked ??= Promise.all(['patterns', 'consensus-methods'].map((it) => get(`/api/${it}`)))
    .then(([patterns, methods]) => (known = { patterns, methods }))
    .catch(() => {});
  return asked;
}

const named = (all, name) => all?.find((it) => it.name === name);

/** Everything of this kind that the pattern and the method declare. */
const declared = (pattern, method, what) =>
  [named(known.patterns, pattern), named(known.methods, method)].flatMap((it) => it?.[what] ?? []);

/** How a reply in this form is drawn. */
export const formView = ({ spec }, kind) =>
  declared(spec.pattern, spec.consensus.method, 'forms').find((it) => it.kind === kind)?.view;

/** The fields that this pattern and this method add to a result, each once. */
export function resultFields(pattern, method) {
  const fields = declared(pattern, method, 'results');
  return fields.filter((it, at) => fields.findIndex((other) => other.name === it.name) === at);
}

/** Why a talk ended, in a sentence. */
export const endingOf = ({ spec }, why) => named(named(known.patterns, spec.pattern)?.endings, why)?.summary;

/** What is known of a kind of decision. */
export const rulingOf = ({ spec }, kind) => named(named(known.patterns, spec.pattern)?.rulings, kind);
