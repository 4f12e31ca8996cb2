import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { pathToFileURL } from 'node:url';
import { ensureBuilt } from '../built.ts';

const MAIN = join(import.meta.dirname, '../../dist/lib/main.cjs');

/** What a tool answered; `problem` is the message of a refusal. */
interface Answer {
  readonly exitCode?: number;
  readonly result?: never;
  readonly shortened?: string;
  readonly problem?: string;
  /** Length of the text for the conversation. */
  readonly length: number;
}

export interface Assistant {
  readonly client: Client;
  readonly call: (tool: string, input: object) => Promise<Answer>;
  /** The process of the server. */
  readonly pid: number;
  readonly close: () => Promise<void>;
}

/** The published client, with the program as its server; `roots` are the folders that it allows by the protocol. */
export async function assistant(
  folder: string,
  args: readonly string[] = [],
  roots: readonly string[] | null = null,
): Promise<Assistant> {
  await ensureBuilt();
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities: roots === null ? {} : { roots: {} } },
  );
  if (roots !== null)
    client.setRequestHandler('roots/list', () => ({
      roots: roots.map((root) => ({ uri: pathToFileURL(root).href })),
    }));
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MAIN, 'mcp', ...args],
    cwd: folder,
    stderr: 'ignore',
  });
  await client.connect(transport);
  return {
    client,
    call: async (name, input) => {
      const { content, structuredContent, isError } = await client.callTool({
        name,
        arguments: input as Record<string, unknown>,
      });
      const [first] = content as readonly { readonly text?: string }[];
      const text = first?.text ?? '';
      return isError === true
        ? { problem: text, length: text.length }
        : { ...(structuredContent as object), length: text.length };
    },
    pid: transport.pid!,
    close: () => client.close(),
  };
}
