// Checks one answer: node check.mjs TOOLS.json TOOL ANSWER.json
import { readFileSync } from 'node:fs';
import { checker } from './schemas.mjs';

const [tools, tool, answer] = process.argv.slice(2);
const read = (file) => JSON.parse(readFileSync(file, 'utf8'));
const told = checker(read(tools).tools)(tool, read(answer));
console.log(told.status ?? told.code ?? Object.keys(told).join(' '));
