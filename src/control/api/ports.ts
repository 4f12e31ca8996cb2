import type { Body } from '../resources/contract.ts';
import { ApiProblem, COMMON } from '../resources/problem.ts';
import type { PortProblem } from './contract.ts';

/** The service's error number for an invalid port. */
const BAD_PORT = 7112;

/**
 * Throws if edges of a write need ports that cannot be opened. Ports that were missing before the write are
 * ignored; they are retried automatically.
 */
export function refuseMissingPorts(
  before: readonly PortProblem[],
  now: readonly PortProblem[],
  written: readonly Body[],
): void {
  const known = new Set(before.map(keyOf));
  const problem = now.find((each) => !known.has(keyOf(each)));
  if (problem === undefined) return;
  const { kind, port, wants, isTaken } = problem;
  const { hostport = `${problem.host}:${port}`, pointer } = placeOf(problem, written);
  const details = { hostport, port: String(wants), ...(pointer !== undefined && { pointer }) };
  const edge = `The ${kind.toUpperCase()} edge at ${hostport} needs port ${wants} of this machine`;
  if (isTaken) throw new ApiProblem(409, COMMON.hostportTaken, `${edge}, which is in use.`, details);
  throw new ApiProblem(400, BAD_PORT, `${edge}, which edges are not allowed to use.`, details);
}

function keyOf({ kind, host, port }: PortProblem): string {
  return `${kind} ${host}:${port}`;
}

/** The hostport of a problem; with a pointer only if a single object was written. */
function placeOf(
  { kind, host, port }: PortProblem,
  written: readonly Body[],
): { readonly hostport?: string; readonly pointer?: string } {
  for (const body of written) {
    const hostports = (body['hostports'] ?? []) as readonly string[];
    const at = hostports.findIndex((each) =>
      kind === 'tcp' ? each === `${host}:${port}` : each.endsWith(`:${port}`),
    );
    if (at >= 0) {
      return { hostport: hostports[at]!, ...(written.length === 1 && { pointer: `/hostports/${at}` }) };
    }
  }
  return {};
}
