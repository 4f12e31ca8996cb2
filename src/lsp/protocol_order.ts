import {
  ErrorCodes,
  type Message,
  Range,
  StreamMessageReader,
  StreamMessageWriter,
  TextDocumentItem,
  VersionedTextDocumentIdentifier,
} from 'vscode-languageserver/node';
import type { Framing } from './framing.ts';

interface Refusal {
  readonly code: number;
  readonly message: string;
}

type Given = Message & {
  readonly id?: number | string | null;
  readonly method?: string;
  readonly params?: unknown;
};

/** Refuses what the library would pass on: text that is not JSON, messages out of turn, and malformed documents. */
export class ProtocolOrder {
  readonly reader: StreamMessageReader;
  readonly writer: StreamMessageWriter = new StreamMessageWriter(process.stdout);
  #phase: 'new' | 'running' | 'shut down' = 'new';

  constructor(input: Framing) {
    this.reader = new StreamMessageReader(input, {
      charset: 'utf-8',
      contentTypeDecoder: {
        name: 'application/json',
        decode: (bytes) => this.#messageIn(new TextDecoder().decode(bytes)),
      },
    });
  }

  get isShutDown(): boolean {
    return this.#phase === 'shut down';
  }

  /** Passes on a message, unless it is refused. */
  async handleMessage(message: Message, next: (message: Message) => void): Promise<void> {
    const { id, method, params } = message as Given;
    if (method === undefined || method === 'exit') return next(message);
    const refusal = this.#refusalOf(method, params);
    if (refusal === null) return next(message);
    // Notifications get no answer.
    if (id === undefined) process.stderr.write(`${method} is ignored: ${refusal.message}\n`);
    else await this.#refuse(id, refusal);
  }

  #refusalOf(method: string, params: unknown): Refusal | null {
    if (this.#phase === 'new' && method !== 'initialize')
      return { code: ErrorCodes.ServerNotInitialized, message: 'the first request is `initialize`' };
    if (this.#phase === 'shut down')
      return { code: ErrorCodes.InvalidRequest, message: 'only `exit` may follow `shutdown`' };
    if (method === 'initialize') this.#phase = 'running';
    if (method === 'shutdown') this.#phase = 'shut down';
    const message = documentProblem(method, params);
    return message === null ? null : { code: ErrorCodes.InvalidParams, message };
  }

  async #messageIn(text: string): Promise<Message> {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (error) {
      await this.#refuse(null, { code: ErrorCodes.ParseError, message: 'a message is not valid JSON' });
      throw error;
    }
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Message;
    const message = 'a message is a JSON object';
    await this.#refuse(null, { code: ErrorCodes.InvalidRequest, message });
    throw new TypeError(message);
  }

  #refuse(id: number | string | null, error: Refusal): Promise<void> {
    return this.writer.write({ jsonrpc: '2.0', id, error } as Message);
  }
}

/** Why a document cannot be kept: one that is malformed would make all questions about the project fail. */
function documentProblem(method: string, params: unknown): string | null {
  const { textDocument, contentChanges } = (params ?? {}) as Record<string, unknown>;
  if (method === 'textDocument/didOpen' && !TextDocumentItem.is(textDocument))
    return '`textDocument` has a `uri`, `languageId` and `text`, which are strings, and an integer `version`';
  if (method !== 'textDocument/didChange') return null;
  if (!VersionedTextDocumentIdentifier.is(textDocument))
    return '`textDocument` has a `uri`, which is a string, and an integer `version`';
  return Array.isArray(contentChanges) && contentChanges.every(isChange)
    ? null
    : '`contentChanges` is a list of changes with a `text`, which is a string, and perhaps a `range`';
}

function isChange(change: unknown): boolean {
  const { text, range } = (change ?? {}) as Record<string, unknown>;
  return typeof text === 'string' && (range === undefined || Range.is(range));
}
