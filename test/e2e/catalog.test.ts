import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import {
  type Answer,
  decode,
  encode,
  mintKey,
  rest,
  startServer,
  type TestServer,
} from "../support/server.js";

let server: TestServer;
before(async () => {
  server = await startServer();
});

const get = (path: string, key = server.adminKey) => rest(server, key, "GET", `/v1/catalog/${path}`);
const put = (path: string, body: object, key = server.adminKey) =>
  rest(server, key, "POST", `/v1/catalog/${path}`, body);
const remove = (path: string, key = server.adminKey) => rest(server, key, "DELETE", `/v1/catalog/${path}`);

function assertFault(answer: Answer, status: number, code: number, reason: string, text?: RegExp): void {
  assert.equal(answer.status, status, JSON.stringify(answer.body));
  assert.equal(answer.body.code, code);
  assert.equal(answer.body.details[0]["@type"], "type.googleapis.com/google.rpc.ErrorInfo");
  assert.equal(answer.body.details[0].reason, reason, answer.body.message);
  assert.equal(answer.body.details[0].domain, "retinue");
  if (text) assert.match(answer.body.message, text);
}

describe("writing", () => {
  test("creating gives generation 1, the document with its server-set fields, and it can be read back", async () => {
    const made = await put("workspace/made", { payload: encode({ displayName: "Made" }) });
    assert.equal(made.status, 200);
    assert.equal(made.body.generation, "1");
    const document = decode(made.body.payload);
    assert.equal(document.displayName, "Made");
    assert.equal(document.meta.createdBy, "codehost_oauth/admin");
    assert.match(document.meta.createdAt, /^\d{4}-\d\d-\d\dT.*Z$/);
    const read = await get("workspace/made");
    assert.deepEqual(read.body, {
      kind: "workspace",
      name: "made",
      payload: made.body.payload,
      inputFormat: "INPUT_FORMAT_YAML",
      generation: "1",
    });
  });

  test("each write that changes something counts one up; one that changes nothing keeps the generation", async () => {
    await put("workspace/count", { payload: encode({ displayName: "a" }) });
    const second = await put("workspace/count", { payload: encode({ displayName: "b" }) });
    assert.equal(second.body.generation, "2");
    const same = await put("workspace/count", { payload: encode({ displayName: "b" }) });
    assert.equal(same.body.generation, "2");
    assert.equal(same.body.payload, second.body.payload);
  });

  test("an answer to a read can be sent back as it is", async () => {
    await put("workspace/back", { payload: encode({ displayName: "a" }) });
    const read = await get("workspace/back");
    const again = await put("workspace/back", { payload: read.body.payload });
    assert.deepEqual(again.body, { payload: read.body.payload, generation: "1" });
  });

  test("a full replace drops what the payload does not have", async () => {
    await put("workspace/whole", { payload: encode({ displayName: "a", description: "d" }) });
    const replaced = await put("workspace/whole", { payload: encode({ displayName: "b" }) });
    assert.equal(decode(replaced.body.payload).description, undefined);
  });

  test("a full replace needs a payload", async () => {
    assertFault(await put("workspace/empty", {}), 400, 3, "INVALID_FIELD", /payload/);
  });

  test("a patch changes the fields of its mask and no others", async () => {
    await put("workspace/patch", { payload: encode({ displayName: "a", description: "d" }) });
    const patched = await put("workspace/patch", {
      payload: encode({ displayName: "b", description: "ignored" }),
      updateMask: "displayName",
    });
    assert.equal(decode(patched.body.payload).displayName, "b");
    assert.equal(decode(patched.body.payload).description, "d");
  });

  test("a field of the mask that the payload does not have is cleared", async () => {
    await put("workspace/clear", { payload: encode({ displayName: "a", description: "d" }) });
    const patched = await put("workspace/clear", { payload: encode({}), updateMask: "description" });
    assert.equal(decode(patched.body.payload).description, undefined);
    assert.equal(decode(patched.body.payload).displayName, "a");
  });

  test("a mask reaches into nested messages", async () => {
    await put("workspace/nested", {
      payload: encode({ settings: { model: "script-a", reasoningEffort: "low" } }),
    });
    const patched = await put("workspace/nested", {
      payload: encode({ settings: { reasoningEffort: "high" } }),
      updateMask: "settings.reasoningEffort",
    });
    assert.deepEqual(decode(patched.body.payload).settings, { model: "script-a", reasoningEffort: "high" });
  });

  test("a mask path that the kind does not have is refused and named", async () => {
    await put("workspace/badmask", { payload: encode({}) });
    const answer = await put("workspace/badmask", { payload: encode({}), updateMask: "displayNam" });
    assertFault(answer, 400, 3, "INVALID_FIELD", /displayNam/);
  });

  test("patching what does not exist is NOT_FOUND", async () => {
    const answer = await put("workspace/nothing", { payload: encode({}), updateMask: "displayName" });
    assertFault(answer, 404, 5, "RESOURCE_NOT_FOUND");
  });

  test("an unknown field of the document is refused with its path", async () => {
    const answer = await put("workspace/typo", { payload: encode({ repos: [{ name: "a", urll: "x" }] }) });
    assertFault(answer, 400, 3, "INVALID_FIELD", /payload\.repos\[0\]\.urll/);
  });

  test("a document that breaks a rule is refused with the field and what is allowed", async () => {
    const answer = await put("pool-config/big", { payload: encode({ slots: 5000 }) });
    assertFault(answer, 400, 3, "INVALID_FIELD", /payload\.slots.*1.*1000/);
    assert.equal(answer.body.details[1].fieldViolations[0].field, "payload.slots");
  });

  test("a document over 256 KiB is refused", async () => {
    const answer = await put("workspace/large", { payload: encode({ description: "x".repeat(300_000) }) });
    assertFault(answer, 400, 3, "INVALID_FIELD", /payload.*256 KiB/);
  });

  test("kind and name in the body must be those of the path", async () => {
    const answer = await put("workspace/a", { ref: { name: "b" }, payload: encode({}) });
    assertFault(answer, 400, 3, "INVALID_FIELD", /ref\.name/);
  });

  test("a mistyped ifGenerationMatch never becomes an unconditional write", async () => {
    const answer = await put("workspace/guard", { payload: encode({}), ifGenerationMatches: "0" });
    assertFault(answer, 400, 3, "INVALID_FIELD", /ifGenerationMatches/);
    assert.equal((await get("workspace/guard")).status, 404);
  });

  test("an unknown kind is refused and the known ones are listed", async () => {
    assertFault(
      await put("workspaces/a", { payload: encode({}) }),
      400,
      3,
      "UNKNOWN_KIND",
      /known kinds: workspace/,
    );
  });

  for (const name of ["Upper", "a..b", "-a", "a%20b", "x".repeat(64)]) {
    test(`the name '${name.slice(0, 10)}' is refused`, async () => {
      assertFault(
        await put(`workspace/${name}`, { payload: encode({}) }),
        400,
        3,
        "INVALID_FIELD",
        /ref\.name/,
      );
    });
  }
});

