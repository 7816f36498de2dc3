// Asks a panel through a generated client: starts a discussion, waits for it, prints the answer.
import createClient from "openapi-fetch";
import type { components, paths } from "./schema";

const client = createClient<paths>({ baseUrl: process.env.QUORUM ?? "http://localhost:3000" });
const started = await client.POST("/api/discussions", { body: { topic: "Tabs or spaces?", rounds: 1 } });
if (!started.data) throw new Error(started.error.detail);
const path = { id: started.data.discussionId };
let result: components["schemas"]["Result"] | undefined;
while (!result?.stoppingReason) {
  await new Promise((ready) => setTimeout(ready, 200));
  result = (await client.GET("/api/discussions/{id}/result", { params: { path } })).data;
}
console.log(`${result.status}: ${result.synthesis}`);
