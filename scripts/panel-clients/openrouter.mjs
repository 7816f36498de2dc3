// OpenRouter's own client for JavaScript.
import assert from "node:assert";
import { OpenRouter } from "@openrouter/sdk";

const client = new OpenRouter({ apiKey: "none", serverURL: process.env.PANEL + "/v1" });
const told = ["@openrouter/sdk"];
const messages = [{ role: "user", content: "Tabs or spaces?" }];
const plugins = [{ id: "fusion", analysisModels: ["alpha", "beta"] }];
const sent = (it) => ({ chatRequest: it });
const whole = await client.chat.send(sent({ model: "openrouter/fusion", messages, plugins }));
assert(whole.choices[0].message.content);
told.push("fusion chat");
const order = { model: "openrouter/fusion", input: "Tabs or spaces?", plugins, stream: true };
const events = await client.responses.send({ responsesRequest: order });
const kinds = [];
for await (const event of events) kinds.push(event.type);
const fusion = new Set(kinds.filter((it) => String(it).startsWith("response.fusion_call")));
assert(kinds.at(-1) === "response.completed" && fusion.size, kinds.join());
told.push(`responses stream, ${fusion.size} kinds of fusion events`);
await assert.rejects(client.chat.send(sent({ model: "nothing-like-it", messages })));
told.push("error");
console.log(`| ${process.argv[2]} | ok | ${told.join("; ")} |`);
