import { randomFillSync } from "node:crypto";
import { rmSync } from "node:fs";
import { open, rm, stat, statfs } from "node:fs/promises";
import { join } from "node:path";

/** As much as the log between two checkpoints: with that much room a checkpoint can finish. */
const BALLAST_BYTES = 16 << 20;
const CHUNK_BYTES = 1 << 18;
/** Ballast is not made out of the last free space, or it would fill the disk it is there to relieve. */
const ROOM_TO_MAKE_BYTES = 2 * BALLAST_BYTES;

/** Not at once: a start has more urgent things to write. */
const MAKE_EVERY_MS = 1000;

/**
 * A file that only takes space. On a full disk not even a checkpoint or a tombstone can be written; giving
 * up the ballast makes room for those. It is made in the background whenever it is missing and there is
 * plenty of room.
 */
export interface Ballast {
  /** The writer has dropped the file because the disk is full. */
  dropped(): void;
  close(): Promise<void>;
}

export function createBallast(dataDir: string): Ballast {
  const file = ballastFile(dataDir);
  let present = false;
  let wanted = false;
  let making: Promise<void> | undefined;

  async function make(): Promise<void> {
    const there = await isComplete(file);
    const made = there || ((await hasRoom(dataDir)) && (await write(file, () => wanted)));
    present = made && wanted;
  }

  const timer = setInterval(() => {
    if (present || making) return;
    wanted = true;
    // Whatever goes wrong, the store works without ballast, and the next turn tries again.
    making = make()
      .catch(() => {})
      .finally(() => {
        making = undefined;
      });
  }, MAKE_EVERY_MS).unref();

  return {
    dropped() {
      present = false;
      wanted = false;
    },
    async close() {
      clearInterval(timer);
      wanted = false;
      await making;
    },
  };
}

export function dropBallast(dataDir: string): void {
  rmSync(ballastFile(dataDir), { force: true });
}

function ballastFile(dataDir: string): string {
  return join(dataDir, "ballast");
}

async function isComplete(file: string): Promise<boolean> {
  const found = await stat(file).catch(() => undefined);
  return found !== undefined && found.size >= BALLAST_BYTES;
}

async function hasRoom(dataDir: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(dataDir);
  return bavail * bsize >= ROOM_TO_MAKE_BYTES;
}

/** Writes in chunks, so that other file work is not held up; returns whether the file is complete. */
async function write(file: string, wanted: () => boolean): Promise<boolean> {
  // Noise, because a file system that compresses would store zeroes in no space at all.
  const chunk = randomFillSync(Buffer.allocUnsafe(CHUNK_BYTES));
  const handle = await open(file, "w", 0o600);
  let written = 0;
  try {
    while (wanted() && written < BALLAST_BYTES) written += (await handle.write(chunk)).bytesWritten;
  } finally {
    await handle.close();
    if (written < BALLAST_BYTES) await rm(file, { force: true });
  }
  return written >= BALLAST_BYTES;
}