describe("preconditions", () => {
  test("ifGenerationMatch 0 creates, once", async () => {
    const body = { payload: encode({}), ifGenerationMatch: "0" };
    assert.equal((await put("workspace/once", body)).status, 200);
    const second = await put("workspace/once", {
      payload: encode({ displayName: "x" }),
      ifGenerationMatch: "0",
    });
    assertFault(second, 400, 9, "GENERATION_MISMATCH");
    assert.equal(decode((await get("workspace/once")).body.payload).displayName, undefined);
  });

  test("a stale generation is refused and nothing is written; the current one is taken, as string or number", async () => {
    await put("workspace/cas", { payload: encode({ displayName: "1" }) });
    await put("workspace/cas", { payload: encode({ displayName: "2" }), ifGenerationMatch: 1 });
    const stale = await put("workspace/cas", {
      payload: encode({ displayName: "3" }),
      ifGenerationMatch: "1",
    });
    assertFault(stale, 400, 9, "GENERATION_MISMATCH", /generation is 2/);
    assert.equal(stale.body.details[1]["@type"], "type.googleapis.com/google.rpc.PreconditionFailure");
    assert.equal(decode((await get("workspace/cas")).body.payload).displayName, "2");
  });

  test("a negative generation is INVALID_ARGUMENT", async () => {
    const answer = await put("workspace/neg", { payload: encode({}), ifGenerationMatch: "-1" });
    assertFault(answer, 400, 3, "INVALID_FIELD", /ifGenerationMatch/);
  });

  test("a number beyond 2^53 is refused rather than rounded", async () => {
    const text = `{"payload":"${encode({})}","ifGenerationMatch":9007199254740993}`;
    const answer = await rest(server, server.adminKey, "POST", "/v1/catalog/workspace/big", text);
    assertFault(answer, 400, 3, "INVALID_FIELD", /ifGenerationMatch/);
  });

  test("20 writers × 10 compare-and-swap increments lose none", async () => {
    await put("workspace/counter", { payload: encode({ displayName: "0" }) });
    const writer = async () => {
      for (let done = 0; done < 10; ) {
        const read = await get("workspace/counter");
        const count = Number(decode(read.body.payload).displayName);
        const written = await put("workspace/counter", {
          payload: encode({ displayName: String(count + 1) }),
          ifGenerationMatch: read.body.generation,
        });
        if (written.status === 200) done++;
        else assertFault(written, 400, 9, "GENERATION_MISMATCH");
      }
    };
    await Promise.all(Array.from({ length: 20 }, writer));
    const end = await get("workspace/counter");
    assert.equal(decode(end.body.payload).displayName, "200");
    assert.equal(end.body.generation, "201");
  });

  test("of 20 parallel creates with ifGenerationMatch 0 exactly one wins", async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        put("workspace/race", { payload: encode({ displayName: String(i) }), ifGenerationMatch: "0" }),
      ),
    );
    const won = answers.filter((answer) => answer.status === 200);
    assert.equal(won.length, 1);
    for (const answer of answers) if (answer !== won[0]) assertFault(answer, 400, 9, "GENERATION_MISMATCH");
    assert.equal((await get("workspace/race")).body.payload, won[0]?.body.payload);
  });
});

