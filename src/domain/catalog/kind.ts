import type { Message } from "@bufbuild/protobuf";
import type { GenMessage } from "@bufbuild/protobuf/codegenv2";
import type { InputFormat, Meta } from "../../../gen/retinue/v1/catalog_pb.js";
import type { Caller } from "../caller.js";
import type { FieldViolation } from "../fault.js";
import type { KeyParts, KeyRecord } from "../key.js";
import type { Scope } from "../scope.js";
import type { Vault } from "../vault.js";

/** Every kind's document: a message that has a `meta`. */
export type Document = Message & { meta?: Meta | undefined };

/** A kind of catalog document: everything that is particular to it. */
export interface Kind<D extends Document = Document> {
  readonly name: string;
  readonly schema: GenMessage<D>;
  readonly inputFormat: InputFormat;
  readonly readScope: Scope;
  readonly writeScope: Scope;
  /** Whether a caller with catalog:propose may have a write turned into a change-request. */
  readonly proposable: boolean;
  /** Why documents of this kind are not written by PutResource or deleted; undefined where they are. */
  readonly notWritable?: string;
  /** Documents that are there without being stored, at generation 0. */
  readonly builtins: ReadonlyMap<string, D>;
  /** Fields, beside `meta`, that only the server writes; what a caller sends there is ignored. */
  readonly serverSet: readonly (keyof D & string)[];
  /** Documents that this one names: each must exist, and none is deleted while this one stands. */
  readonly references?: (document: D) => Reference[];
  /** Whether a caller with the scope may see and touch this document; absent: every one. */
  readonly isFor?: (document: D, caller: Caller) => boolean;
  /** What is wrong with the document, field by field; JSON names, `repos[0].url`. */
  validate(document: D): FieldViolation[];
  /**
   * JSON Schemas that the document carries, compiled before it is written; one that is too long is left out, since
   * `validate` refuses it.
   */
  readonly schemas?: (document: D) => readonly { readonly field: string; readonly schema: string }[];
  /** What a write of this kind does beside storing the document; throws a Fault to refuse it. */
  readonly settle?: (write: KindWrite<D>) => Settled<D>;
}

/** A document that another one names, and the field that does. */
export interface Reference {
  readonly field: string;
  readonly kind: string;
  readonly name: string;
}

/** A write of a document that is well-formed. */
export interface KindWrite<D> {
  readonly tenant: string;
  readonly name: string;
  readonly document: D;
  /** The live document before; undefined when it is created. */
  readonly before: D | undefined;
  /** The key that belongs to `before`, for kinds that have one: its digest is in no document. */
  readonly beforeKey: KeyRecord | undefined;
  readonly caller: Caller;
  readonly nowMs: number;
  /** The value of `before` in the vault, for kinds that have one. */
  readonly beforeSealed: Uint8Array | undefined;
  /** Fresh random key parts, for kinds that make a secret. */
  readonly newKey: () => KeyParts;
  readonly vault: Vault;
  /** Another document of the tenant as it stands at this moment, builtins included. */
  readonly find: <T extends Document>(kind: Kind<T>, name: string) => T | undefined;
  /** How people reach this server. */
  readonly publicUrl: string;
}

export interface Settled<D> {
  /** The document to store, server-set fields filled in. */
  readonly document: D;
  /** Fields that only the answer to this write carries, by JSON name. */
  readonly reveal?: Readonly<Record<string, string>>;
  /** The key to store in the same commit. */
  readonly key?: KeyRecord;
  /** The sealed value to store in the same commit, in place of the one before. */
  readonly sealed?: Uint8Array;
}
