import { errorText } from '../diagnostics/message_text.ts';
import type { EdgeRuntime } from '../edge/runtime.ts';
import type { Delivering } from '../events/delivery.ts';
import { policyTexts } from './api/change.ts';
import type { Wiring } from './api/contract.ts';
import type { EdgeObjects, Touched } from './api/edge_objects.ts';
import { edgeChange } from './api/edge_slice.ts';
import { fileSettings } from './api/file_settings.ts';
import type { AccountAgents } from './agents.ts';
import type { CertificateIssuance } from './certificate_issuance.ts';
import type { LoginEnds } from './login_ends.ts';
import { EDGE_KINDS } from './resources/edge_document.ts';
import type { StoredSamlKeys } from './saml_keys.ts';
import { SESSION_KEYS, openSessionKeys } from './sealed_store.ts';
import { type News, StoreUnavailable, type View } from './store/port.ts';
import type { Sealing } from './store/sealed.ts';

/** What a node keeps of the store in memory. */
export interface Remembered {
  readonly wiring: Wiring;
  readonly delivering: Delivering;
  readonly runtime: EdgeRuntime;
  readonly ends: LoginEnds;
  readonly issuance: CertificateIssuance;
  readonly account: AccountAgents | null;
  readonly samlKeys: StoredSamlKeys | null;
  readonly sealing: Sealing;
}

/** Kinds of which deliveries keep something. */
const OF_DELIVERIES: ReadonlySet<string> = new Set(['event_destination', 'event_subscription']);
const EDGE: ReadonlySet<string> = new Set(EDGE_KINDS);

/** Takes in a revision, and says once for each why it cannot be activated: it is tried again every second. */
export function following(remembered: Remembered, say: (line: string) => void) {
  let refused = 0;
  return async (news: News, view: View): Promise<void> => {
    try {
      await takeIn(remembered, news, view);
    } catch (error) {
      if (!(error instanceof StoreUnavailable) && news.revision !== refused) {
        refused = news.revision;
        say(`cannot activate revision ${news.revision} of the store: ${errorText(error)}\n`);
      }
      throw error;
    }
  };
}

/** Activates what other nodes have committed. Throws, and changes nothing of the edge, if that cannot be served. */
async function takeIn(remembered: Remembered, news: News, view: View): Promise<void> {
  const { wiring, delivering, runtime, ends, issuance, account, samlKeys, sealing } = remembered;
  const { objects, settings } = news;
  if (samlKeys !== null && (objects === null || settings.includes('saml_keys'))) await samlKeys.follow(view);
  if (objects === null || settings.includes(SESSION_KEYS))
    runtime.rekey(await openSessionKeys(view, sealing));
  await takeInEdge(wiring, news, view);
  const changed = objects ?? (await view.all(['login_end']));
  await ends.follow(
    changed.filter(({ kind }) => kind === 'login_end').map(({ id }) => id),
    view,
  );
  wiring.subscribers.changed({ undone: () => undefined });
  const isOfDeliveries = objects === null || objects.some(({ kind }) => OF_DELIVERIES.has(kind));
  if (isOfDeliveries || wiring.store.nodes?.leads() === true) void delivering.changed();
  const ids = changed.map(({ id }) => id);
  const credentials = ids.filter((id) => id.startsWith('cr_'));
  const gone: string[] = [];
  for (const id of credentials) if ((await view.get(id)) === null) gone.push(id);
  account?.revoked(gone);
  await account?.written(ids, view);
  issuance.written(ids);
}

async function takeInEdge(wiring: Wiring, { objects, settings }: News, view: View): Promise<void> {
  const { edgeObjects, dataPlane, ports } = wiring;
  const isWhole = objects === null;
  const touched = isWhole ? await everything(view) : await touchedOf(objects, view);
  if (isWhole || settings.includes('edge_file')) touched.push({ object: NO_OBJECT, isGone: true });
  if (touched.length === 0) return;
  await dataPlane.prepare(policyTexts(touched));
  const surroundings = { service: ports.service, settings: await fileSettings(view) };
  const without = isWhole ? edgeObjects.take(known(edgeObjects)) : () => undefined;
  const { change, takeBack } = edgeChange(edgeObjects, touched, surroundings);
  let isTaken = false;
  try {
    await dataPlane.check(change);
    const { findings } = dataPlane.swap(change);
    const finding = findings.find(({ severity }) => severity === 'error');
    if (finding !== undefined) throw new Error(`${finding.pointer}: ${finding.message}`);
    isTaken = true;
  } finally {
    if (!isTaken) {
      takeBack();
      without();
    }
  }
}

/** Stands for the settings. */
const NO_OBJECT = { id: '', kind: '', parent: null, body: {} };

async function touchedOf(objects: NonNullable<News['objects']>, view: View): Promise<Touched[]> {
  const touched: Touched[] = [];
  for (const { id, kind, parent } of objects) {
    if (!EDGE.has(kind)) continue;
    const object = await view.get(id);
    touched.push(
      object === null ? { object: { id, kind, parent, body: {} }, isGone: true } : { object, isGone: false },
    );
  }
  return touched;
}

async function everything(view: View): Promise<Touched[]> {
  return (await view.all(EDGE_KINDS)).map((object) => ({ object, isGone: false }));
}

/** All that is in memory, as if everything had been deleted. */
function known(objects: EdgeObjects): Touched[] {
  const kinds = EDGE_KINDS.filter((kind) => kind !== 'ip_policy_rule');
  return kinds.flatMap((kind) => Array.from(objects.ofKind(kind), (object) => ({ object, isGone: true })));
}
