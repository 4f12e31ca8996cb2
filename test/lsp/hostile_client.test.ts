import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { MAIN } from '../cli/main_file.ts';

/** What the server says to bytes, after which its input stays open. */
async function answerTo(
  ...pieces: readonly (string | Buffer)[]
): Promise<{ out: string; problem: string; code: unknown }> {
  const child = spawn(process.execPath, [MAIN, 'lsp'], { env: { ...process.env, NODE_OPTIONS: '' } });
  let out = '';
  let problem = '';
  child.stdout.on('data', (piece: Buffer) => (out += piece.toString()));
  child.stderr.on('data', (piece: Buffer) => (problem += piece.toString()));
  // It may be gone before all is written.
  child.stdin.on('error', () => undefined);
  const closed = once(child, 'close');
  for (const piece of pieces) child.stdin.write(piece);
  const [code] = (await closed) as [unknown];
  return { out, problem, code };
}

it.each([
  [
    'no length',
    'Content-Type: x\r\n\r\n{}',
    'headers have one Content-Length, in bytes, not "Content-Type: x"',
  ],
  ['a negative length', 'Content-Length: -5\r\n\r\n{}', 'headers have one Content-Length'],
  ['a length that is not a number', 'Content-Length: 0x10\r\n\r\n{}', 'headers have one Content-Length'],
  ['two lengths', 'Content-Length: 2\r\nContent-Length: 4\r\n\r\n{}', 'headers have one Content-Length'],
  ['a line that is not a header', 'hello\r\nContent-Length: 2\r\n\r\n{}', 'headers have one Content-Length'],
  ['a message of any length', 'Content-Length: 99999999999\r\n\r\n', 'is longer than 134217728 bytes'],
  ['headers without an end', 'x'.repeat(10_000), 'the headers of a message are longer than 8192 bytes'],
  [
    'a message after a length that is too small',
    'Content-Length: 1\r\n\r\n{}Content-Length: 2\r\n\r\n{}',
    'headers have',
  ],
])('%s ends the server with a sentence, instead of waiting forever', async (_, bytes, problem) => {
  const answer = await answerTo(bytes);
  expect(answer.problem).toContain('the editor does not follow the protocol: ');
  expect(answer.problem).toContain(problem);
  expect(answer.code).toBe(1);
});

it('messages may come in pieces of any size', async () => {
  const messages = [
    {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { processId: null, rootUri: null, capabilities: {} },
    },
    { jsonrpc: '2.0', id: 2, method: 'shutdown' },
    { jsonrpc: '2.0', method: 'exit' },
  ].map((message) => JSON.stringify(message));
  const bytes = Buffer.from(
    messages
      .map((text) => `Content-Type: é\r\ncontent-length:${Buffer.byteLength(text)}\r\n\r\n${text}`)
      .join(''),
  );
  const single = Array.from({ length: bytes.length }, (_, at) => bytes.subarray(at, at + 1));
  const { out, problem, code } = await answerTo(...single);
  expect(problem).toBe('');
  expect(out).toContain('"id":1');
  expect(code).toBe(0);
});

const INITIALIZE = {
  id: 1,
  method: 'initialize',
  params: { processId: null, rootUri: null, capabilities: {} },
};
const SYMBOLS = { id: 2, method: 'workspace/symbol', params: { query: '' } };
const SHUTDOWN = { id: 3, method: 'shutdown' };
const EXIT = { method: 'exit' };

/** The answers to messages by id; texts are sent as they are. */
async function answersTo(
  ...messages: readonly (object | string)[]
): Promise<{ answers: ReadonlyMap<unknown, unknown>; problem: string; code: unknown }> {
  const texts = messages.map((each) =>
    typeof each === 'string' ? each : JSON.stringify({ jsonrpc: '2.0', ...each }),
  );
  const bytes = texts.map((text) => `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  const { out, ...rest } = await answerTo(bytes.join(''));
  const answers = out.split(/Content-Length: \d+\r\n\r\n/).flatMap((text) => {
    if (text === '') return [];
    const { id, error, result } = JSON.parse(text) as Record<string, { readonly code?: number }>;
    return [[id, error?.code ?? result] as const];
  });
  return { answers: new Map(answers), ...rest };
}

it('refuses requests before `initialize` and after `shutdown`', async () => {
  const early = await answersTo(SYMBOLS, EXIT);
  expect(early.answers.get(2)).toBe(-32_002);
  const late = await answersTo(INITIALIZE, SHUTDOWN, SYMBOLS, EXIT);
  expect(late.answers.get(2)).toBe(-32_600);
  expect(late.code).toBe(0);
});

it.each([
  ['{"jsonrpc"', -32_700],
  ['[]', -32_600],
])('answers the message %s', async (text, code) => {
  const { answers } = await answersTo(text, INITIALIZE, SHUTDOWN, EXIT);
  expect(answers.get(null)).toBe(code);
  expect(answers.has(3)).toBe(true);
});

const OPENED = { uri: 'file:///edge.yaml', languageId: 'yaml', version: 1, text: 'hosts: [a.test]' };

it.each([
  ['textDocument/didOpen', { textDocument: { ...OPENED, text: 5 } }],
  ['textDocument/didOpen', { textDocument: { ...OPENED, uri: 5 } }],
  ['textDocument/didChange', { textDocument: OPENED, contentChanges: [{ text: 5, range: {} }] }],
  ['textDocument/didChange', { textDocument: OPENED, contentChanges: 5 }],
])('ignores a malformed document in %s, and still answers about all others', async (method, params) => {
  const open = { method: 'textDocument/didOpen', params: { textDocument: OPENED } };
  const { answers, problem } = await answersTo(INITIALIZE, open, { method, params }, SYMBOLS, SHUTDOWN, EXIT);
  expect(answers.get(2)).toEqual(expect.any(Array));
  expect(problem).toContain(`${method} is ignored: \``);
});
