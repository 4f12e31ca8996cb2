import { ApiProblem, COMMON } from '../resources/problem.ts';
import type { Nodes } from '../store/port.ts';

/** The longest that an answer waits for other nodes. */
const WAIT_MS = 10_000;

/** The parameter of writes that makes the answer wait until all nodes have activated the change. */
const WAIT = 'wait';

/** Whether a write asks for all nodes; the URL without that parameter. Throws the documented error. */
export function waitIn(method: string, url: URL): { readonly isForAll: boolean; readonly url: URL } {
  if (method === 'GET' || !url.searchParams.has(WAIT)) return { isForAll: false, url };
  const value = url.searchParams.getAll(WAIT).join(',');
  if (value !== 'all') {
    const message = `The query parameter '${WAIT}' must be all, not '${value}'.`;
    throw new ApiProblem(400, COMMON.badValue, message, { parameter: WAIT });
  }
  const rest = new URL(url);
  rest.searchParams.delete(WAIT);
  return { isForAll: true, url: rest };
}

/**
 * What an answer says of the revision that is active on this node: its number and its age, which is the time since it was
 * known to be the last one of the store, in seconds.
 */
export function revisionFields(nodes: Nodes): Readonly<Record<string, string>> {
  return { 'server-revision': `${nodes.revision()};age=${(nodes.ageMs() / 1_000).toFixed(1)}` };
}

/** Waits for all nodes that live. The answer says how many have activated it; a write is durable in any case. */
export async function whenEverywhere(nodes: Nodes): Promise<Readonly<Record<string, string>>> {
  try {
    const { active, live } = await nodes.everywhere(nodes.revision(), WAIT_MS);
    return { 'server-nodes': `${active}/${live}` };
  } catch {
    return { 'server-nodes': 'unknown' };
  }
}
