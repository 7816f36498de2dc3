// Sums up the results of the conformance suite: node conformance.mjs RESULTS EXPLAINED.json
// A result is a folder of an era with a folder for each scenario, which has checks.json.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const [results, file] = process.argv.slice(2);
const explained = JSON.parse(readFileSync(file, 'utf8'));

function* found(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (entry.name === 'checks.json') yield join(entry.parentPath, entry.name);
  }
}
// The scenario, from a folder like server-tools-list-2026-01-01T00-00-00-000Z.
const scenario = (path) => path.split('/').at(-2).replace(/^server-/, '').replace(/-\d{4}-\d{2}-\d{2}T.*$/, '');

let failed = false;
for (const [era, reasons] of Object.entries(explained)) {
  const folder = join(results, era);
  const unused = new Set(Object.keys(reasons));
  const counts = {};
  const told = [];
  for (const path of existsSync(folder) ? found(folder) : []) {
    for (const check of JSON.parse(readFileSync(path, 'utf8'))) {
      counts[check.status] = (counts[check.status] ?? 0) + 1;
      if (check.status !== 'FAILURE' && check.status !== 'WARNING') continue;
      const name = `${scenario(path)}:${check.id}`;
      const reason = [name, scenario(path)].find((it) => it in reasons);
      unused.delete(reason);
      failed ||= !reason;
      told.push(`| ${name} | ${reason ? reasons[reason] : `NOT EXPLAINED: ${check.errorMessage ?? check.description}`} |`);
    }
  }
  failed ||= !(counts.SUCCESS > 0) || unused.size > 0;
  console.log(`\n${era}: ${JSON.stringify(counts)}`);
  console.log(['| check | why it does not pass |', '|---|---|', ...told].join('\n'));
  for (const name of unused) console.log(`| ${name} | NEEDS NO EXPLANATION ANY MORE |`);
}
process.exit(failed ? 1 : 0);
