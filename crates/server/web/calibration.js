// The reliability of each voice, from recorded outcomes.

import { get } from './api.js';
import { bullets, fill, h, name, notice, table } from './dom.js';
import { count, decimals } from './figures.js';

export function calibration(main) {
  document.title = 'Calibration · Quorum';
  const body = h('div.wide');
  const simulated = h('input', { type: 'checkbox', on: { change: () => void load() } });
  fill(
    main,
    h('header.head', {}, h('h1', {}, 'Calibration')),
    h('p', {}, 'The reliability of each voice, from recorded outcomes. “Right answer…” in the menu “More” of a finished discussion records one.'),
    h('label', {}, simulated, ' Of simulated voices'),
    body,
  );

  async function load() {
    try {
      fill(body, shown(await get(`/api/calibration?simulated=${simulated.checked}`)));
    } catch (error) {
      notice(error.message, 'error');
    }
  }
  void load();
  return {};
}

const counted = (number, noun) => `${count(number)} ${noun}${number === 1 ? '' : 's'}`;

const percent = (share) => `${Math.round(100 * share)} %`;

const figure = (value) => (value === undefined ? '' : decimals(value, 2));

function shown(found) {
  if (!found.outcomes) return [h('p', {}, 'No outcomes are recorded yet.')];
  const lines = [
    `${counted(found.outcomes, 'outcome')}; votes are weighed by them from ${found.needed} on.`,
    found.results ? `${percent(found.resultsRight)} of ${counted(found.results, 'result')} were right.` : '',
    found.slope === undefined ? '' : `Stated confidence has a slope of ${figure(found.slope)}: 1 is a chance, 0 says nothing.`,
    found.nEff === undefined
      ? ''
      : `${counted(found.voices.length, 'voice')}, about ${decimals(found.nEff, 1)} independent ones (${found.nEffInterval
          .map((it) => decimals(it, 1))
          .join('-')}).`,
  ];
  const rows = found.voices.map((it) => [
    name(it.voice),
    String(it.outcomes),
    percent(it.accuracy),
    figure(it.brier),
    it.ece === undefined ? 'too few' : figure(it.ece),
    figure(it.weight),
  ]);
  const pairs = found.pairs.map((it) => [name(it.voices[0]), name(it.voices[1]), figure(it.phi), String(it.outcomes)]);
  return [
    bullets(lines.filter(Boolean)),
    table(['Voice', 'Outcomes', 'Accuracy', 'Brier', 'ECE', 'Weight'], rows),
    pairs.length > 0 && [h('h2', {}, 'How alike they err'), table(['Voice', 'and', 'Correlation', 'Outcomes'], pairs)],
  ];
}
