// What the clients for JavaScript share.
import fs from "node:fs";

// The version of an installed package.
export const version = (name) =>
  JSON.parse(fs.readFileSync(new URL(`./node_modules/${name}/package.json`, import.meta.url))).version;

// The calls that the vendor received for this question.
export const calls = async (question) => (await (await fetch(process.env.VENDOR + "/calls")).json())[question] ?? 0;
