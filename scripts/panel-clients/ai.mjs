// Vercel's AI SDK with its provider for OpenAI's format.
import assert from "node:assert";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateObject, generateText, streamText } from "ai";
import { z } from "zod";
import { version } from "./common.mjs";

const panel = createOpenAICompatible({
  name: "quorum",
  baseURL: process.env.PANEL + "/v1",
  apiKey: "none",
  supportsStructuredOutputs: true,
});
const model = panel("quorum");
const prompt = "Tabs or spaces?";
const told = [`ai ${version("ai")} with @ai-sdk/openai-compatible ${version("@ai-sdk/openai-compatible")}`];
const whole = await generateText({ model, prompt });
assert(whole.text && whole.reasoningText);
told.push("generateText with reasoning");
const kinds = new Set();
for await (const part of streamText({ model, prompt }).fullStream) kinds.add(part.type);
assert(kinds.has("reasoning-delta") && kinds.has("text-delta") && !kinds.has("error"), [...kinds].join());
told.push("streamText with reasoning-delta");
const schema = z.object({ winner: z.string(), votes: z.number() });
const { object } = await generateObject({ model, prompt, schema });
assert(object.winner);
told.push("generateObject");
const refused = await generateText({ model: panel("quorum/debat"), prompt, maxRetries: 0 }).then(assert.fail, (it) => it);
assert.equal(refused.statusCode, 404);
told.push(refused.name);
// The provider for OpenAI itself uses responses, and refers to earlier items by their ids.
const responses = createOpenAI({ baseURL: process.env.PANEL + "/v1", apiKey: "none" })("quorum");
const first = await generateText({ model: responses, prompt });
const messages = [{ role: "user", content: prompt }, ...first.response.messages, { role: "user", content: "Why?" }];
assert((await generateText({ model: responses, messages, maxRetries: 0 })).text);
const parts = new Set();
for await (const part of streamText({ model: responses, prompt }).fullStream) parts.add(part.type);
assert(parts.has("reasoning-delta") && parts.has("text-delta") && !parts.has("error"), [...parts].join());
told.push(`@ai-sdk/openai ${version("@ai-sdk/openai")}: generateText, a second turn, streamText`);
console.log(`| ${process.argv[2]} | ok | ${told.join("; ")} |`);
