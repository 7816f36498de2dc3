// Anthropic's own client for JavaScript.
import assert from "node:assert";
import Anthropic from "@anthropic-ai/sdk";
import { version } from "./common.mjs";

const client = new Anthropic({ baseURL: process.env.PANEL });
const order = { model: "quorum", max_tokens: 1000, messages: [{ role: "user", content: "Tabs or spaces?" }] };
const told = [`@anthropic-ai/sdk ${version("@anthropic-ai/sdk")}`];
const names = [];
for await (const model of client.models.list()) names.push(model.id);
assert(names.includes("quorum/debate"), names.join());
told.push(`${names.length} models`);
const whole = await client.messages.create(order);
assert.deepEqual(whole.content.map((it) => it.type), ["thinking", "text"]);
told.push("message");
const final = await client.messages.stream(order).finalMessage();
assert.equal(final.content[1].text, whole.content[1].text);
told.push("stream with thinking");
const schema = { type: "object", properties: { winner: { type: "string" } }, required: ["winner"], additionalProperties: false };
const value = await client.messages.create({ ...order, output_config: { format: { type: "json_schema", schema } } });
assert(JSON.parse(value.content.at(-1).text).winner);
told.push("output_config");
await assert.rejects(client.messages.create({ ...order, model: "quorum/debat" }), Anthropic.NotFoundError);
told.push("NotFoundError");
const refused = { ...order, messages: [{ role: "user", content: "REFUSED?" }] };
await assert.rejects(client.messages.stream(refused).finalMessage(), Anthropic.APIError);
told.push("APIError in a stream");
console.log(`| ${process.argv[2]} | ok | ${told.join("; ")} |`);
