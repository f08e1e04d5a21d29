import { connect } from "node:net";

/**
 * Stands where git expects the program of a repository: run by git within the agent's view, it carries git's words
 * through the gate to the server, which runs the real program. Loads nothing of ours: its folder may be all that the
 * agent sees of the server's code.
 *
 * Arguments: the gate's folder, the program, and the address of the repository.
 */
const [folder = "", service = "", address = ""] = process.argv.slice(2);
// The path of a socket has at most 107 bytes, and a data folder may lie deep.
process.chdir(folder);
const socket = connect({ path: "origin.sock", allowHalfOpen: true });
socket.write(`${JSON.stringify({ service, repo: address.replace(/^.*\/|\.git$/g, "") })}\n`);
process.stdin.pipe(socket);

// What comes back is in pieces, each behind its length. An empty one ends it, and its status follows: git must not take
// a connection that was cut for a success.
let pending = Buffer.alloc(0);
let status = 1;
socket.on("data", (chunk: Buffer) => {
  pending = Buffer.concat([pending, chunk]);
  while (pending.length > 4) {
    const length = pending.readUInt32BE();
    if (length === 0) status = pending[4] ?? 1;
    if (length === 0 || pending.length < 4 + length) return;
    if (!process.stdout.write(pending.subarray(4, 4 + length))) {
      socket.pause();
      process.stdout.once("drain", () => socket.resume());
    }
    pending = pending.subarray(4 + length);
  }
});
const exit = (code: number) => process.stdout.write("", () => process.exit(code));
socket.on("end", () => exit(status));
socket.on("error", (error) => {
  process.stderr.write(`retinue: the server does not answer: ${error.message}\n`);
  exit(1);
});
process.stdout.on("error", () => process.exit(1));
