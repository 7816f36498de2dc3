// OpenAI's own client for JavaScript.
import assert from "node:assert";
import OpenAI from "openai";
import { zodResponseFormat } from "openai/helpers/zod";
import { z } from "zod";

const client = new OpenAI({ baseURL: process.env.PANEL + "/v1" });
const messages = [{ role: "user", content: "Tabs or spaces?" }];
const told = ["openai for JavaScript"];
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
const format = zodResponseFormat(z.object({ winner: z.string(), votes: z.number() }), "verdict");
const parsed = await client.chat.completions.parse({ model: "quorum", messages, response_format: format });
assert(parsed.choices[0].message.parsed.winner);
told.push("parse");
const response = await client.responses.create({ model: "quorum", input: "Tabs or spaces?" });
assert(response.output_text);
told.push("responses");
await assert.rejects(client.chat.completions.create({ model: "quorum/debat", messages }), OpenAI.NotFoundError);
told.push("NotFoundError");
console.log(`| ${process.argv[2]} | ok | ${told.join("; ")} |`);
