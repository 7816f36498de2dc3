// OpenAI's own client for JavaScript.
import assert from "node:assert";
import OpenAI from "openai";
import { zodResponseFormat } from "openai/helpers/zod";
import { z } from "zod";
import { calls, version } from "./common.mjs";

const client = new OpenAI({ baseURL: process.env.PANEL + "/v1" });
const asked = (content) => [{ role: "user", content }];
const messages = asked("Tabs or spaces?");
const told = [`openai ${version("openai")}`];
const names = [];
for await (const model of await client.models.list()) names.push(model.id);
assert(names.includes("quorum/debate"));
assert.equal((await client.models.retrieve("quorum/debate")).id, "quorum/debate");
told.push(`${names.length} models`);
const whole = await client.chat.completions.create({ model: "quorum", messages });
assert(whole.choices[0].message.content && whole.usage.cost > 0 && whole.quorum.discussion_id);
told.push("chat");
let [content, talk] = ["", ""];
for await (const chunk of await client.chat.completions.create({ model: "quorum", messages, stream: true })) {
  content += chunk.choices[0]?.delta?.content ?? "";
  talk += chunk.choices[0]?.delta?.reasoning_content ?? "";
}
assert(content && talk.includes("[R1 "));
told.push("stream");
assert(await client.chat.completions.stream({ model: "quorum", messages }).finalContent());
told.push(".stream()");
const format = zodResponseFormat(z.object({ winner: z.string(), votes: z.number() }), "verdict");
const parsed = await client.chat.completions.parse({ model: "quorum", messages, response_format: format });
assert(parsed.choices[0].message.parsed.winner);
told.push("parse");
const response = await client.responses.create({ model: "quorum", input: "Tabs or spaces?" });
assert(response.output_text);
let text = "";
for await (const event of await client.responses.create({ model: "quorum", input: "Tabs or spaces?", stream: true })) {
  if (event.type === "response.output_text.delta") text += event.delta;
}
assert.equal(text, response.output_text);
const kinds = [];
for await (const event of await client.responses.retrieve(response.id, { stream: true })) kinds.push(event.type);
assert.equal(kinds.at(-1), "response.completed");
told.push("responses: whole, streamed, retrieved as a stream");
await assert.rejects(client.chat.completions.create({ model: "quorum/debat", messages }), OpenAI.NotFoundError);
told.push("NotFoundError");
const failing = await client.chat.completions.create({ model: "quorum", messages: asked("REFUSED?"), stream: true });
await assert.rejects(async () => { for await (const _ of failing); }, OpenAI.APIError);
told.push("APIError in a stream");
const question = `SLOWLY with a time-out by ${process.argv[2]}?`;
const late = await client.chat.completions.create(
  { model: "quorum", messages: asked(question) }, { timeout: 1000, maxRetries: 2 });
assert.equal(await calls(question), 7, JSON.stringify(late.quorum));
told.push("time-out of 1 s, 2 repetitions: 7 calls, one discussion");
console.log(`| ${process.argv[2]} | ok | ${told.join("; ")} |`);
