import { ApiProblem, COMMON } from '../resources/problem.ts';
import type { ApiRequest } from './contract.ts';
import { envelope } from './list.ts';
import type { Shown } from './objects.ts';
import type { PageQuery } from './request.ts';

/** Things that exist only while an agent is connected; they are read-only. */
type OnlineKind = 'tunnel_session' | 'tunnel' | 'endpoint';

export type AgentCommand = 'restart' | 'stop' | 'update';

/** Why a command failed, with the service's error number. */
interface CommandProblem {
  readonly number: number;
  readonly message: string;
}

/** Connected agents and their objects, in the form of responses without `uri`. */
export interface Online {
  /** Newest first. */
  readonly list: (kind: OnlineKind) => readonly (Shown & { readonly id: string })[];
  /** Sends a command to the agent of a connected session; null if it was accepted. */
  readonly command: (session: string, command: AgentCommand) => Promise<CommandProblem | null>;
}

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
  { kind: 'endpoint', title: 'endpoint', path: '/endpoints', prefix: 'ep' },
];

export const AGENT_COMMANDS: readonly AgentCommand[] = ['restart', 'stop', 'update'];

/** A page of online objects. */
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
    throw new ApiProblem(404, COMMON.notFound, `The ${resource.title} '${id}' does not exist.`);
  return { ...found, uri: `${asking.base}${resource.path}/${id}` };
}

/** Sends a command to an agent; throws the documented error. */
export async function commandAgent(online: Online, id: string, command: AgentCommand): Promise<void> {
  if (!online.list('tunnel_session').some((session) => session.id === id)) {
    throw new ApiProblem(404, COMMON.notFound, `The tunnel session '${id}' does not exist.`);
  }
  const problem = await online.command(id, command);
  if (problem !== null) throw new ApiProblem(400, problem.number, `${problem.message}.`);
}
