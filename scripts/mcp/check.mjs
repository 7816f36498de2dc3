// Checks one answer: node check.mjs TOOLS.json TOOL ANSWER.json [CODE]
// Without a code it must be no error.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { checker } from './schemas.mjs';

const [tools, tool, answer, code] = process.argv.slice(2);
const read = (file) => JSON.parse(readFileSync(file, 'utf8'));
const told = checker(read(tools).tools)(tool, read(answer));
assert.equal(told.code, code, JSON.stringify(told));
console.log(told.status ?? told.code ?? Object.keys(told).join(' '));
