import type { IssuedCertificate } from '../crypto/issue_certificate.ts';
import { readCertificate } from '../crypto/x509.ts';
import { errorText } from '../diagnostics/message_text.ts';
import { reportFault } from '../io/containment.ts';
import { adminOf } from './api/account.ts';
import { wholeSeconds } from '../events/timestamps.ts';
import { change } from './api/change.ts';
import type { Wiring } from './api/contract.ts';
import { connected } from './api/objects.ts';
import { agentIngresses } from './resources/agent_ingresses.ts';
import { tlsCertificates, withFacts } from './resources/certificates.ts';
import type { Body, ResourceObject } from './resources/contract.ts';
import {
  type CertificateManagement,
  dueMs,
  isSamePolicy,
  managementOf,
  policyOf,
} from './resources/managed_certificates.ts';
import { reservedDomains } from './resources/addresses.ts';
import type { StoredObject } from './store/port.ts';

/** Requests certificates for objects with a certificate management policy, and renews them in time. */
export interface CertificateIssuance {
  /** Called with the ids of written objects. */
  readonly written: (ids: readonly string[]) => void;
  /** Resolves when no request is in progress. */
  readonly close: () => Promise<void>;
}

const DAY_MS = 86_400_000;
/** How long before the end of its validity a certificate is renewed. */
const RENEWAL_MS = 30 * DAY_MS;
const FIRST_RETRY_MS = 60_000;
/** Time between two looks whether this node leads. */
const FOLLOWER_MS = 1_000;
const LAST_RETRY_MS = 3_600_000;
/** The longest delay of a timer. */
const LONGEST_MS = 2 ** 31 - 1;

const KINDS = [reservedDomains, agentIngresses];

export function certificateIssuance(wiring: Wiring, base: () => string): CertificateIssuance {
  const { store, nowMs } = wiring;
  /** Due times by id. */
  const due = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | null = null;
  let isClosed = false;
  // Of several nodes one requests certificates.
  const leads = (): boolean => store.nodes?.leads() !== false;

  const plan = (object: ResourceObject): void => {
    const at = dueMs(object);
    if (at === Infinity) due.delete(object.id);
    else due.set(object.id, at);
  };
  const schedule = (): void => {
    clearTimeout(timer);
    if (isClosed || running !== null || due.size === 0) return;
    const wait = Math.min(...due.values()) - nowMs();
    timer = setTimeout(run, Math.min(Math.max(wait, leads() ? 0 : FOLLOWER_MS), LONGEST_MS)).unref();
  };
  const run = (): void => {
    running = work()
      .catch(reportFault)
      .finally(() => {
        running = null;
        schedule();
      });
  };
  const work = async (): Promise<void> => {
    for (const [id, at] of due) {
      if (isClosed || !leads()) return;
      if (at > nowMs()) continue;
      // Tried again soon if even its failure cannot be written.
      due.set(id, nowMs() + FIRST_RETRY_MS);
      const object = await provide(wiring, base(), id);
      if (object === null) due.delete(id);
      else plan(object);
    }
  };
  const look = async (ids: readonly string[]): Promise<void> => {
    for (const object of await store.read((view) => Promise.all(ids.map((id) => view.get(id)))))
      if (object !== null) plan(object);
    schedule();
  };
  const start = async (): Promise<void> => {
    for (const object of await store.read((view) => view.all(KINDS.map(({ kind }) => kind)))) plan(object);
    schedule();
  };
  const starting = start().catch(reportFault);

  return {
    written: (ids) => {
      const own = ids.filter((id) => KINDS.some(({ prefix }) => id.startsWith(`${prefix}_`)));
      if (own.length > 0) void look(own).catch(reportFault);
    },
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      await starting;
      await running;
    },
  };
}

/** Requests a certificate for an object that needs one; the object afterwards, null if it is gone. */
async function provide(wiring: Wiring, base: string, id: string): Promise<ResourceObject | null> {
  const { store, nowMs, ports } = wiring;
  const object = await store.read((view) => view.get(id));
  if (object === null || dueMs(object) > nowMs()) return object;
  const policy = policyOf(object.body)!;
  const isDomain = object.kind === reservedDomains.kind;
  const host = String(isDomain ? object.body['domain'] : (object.body['region_domains'] as string[])[0]);
  const answer = await ports.issuer
    .serverCertificate(host, policy.private_key_type)
    .catch((error: unknown) => ({ problem: errorText(error) }));
  const principal = await store.read(adminOf);
  return change(wiring, { principal, base }, async ({ transaction, put, remove }) => {
    const current = await transaction.get(id);
    // The policy was changed or removed in the meantime.
    if (current === null || !isSamePolicy(policy, policyOf(current.body))) return current;
    const save = async (body: Body): Promise<ResourceObject> => {
      const saved = connected(isDomain ? reservedDomains : agentIngresses, id, null, body);
      await put(isDomain ? reservedDomains : agentIngresses, saved, 'updated');
      return saved;
    };
    if ('problem' in answer) return save(withFailure(current.body, answer.problem, nowMs()));
    if (!isDomain) return save({ ...withSuccess(current.body, answer, {}), issued: answer });
    const certificate = certificateObject(wiring, host, answer);
    await put(tlsCertificates, certificate, 'created');
    const former = managementOf(current.body)?.certificate_id;
    const management = { certificate_id: certificate.id };
    const body = { ...withSuccess(current.body, answer, management), certificate_id: certificate.id };
    const saved = await save(body);
    const old = former === undefined ? null : await transaction.get(former);
    if (old !== null && (await transaction.referrers(old.id)).length === 0)
      await remove(tlsCertificates, old);
    return saved;
  });
}

function certificateObject({ newId, nowMs }: Wiring, host: string, issued: IssuedCertificate): StoredObject {
  const now = wholeSeconds(nowMs());
  const { certificatePem, privateKeyPem } = issued;
  const body = { certificate_pem: certificatePem, private_key_pem: privateKeyPem };
  const own = { description: `Issued for ${host}.`, created_at: now };
  return connected(tlsCertificates, newId(tlsCertificates.prefix), null, withFacts({ ...own, ...body }, now));
}

function withSuccess(
  body: Body,
  { certificatePem }: IssuedCertificate,
  own: Partial<CertificateManagement>,
): Body {
  const facts = readCertificate(certificatePem);
  if ('problem' in facts) throw new Error(`the issued certificate is ${facts.problem}`);
  const renewsAt = wholeSeconds(facts.notAfterMs - RENEWAL_MS);
  return { ...body, management: { renews_at: renewsAt, provisioning_job: null, ...own } };
}

/** Retries after as long as the attempts have lasted, at least a minute, at most an hour. */
function withFailure(body: Body, problem: string, nowMs: number): Body {
  const management = managementOf(body)!;
  const startedAt = management.provisioning_job?.started_at ?? wholeSeconds(nowMs);
  const delay = Math.min(Math.max(nowMs - Date.parse(startedAt), FIRST_RETRY_MS), LAST_RETRY_MS);
  const job = {
    error_code: 'INTERNAL_ERROR',
    msg: `The certificate cannot be issued: ${problem}.`,
    started_at: startedAt,
    retries_at: wholeSeconds(nowMs + delay),
  };
  return { ...body, management: { ...management, provisioning_job: job } };
}