describe("builtins, deletion, history, lists", () => {
  test("a builtin reads with generation 0, can be written over, and shows again when that is deleted", async () => {
    const builtin = await get("persona/default");
    assert.equal(builtin.body.generation, "0");
    assert.equal(builtin.body.inputFormat, "INPUT_FORMAT_MARKDOWN");
    const shadow = await put("persona/default", {
      payload: encode({ instructions: "Be brief." }),
      ifGenerationMatch: "0",
    });
    assert.equal(shadow.body.generation, "1");
    assert.equal(decode((await get("persona/default")).body.payload).instructions, "Be brief.");
    assert.equal((await remove("persona/default")).body.generation, "2");
    assert.deepEqual((await get("persona/default")).body, builtin.body);
  });

  test("a builtin as it came cannot be deleted", async () => {
    assertFault(await remove("environment/default"), 400, 9, "BUILTIN");
  });

  test("deleting leaves a tombstone: the name is gone, and goes on counting when it comes back", async () => {
    await put("workspace/phoenix", { payload: encode({ displayName: "1" }) });
    assertFault(await remove("workspace/phoenix?ifGenerationMatch=7"), 400, 9, "GENERATION_MISMATCH");
    assert.deepEqual((await remove("workspace/phoenix?ifGenerationMatch=1")).body, { generation: "2" });
    assertFault(await get("workspace/phoenix"), 404, 5, "RESOURCE_NOT_FOUND");
    assertFault(await remove("workspace/phoenix"), 404, 5, "RESOURCE_NOT_FOUND");
    const back = await put("workspace/phoenix", { payload: encode({}), ifGenerationMatch: "0" });
    assert.equal(back.body.generation, "3");
  });

  test("history tells each version, who wrote it and why, newest first, in pages", async () => {
    await put("workspace/story", { payload: encode({ displayName: "1" }), justification: "begin" });
    await put("workspace/story", { payload: encode({ displayName: "2" }) });
    await rest(server, server.adminKey, "DELETE", "/v1/catalog/workspace/story?justification=end");
    const first = await get("workspace/story/history?pageSize=2");
    assert.deepEqual(
      first.body.versions.map((v: { generation: string; deleted: boolean; justification: string }) => [
        v.generation,
        v.deleted,
        v.justification,
      ]),
      [
        ["3", true, "end"],
        ["2", false, ""],
      ],
    );
    const rest2 = await get(`workspace/story/history?pageToken=${first.body.nextPageToken}`);
    assert.equal(rest2.body.versions.length, 1);
    assert.equal(rest2.body.versions[0].justification, "begin");
    assert.equal(decode(rest2.body.versions[0].payload).displayName, "1");
    assert.equal(rest2.body.nextPageToken, "");
  });

  test("a list holds stored documents and builtins by name, in pages", async () => {
    for (const name of ["b", "a", "z"]) {
      await put(`model/${name}`, { payload: encode({ backend: "BACKEND_A" }) });
    }
    const names: string[] = [];
    let token = "";
    do {
      const page = await get(`model?pageSize=2&pageToken=${token}`);
      assert.ok(page.body.entries.length <= 2);
      names.push(...page.body.entries.map((entry: { name: string }) => entry.name));
      token = page.body.nextPageToken;
    } while (token !== "");
    assert.deepEqual(names, ["a", "b", "script-a", "script-b", "z"]);
  });

  test("a page token that was made up is refused", async () => {
    assertFault(await get("model?pageToken=!!"), 400, 3, "INVALID_FIELD", /pageToken/);
  });

  test("everything survives a restart", async () => {
    await put("workspace/lasting", { payload: encode({ displayName: "here" }) });
    const before = (await get("workspace/lasting")).body;
    server = await server.restart();
    assert.deepEqual((await get("workspace/lasting")).body, before);
  });
});

