// Declarations of patterns and methods: forms, results, endings and decisions. Fetched once per
// page.

import { get } from './api.js';

let known = { patterns: [], methods: [] };
let asked;

/** Fetches the declarations. If that fails, records are shown without them. */
export function learn() {
  asked ??= Promise.all(['patterns', 'consensus-methods'].map((it) => get(`/api/${it}`)))
    .then(([patterns, methods]) => (known = { patterns, methods }))
    .catch(() => {});
  return asked;
}

const named = (all, name) => all?.find((it) => it.name === name);

/** All declarations of this kind of the pattern and the method. */
const declared = (pattern, method, what) =>
  [named(known.patterns, pattern), named(known.methods, method)].flatMap((it) => it?.[what] ?? []);

/** The view of a structured reply. */
export const formView = ({ spec }, kind) =>
  declared(spec.pattern, spec.consensus.method, 'forms').find((it) => it.kind === kind)?.view;

/** The fields that this pattern and this method add to a result, without duplicates. */
export function resultFields(pattern, method) {
  const fields = declared(pattern, method, 'results');
  return fields.filter((it, at) => fields.findIndex((other) => other.name === it.name) === at);
}

/** What this option is where an order does not say. */
export const usualValue = (option) =>
  named([...known.patterns, ...known.methods].flatMap((it) => it.options ?? []), option)?.schema.default;

/** Why a discussion ended, in a sentence. */
export const endingOf = ({ spec }, why) => named(named(known.patterns, spec.pattern)?.endings, why)?.summary;

/** The declaration of a kind of decision. */
export const rulingOf = ({ spec }, kind) => named(named(known.patterns, spec.pattern)?.rulings, kind);
