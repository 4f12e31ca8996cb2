import { sorted } from '../resources/present.ts';
import { ApiProblem, COMMON } from '../resources/problem.ts';
import type { AgentCommand, ApiRequest, Json, Online, OnlineKind, Shown } from './contract.ts';
import { type MemoryList, listRows } from './list.ts';
import type { PageQuery } from './request.ts';

/** No connected agents. */
export const NO_AGENTS: Online = {
  list: () => [],
  command: async () => ({ number: 810, message: 'The agent cannot be reached' }),
};

interface OnlineResource {
  readonly kind: OnlineKind;
  readonly title: string;
  readonly path: string;
  readonly prefix: string;
}

// table: kinds of online objects
export const ONLINE: readonly OnlineResource[] = [
  { kind: 'tunnel_session', title: 'tunnel session', path: '/tunnel_sessions', prefix: 'ts' },
  { kind: 'tunnel', title: 'tunnel', path: '/tunnels', prefix: 'tn' },
];

export const AGENT_COMMANDS: readonly AgentCommand[] = ['restart', 'stop', 'update'];

/** An online object in the form of responses. */
function shownOnline(row: Shown, { path }: OnlineResource, { base }: ApiRequest): Shown {
  return sorted({ ...row, uri: `${base}${path}/${String(row['id'])}` });
}

/** A page of online objects. */
export function listOnline(
  online: Online,
  resource: OnlineResource,
  asking: ApiRequest,
  query: PageQuery,
): Promise<Json> {
  const { kind, path, title } = resource;
  const list: MemoryList<Shown & { readonly id: string }> = {
    key: path.slice(1),
    uri: asking.base + path,
    title,
    rows: online.list(kind, asking.base),
    idOf: ({ id }) => id,
    isInOrder: true,
    show: (row) => shownOnline(row, resource, asking),
  };
  return listRows(list, query, asking.isAbandoned);
}

export function readOnline(online: Online, resource: OnlineResource, asking: ApiRequest, id: string): Shown {
  const found = online.list(resource.kind, asking.base).find((each) => each.id === id);
  if (found === undefined)
    throw new ApiProblem(404, COMMON.notFound, `The ${resource.title} '${id}' does not exist.`);
  return shownOnline(found, resource, asking);
}

/** Sends a command to an agent; throws the documented error. */
export async function commandAgent(online: Online, id: string, command: AgentCommand): Promise<void> {
  if (!online.list('tunnel_session', '').some((session) => session.id === id)) {
    throw new ApiProblem(404, COMMON.notFound, `The tunnel session '${id}' does not exist.`);
  }
  const problem = await online.command(id, command);
  if (problem !== null) throw new ApiProblem(400, problem.number, `${problem.message}.`);
}