describe("change requests", () => {
  test("a member's write becomes a change request; another person's approval performs it", async () => {
    const member = await mintKey(server, "proposer", { role: "member", account: "mia" });
    await put("workspace/shared", { payload: encode({ displayName: "old" }) });
    const proposal = await put(
      "workspace/shared",
      { payload: encode({ displayName: "new" }), justification: "better" },
      member,
    );
    assert.equal(proposal.body.generation, "0");
    const record = decode(proposal.body.payload);
    assert.equal(record.state, "CHANGE_REQUEST_STATE_OPEN");
    assert.equal(record.proposedBy, "codehost_oauth/mia");
    assert.equal(record.baseGeneration, "1");
    assert.equal(decode((await get("workspace/shared")).body.payload).displayName, "old");
    assert.equal((await get(`change-request/${record.name}`)).body.generation, "0");

    const path = `/v1/change-requests/${record.name}`;
    const own = await rest(server, member, "POST", `${path}/approve`, {});
    assertFault(own, 403, 7, "PERMISSION_DENIED");
    const approved = await rest(server, server.adminKey, "POST", `${path}/approve`, { note: "yes" });
    assert.equal(approved.body.generation, "2");
    assert.equal(approved.body.changeRequest.state, "CHANGE_REQUEST_STATE_APPROVED");
    assert.equal(approved.body.changeRequest.decidedBy, "codehost_oauth/admin");
    assert.equal(decode((await get("workspace/shared")).body.payload).displayName, "new");
    const twice = await rest(server, server.adminKey, "POST", `${path}/approve`, {});
    assertFault(twice, 400, 9, "CHANGE_REQUEST_DECIDED");
  });

  test("approval is refused when the document has moved on; the request stays open and can be rejected", async () => {
    const member = await mintKey(server, "proposer2", { role: "member", account: "max" });
    await put("workspace/moving", { payload: encode({ displayName: "1" }) });
    const body = { payload: encode({ description: "d" }), updateMask: "description,displayName" };
    const record = decode((await put("workspace/moving", body, member)).body.payload);
    assert.equal(record.updateMask, "description,displayName");
    await put("workspace/moving", { payload: encode({ displayName: "2" }) });
    const path = `/v1/change-requests/${record.name}`;
    assertFault(
      await rest(server, server.adminKey, "POST", `${path}/approve`, {}),
      400,
      9,
      "GENERATION_MISMATCH",
    );
    const rejected = await rest(server, member, "POST", `${path}/reject`, { note: "never mind" });
    assert.equal(rejected.body.changeRequest.state, "CHANGE_REQUEST_STATE_REJECTED");
    assert.equal(rejected.body.changeRequest.note, "never mind");
  });

  test("a proposal that could not succeed is refused at once", async () => {
    const member = await mintKey(server, "proposer3", { role: "member", account: "moe" });
    assertFault(await put("pool-config/p", { payload: encode({}) }, member), 400, 3, "INVALID_FIELD");
  });

  test("documents with secrets cannot be proposed", async () => {
    const member = await mintKey(server, "proposer4", { role: "member", account: "mo" });
    const answer = await put("token/mine", { payload: encode({ role: "viewer" }) }, member);
    assertFault(answer, 403, 7, "PERMISSION_DENIED", /keys:manage/);
  });

  test("a change request is not written directly", async () => {
    assertFault(await put("change-request/x", { payload: encode({}) }), 400, 9, "KIND_NOT_WRITABLE");
  });
});
