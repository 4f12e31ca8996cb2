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
