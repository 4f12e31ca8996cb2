import { createRequire } from 'node:module';

/** The rules of the benchmark in other languages, where they can be expressed. */
export interface Peers {
  /** Whether the request is refused; each peer gets the request in its preferred form. */
  readonly cedar: (request: PeerRequest) => boolean;
  readonly jsonLogic: (request: PeerRequest) => boolean;
}

export interface PeerRequest {
  readonly method: string;
  readonly path: string;
  /** Names of header fields, each with its first value. */
  readonly headers: Readonly<Record<string, string>>;
}

interface CedarAnswer {
  readonly type: string;
  readonly response?: { readonly decision: string };
}

interface Cedar {
  readonly preparsePolicySet: (id: string, policies: object) => { readonly type: string };
  readonly statefulIsAuthorized: (call: object) => CedarAnswer;
}

interface JsonLogic {
  readonly apply: (rule: unknown, data: unknown) => unknown;
}

const requirePeer = createRequire(new URL('../peers/package.json', import.meta.url));

function load(name: string): unknown {
  try {
    return requirePeer(name);
  } catch (error) {
    throw new Error(`${name} is not installed: run npm run peers`, { cause: error });
  }
}

/** Rule `at`: requests below one prefix without a key are refused. */
export function prefixOf(at: number): string {
  return `/svc/${at}/`;
}

/** `rules` rules: `method == POST`, path below a prefix of its own, no `x-api-key`; first that applies refuses. */
export function peersFor(rules: number): Peers {
  return { cedar: cedarPeer(rules), jsonLogic: jsonLogicPeer(rules) };
}

function cedarPeer(rules: number): Peers['cedar'] {
  const cedar = load('@cedar-policy/cedar-wasm/nodejs') as Cedar;
  const forbid = Array.from(
    { length: rules },
    (_each, at) =>
      `forbid(principal, action, resource) when { context.method == "POST" && context.path like "${prefixOf(at)}*" && !(context.headers has "x-api-key") };`,
  );
  const staticPolicies = ['permit(principal, action, resource);', ...forbid].join('\n');
  const id = `rules-${rules}`;
  if (cedar.preparsePolicySet(id, { staticPolicies }).type !== 'success')
    throw new Error('cedar does not parse');
  const call = {
    principal: entity('User'),
    action: entity('Action'),
    resource: entity('Route'),
    entities: [],
  };
  return (request) => {
    const answer = cedar.statefulIsAuthorized({ ...call, context: request, preparsedPolicySetId: id });
    return answer.response?.decision === 'deny';
  };
}

function entity(type: string) {
  return { type, id: 'any' };
}

function jsonLogicPeer(rules: number): Peers['jsonLogic'] {
  const { apply } = load('json-logic-js') as JsonLogic;
  const list = Array.from({ length: rules }, (_each, at) => {
    const prefix = prefixOf(at);
    return {
      and: [
        { '==': [{ var: 'method' }, 'POST'] },
        { '==': [{ substr: [{ var: 'path' }, 0, prefix.length] }, prefix] },
        { '!': { var: 'headers.x-api-key' } },
      ],
    };
  });
  return (request) => list.some((rule) => apply(rule, request) === true);
}
