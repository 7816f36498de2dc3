// OpenRouter's own client for JavaScript.
import assert from "node:assert";
import { OpenRouter } from "@openrouter/sdk";
import { version } from "./common.mjs";

const client = new OpenRouter({ apiKey: "none", serverURL: process.env.PANEL + "/v1" });
const told = [`@openrouter/sdk ${version("@openrouter/sdk")}`];
const messages = [{ role: "user", content: "Tabs or spaces?" }];
const plugins = [{ id: "fusion", analysisModels: ["alpha", "beta"] }];
const sent = (it) => ({ chatRequest: it });
const whole = await client.chat.send(sent({ model: "openrouter/fusion", messages, plugins }));
assert(whole.choices[0].message.content);
told.push("fusion chat");
let [content, talk] = ["", ""];
for await (const chunk of await client.chat.send(sent({ model: "quorum", messages, stream: true }))) {
  content += chunk.choices[0]?.delta?.content ?? "";
  talk += chunk.choices[0]?.delta?.reasoning ?? "";
}
assert(content && talk.includes("[R1 "));
told.push("chat stream with reasoning");
const schema = { type: "object", properties: { winner: { type: "string" } }, required: ["winner"] };
const responseFormat = { type: "json_schema", jsonSchema: { name: "verdict", schema } };
const value = await client.chat.send(sent({ model: "quorum", messages, responseFormat }));
assert(JSON.parse(value.choices[0].message.content).winner);
told.push("json_schema");
const order = { model: "openrouter/fusion", input: "Tabs or spaces?", plugins, stream: true };
const events = await client.responses.send({ responsesRequest: order });
const kinds = [];
for await (const event of events) kinds.push(event.type);
const fusion = new Set(kinds.filter((it) => String(it).startsWith("response.fusion_call")));
const kindsOfFusion = "in_progress panel.added panel.delta panel.completed analysis.in_progress analysis.completed completed";
const expected = kindsOfFusion.split(" ").map((it) => `response.fusion_call.${it}`);
assert(kinds.at(-1) === "response.completed", kinds.join());
assert.deepEqual([...fusion].sort(), expected.sort());
told.push(`responses stream, ${fusion.size} kinds of fusion events`);
const refused = await client.chat.send(sent({ model: "nothing-like-it", messages })).then(assert.fail, (it) => it);
told.push(refused.constructor.name);
console.log(`| ${process.argv[2]} | ok | ${told.join("; ")} |`);
