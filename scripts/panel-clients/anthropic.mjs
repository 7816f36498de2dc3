// Anthropic's own client for JavaScript.
import assert from "node:assert";
import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic({ baseURL: process.env.PANEL });
const order = { model: "quorum", max_tokens: 1000, messages: [{ role: "user", content: "Tabs or spaces?" }] };
const told = ["@anthropic-ai/sdk"];
const whole = await client.messages.create(order);
assert.deepEqual(whole.content.map((it) => it.type), ["thinking", "text"]);
told.push("message");
const final = await client.messages.stream(order).finalMessage();
assert.equal(final.content[1].text, whole.content[1].text);
told.push("stream with thinking");
await assert.rejects(client.messages.create({ ...order, model: "quorum/debat" }), Anthropic.NotFoundError);
told.push("NotFoundError");
console.log(`| ${process.argv[2]} | ok | ${told.join("; ")} |`);
