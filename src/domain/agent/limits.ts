/** What configuration may change; a rule takes its numbers from here and from nowhere else. */
export interface Limits {
  /** QUEUED messages of an agent; news of its children come on top, or a busy tree would lock its caller out. */
  readonly queued: number;
  readonly deferred: number;
  readonly deferMs: number;
  readonly tasks: number;
  readonly pathLength: number;
  readonly liveChildren: number;
  readonly liveSubtree: number;
  /** Of a whole tenant. */
  readonly liveAgents: number;
  readonly labels: number;
  readonly descriptionBytes: number;
  readonly schemaBytes: number;
  readonly followUpIdLength: number;
  readonly turnMs: number;
  readonly silenceMs: number;
  /** Between the cancel of a time-out and the kill. */
  readonly killGraceMs: number;
  /** After that long in STOPPING an agent is CANCELED, with what still runs noted. */
  readonly stoppingMs: number;
  /** An agent at rest keeps its process that long. */
  readonly idleProcessMs: number;
  readonly failures: number;
  readonly backOffFirstMs: number;
  readonly backOffMaxMs: number;
  /** Recoveries that are nobody's fault, in a row and without a sign of life between them. */
  readonly recoveries: number;
  readonly reminders: number;
  readonly repairs: number;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const KIB = 1024;

export const DEFAULT_LIMITS: Limits = {
  queued: 100,
  deferred: 50,
  deferMs: 30 * DAY,
  tasks: 500,
  pathLength: 4,
  liveChildren: 20,
  liveSubtree: 200,
  liveAgents: 1000,
  labels: 16,
  descriptionBytes: 256 * KIB,
  schemaBytes: 64 * KIB,
  followUpIdLength: 128,
  turnMs: 2 * HOUR,
  silenceMs: 15 * MINUTE,
  killGraceMs: 10 * SECOND,
  stoppingMs: 30 * SECOND,
  idleProcessMs: 5 * MINUTE,
  failures: 3,
  backOffFirstMs: SECOND,
  backOffMaxMs: MINUTE,
  recoveries: 10,
  reminders: 3,
  repairs: 3,
};
