import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createStallCutter, type Draining } from "../../src/transport/port/stalled.js";

/** A stream with so much left to send, and a socket, as far as a drain looks at them. */
function connection(left: number) {
  const stream = {
    bufferSize: left,
    cut: false,
    close() {
      this.cut = true;
    },
  };
  const socket = {
    writableFinished: false,
    cut: false,
    destroy() {
      this.cut = true;
    },
  };
  return { stream, socket, draining: { socket, streams: [stream] } as unknown as Draining };
}

describe("what a drain cuts", () => {
  const clock = () => {
    let nowMs = 0;
    const cut = createStallCutter(() => nowMs);
    return (atMs: number, ...connections: Draining[]) => {
      nowMs = atMs;
      cut(connections);
    };
  };

  test("a stream of which nothing is read for a second", () => {
    const look = clock();
    const { stream, draining } = connection(100);
    look(0, draining);
    look(900, draining);
    assert.equal(stream.cut, false);
    look(1000, draining);
    assert.equal(stream.cut, true);
  });

  test("not one that is read slowly", () => {
    const look = clock();
    const { stream, draining } = connection(100);
    for (let atMs = 0; atMs <= 9000; atMs += 900) {
      look(atMs, draining);
      stream.bufferSize -= 1;
    }
    assert.equal(stream.cut, false);
  });

  test("not one whose answer is still being made", () => {
    const look = clock();
    const { stream, draining } = connection(0);
    look(0, draining);
    look(5000, draining);
    stream.bufferSize = 100;
    look(9000, draining);
    assert.equal(stream.cut, false);
  });

  test("a connection that the peer does not close within a second of us", () => {
    const look = clock();
    const { socket, draining } = connection(0);
    look(0, draining);
    socket.writableFinished = true;
    look(2000, draining);
    assert.equal(socket.cut, false);
    look(3000, draining);
    assert.equal(socket.cut, true);
  });
});
