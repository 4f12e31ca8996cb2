import type { Verdict } from '../engine/contract.ts';
import type { Exchange } from '../engine/exchange.ts';
import { type Observed, anyFieldLoss, isLost } from './observed.ts';
import type { Unknowns } from './unknowns.ts';

/** What a module or an action reads of a request by itself, without an expression. */
type Reading = (observed: Observed) => string | null;

const NOTHING: Reading = () => null;
const SESSION: Reading = ({ lost }) => (lost.has('session') ? 'session' : null);

const ADDRESS: Reading = ({ lost }) => (lost.has('client address') ? 'client address' : null);

function value(...names: readonly string[]): Reading {
  return (observed) => {
    const lost = names.find((name) => isLost(observed, name));
    return lost === undefined ? null : `value of ${lost}`;
  };
}

/** Signatures stand in a header of each provider's own. */
const SIGNATURE: Reading = (observed) => {
  const { head } = observed;
  const { headers } = 'refused' in head ? head.head : head;
  return anyFieldLoss(observed, headers) === null ? null : 'value of headers';
};

/** Templates of these actions change nothing that is decided: what they say is for the client, or for a log. */
const SPEAKING: ReadonlySet<string> = new Set(['add-headers', 'custom-response', 'deny', 'log', 'set-vars']);

// table: what modules and actions read
const READINGS: Readonly<Record<string, Reading>> = {
  ip_restriction: ADDRESS,
  'restrict-ips': ADDRESS,
  user_agent_filter: value('user-agent'),
  webhook_verification: SIGNATURE,
  oauth: SESSION,
  oidc: SESSION,
  saml: SESSION,
  'basic-auth': value('authorization'),
  'jwt-validation': value('authorization', 'cookie'),
  'openid-connect': SESSION,
  'verify-webhook': SIGNATURE,
};

/** Notes what the modules and actions that ran have read of what was lost. */
export function losesOf(exchange: Exchange, observed: Observed, unknowns: Unknowns): void {
  const { pipeline, verdicts, responseVerdicts, inside } = exchange;
  if (pipeline === null) return;
  for (let index = 0; index < verdicts.length; index++) {
    const verdict = verdicts[index];
    if (verdict === undefined) continue;
    const { module, pointer } = pipeline.slots[index]!;
    const lost = (READINGS[module] ?? NOTHING)(observed);
    if (lost !== null) unknowns.note(lost, pointer);
    actionLosses(verdict, observed, unknowns);
  }
  for (const verdict of responseVerdicts)
    if (verdict !== undefined) actionLosses(verdict, observed, unknowns);
  if (inside !== null) losesOf(inside, observed, unknowns);
}

function actionLosses({ inner }: Verdict, observed: Observed, unknowns: Unknowns): void {
  if (inner === undefined) return;
  for (const { kind, name, pointer } of inner) {
    if (kind !== 'action') continue;
    const lost = (READINGS[name] ?? NOTHING)(observed);
    if (lost !== null) unknowns.note(lost, pointer);
    if (unknowns.isTainted && !SPEAKING.has(name) && unknowns.hasTemplate(pointer)) {
      unknowns.note('a text made of what was lost', pointer);
    }
  }
}
