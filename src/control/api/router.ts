import { RegExpRouter } from 'hono/router/reg-exp-router';
import { SmartRouter } from 'hono/router/smart-router';
import { TrieRouter } from 'hono/router/trie-router';

/** A method, a path with parameters in braces such as `/ip_policies/{id}`, and what answers it. */
export type Routed<Handler> = readonly [method: string, path: string, handler: Handler];

/** Finds the handler of a request, with the parameters of its path; null if there is none. HEAD is answered as GET. */
export function router<Handler>(all: readonly Routed<Handler>[]) {
  const table = new SmartRouter<Handler>({ routers: [new RegExpRouter(), new TrieRouter()] });
  for (const [method, path, handler] of all) table.add(method, path.replaceAll(/\{(\w+)\}/g, ':$1'), handler);
  return (method: string, path: string) => {
    const [[match], texts] = table.match(method === 'HEAD' ? 'GET' : method, path);
    if (match === undefined) return null;
    const [handler, places] = match;
    const ids = Object.entries(places).map(([name, place]) => [
      name,
      decoded(typeof place === 'number' ? texts![place]! : place),
    ]);
    return { handler, ids: Object.fromEntries(ids) as Readonly<Record<string, string>> };
  };
}

/** A part of a path; one with an invalid escape is taken as it is. */
function decoded(part: string): string {
  if (!part.includes('%')) return part;
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
