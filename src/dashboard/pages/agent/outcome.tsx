import { toJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { type AgentStatus, Phase } from "../../../../gen/retinue/v1/agent_pb.js";
import { Code, Markdown } from "../../text/markdown.js";

/** What it wants, what came of it, what went wrong. */
export function Outcome({ status }: { status: AgentStatus }) {
  const { needsInput, result, structuredOutput, lastError, phase } = status;
  const output = structuredOutput && JSON.stringify(toJson(ValueSchema, structuredOutput), null, 2);
  return (
    <>
      {needsInput === "" ? null : (
        <div class="callout asking">
          <h2>Needs input</h2>
          <Markdown text={needsInput} />
        </div>
      )}
      {lastError && phase !== Phase.COMPLETED ? (
        <div class="callout failed">
          <h2>{lastError.kind}</h2>
          <p>{lastError.message}</p>
        </div>
      ) : null}
      {result === "" && output === undefined ? null : (
        <div class="callout done">
          <h2>Result</h2>
          {result === "" ? null : <Markdown text={result} />}
          {output === undefined ? null : <Code text={output} label="Structured output" />}
        </div>
      )}
    </>
  );
}
