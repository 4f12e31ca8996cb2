import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

/** The content of a response to a client with a connection of its own. */
export async function contentOf(port: number, path: string): Promise<string> {
  const [response] = (await once(
    get({ port, path, headers: { host: 'a.test' }, agent: false }),
    'response',
  )) as [IncomingMessage];
  return text(response);
}
