import { ApiProblem, COMMON } from '../resources/problem.ts';
import type { ApiRequest } from './contract.ts';
import { envelope } from './list.ts';
import type { Shown } from './objects.ts';
import type { PageQuery } from './request.ts';

/** Things that are there only while somebody is connected: they are read, never written. */
type OnlineKind = 'tunnel_session' | 'tunnel' | 'endpoint';

export type AgentCommand = 'restart' | 'stop' | 'update';

/** Why a command was not carried out: the number of the service's error. */
interface CommandProblem {
  readonly number: number;
  readonly message: string;
}

/** Who is connected. What it tells has the fields of responses, but no `uri`. */
export interface Online {
  /** Newest first. */
  readonly list: (kind: OnlineKind) => readonly (Shown & { readonly id: string })[];
  /** Sends a command to the agent of a session that is online; null when it was taken. */
  readonly command: (session: string, command: AgentCommand) => Promise<CommandProblem | null>;
}

/** Nobody is connected. */
export const NOBODY_ONLINE: Online = {
  list: () => [],
  command: async () => ({ number: 810, message: 'The agent cannot be reached' }),
};

interface OnlineResource {
  readonly kind: OnlineKind;
  readonly title: string;
  readonly path: string;
  readonly prefix: string;
}

// table: what is online
export const ONLINE: readonly OnlineResource[] = [
  { kind: 'tunnel_session', title: 'tunnel session', path: '/tunnel_sessions', prefix: 'ts' },
  { kind: 'tunnel', title: 'tunnel', path: '/tunnels', prefix: 'tn' },
  { kind: 'endpoint', title: 'endpoint', path: '/endpoints', prefix: 'ep' },
];

export const AGENT_COMMANDS: readonly AgentCommand[] = ['restart', 'stop', 'update'];

/** A page of what is online. */
export function listOnline(
  online: Online,
  resource: OnlineResource,
  asking: ApiRequest,
  { limit, beforeId }: PageQuery,
): Shown {
  const all = online.list(resource.kind).filter(({ id }) => beforeId === undefined || id < beforeId);
  const uri = asking.base + resource.path;
  const page = all.slice(0, limit).map((each) => Object.assign({}, each, { uri: `${uri}/${each.id}` }));
  const last = page.at(-1);
  const next = all.length > limit && last ? `${uri}?before_id=${last.id}&limit=${limit}` : null;
  return envelope(resource.path.slice(1), page, uri, next);
}

export function readOnline(online: Online, resource: OnlineResource, asking: ApiRequest, id: string): Shown {
  const found = online.list(resource.kind).find((each) => each.id === id);
  if (found === undefined)
    throw new ApiProblem(404, COMMON.notFound, `There is no ${resource.title} '${id}'.`);
  return { ...found, uri: `${asking.base}${resource.path}/${id}` };
}

/** Sends a command to an agent; throws the documented refusal. */
export async function commandAgent(online: Online, id: string, command: AgentCommand): Promise<void> {
  if (!online.list('tunnel_session').some((session) => session.id === id)) {
    throw new ApiProblem(404, COMMON.notFound, `There is no tunnel session '${id}'.`);
  }
  const problem = await online.command(id, command);
  if (problem !== null) throw new ApiProblem(400, problem.number, `${problem.message}.`);
}
