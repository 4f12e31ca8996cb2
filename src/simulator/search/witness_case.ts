import type { Witness } from '../../analysis/witness.ts';
import type { EdgeFixture } from '../../coverage/edge_fixture.ts';
import { hasErrors } from '../../diagnostics/diagnostic.ts';
import type { EdgeConfig } from '../../edge/document/schema.ts';
import { headOf } from '../../engine/request_like.ts';
import { dialledBackends } from '../case_setting.ts';
import { checkScenario } from '../document/check.ts';
import { ONCE, runFile } from '../run_file.ts';
import { editedNames } from './assertions.ts';
import { type Draft, FRAMING, plainDraft } from './draft.ts';
import { draftRunner } from './run_draft.ts';
import { type WrittenCase, writtenCase, writtenRequest } from './write_case.ts';

/** Seeds that are tried for a request whose result depends on chance. */
const SEEDS = 40;

/**
 * A request that exact analysis has found, as a case that expects what an edge does with it. `changed` is an edge that
 * does something else: the case passes with the one and fails with the other. Null if no such case was found.
 */
export function caseOfWitness(
  name: string,
  witness: Witness,
  edge: EdgeFixture,
  changed: EdgeFixture,
): WrittenCase | null {
  const draft = draftOfWitness(witness, edge.config);
  if (draft === null) return null;
  const [run, other] = [draftRunner(edge), draftRunner(changed)];
  const seeds = witness.chance === undefined ? 1 : SEEDS;
  for (let seed = 1; seed <= seeds; seed++) {
    const seeded = { ...draft, seed };
    const ran = run(seeded);
    if (ran.simulatedRequests.length === 0) return null;
    // Fields that only the other edge sets are expected to be absent.
    const runs = [...ran.simulatedRequests, ...other(seeded).simulatedRequests];
    const names = editedNames([edge.config, changed.config], runs);
    const written = writtenCase(name, seeded, ran, names);
    if (passes(written, edge) && !passes(written, changed)) return written;
  }
  return null;
}

/**
 * A request that exact analysis has found, as a case with expectations that the edge does not meet yet. Null if it
 * cannot be written, or the edge fulfils them.
 */
export function failingCase(
  name: string,
  witness: Witness,
  expect: Readonly<Record<string, unknown>>,
  edge: EdgeFixture,
): WrittenCase | null {
  const draft = draftOfWitness(witness, edge.config);
  if (draft === null) return null;
  const written = { name, request: writtenRequest(draft), expect };
  return passes(written, edge) ? null : written;
}

/** The request of a witness, in a world in which upstreams answer with 200; null if it cannot be sent. */
function draftOfWitness({ before, clientIp, ...request }: Witness, config: EdgeConfig): Draft | null {
  let head: ReturnType<typeof headOf>;
  try {
    head = headOf(request);
  } catch {
    return null;
  }
  if ('refused' in head) return null;
  const { method, scheme, authority, path, query } = head;
  const headers = request.headers.flatMap(([field, value]) =>
    FRAMING.has(field.toLowerCase()) ? [] : [field.toLowerCase(), value],
  );
  const failing = Object.fromEntries(dialledBackends(config).map((backend) => [backend, 503] as const));
  return {
    ...plainDraft(config, path),
    method,
    scheme,
    host: authority,
    query,
    headers,
    ip: clientIp,
    ...(before !== undefined && {
      before: {
        count: before.count,
        everyMs: before.everyMs ?? 1,
        upstreams: before.failing ? failing : {},
        thenMs: before.thenMs,
      },
    }),
  };
}

/** Whether a case passes on an edge, run as in a scenario file. */
function passes(written: WrittenCase, edge: EdgeFixture): boolean {
  const checked = checkScenario({ value: { edge: 'edge', cases: [written] }, name: '<case>' });
  if (hasErrors(checked.diagnostics)) return false;
  const { cases, diagnostics } = runFile(checked, edge, ONCE);
  return !hasErrors(diagnostics) && cases.every(({ status }) => status === 'passed');
}
