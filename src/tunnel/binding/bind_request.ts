import { isInternalHost } from '../../edge/document/internal_hosts.ts';
import { HTTPS_PORT, placeOf } from './bind_place.ts';
import { Members, type Refusal } from './members.ts';

const METADATA_BYTES = 4_096;
/** Names and descriptions, as of other objects, and labels. */
const NOTE_BYTES = 255;
const TEXT_CHARACTERS = 2_048;
/** Ids that agents bring along after a reconnect; they become part of file names. */
const ID = /^[A-Za-z0-9_-]{1,64}$/;

export type BindKind = 'https' | 'tls' | 'tcp';

/** A request to bind an endpoint. */
export interface BindRequest {
  /** The id of an earlier session, which the agent goes on to use; null for a new tunnel. */
  readonly id: string | null;
  readonly token: string;
  readonly kind: BindKind;
  /** The scheme of the URL. */
  readonly proto: 'http' | 'https' | 'tls' | 'tcp';
  readonly host: string;
  /** Null for a TCP endpoint whose port is to be chosen. */
  readonly port: number | null;
  readonly forwardsTo: string;
  /** Whether the agent's upstream speaks HTTP/2 with prior knowledge. */
  readonly http2: boolean;
  readonly proxyProtocol: 'v1' | 'v2' | null;
  readonly metadata: string;
  readonly name: string;
  readonly description: string;
  readonly bindings: readonly string[];
  readonly pooling: boolean;
  /** Id of an IP policy of the operator; empty for none. */
  readonly ipPolicy: string;
  readonly opts: Members;
}

const PROTOCOLS: Readonly<Record<string, BindKind>> = {
  http: 'https',
  https: 'https',
  tls: 'tls',
  tcp: 'tcp',
};

const PROXY_PROTOCOLS: readonly BindRequest['proxyProtocol'][] = [null, 'v1', 'v2'];

/** Reads a Bind request. */
export function readBind(request: Members): BindRequest | Refusal {
  const extra = request.object('Extra') ?? new Members({});
  const opts = request.object('Opts') ?? new Members({});
  const given = request.text('Proto');
  const kind = Object.hasOwn(PROTOCOLS, given) ? PROTOCOLS[given] : undefined;
  if (kind === undefined) return refused(300, `The protocol '${given.slice(0, 40)}' is not supported.`);
  const proto = given as BindRequest['proto'];
  const id = request.text('Id');
  if (id !== '' && !ID.test(id)) return refused(300, 'The id of the tunnel is malformed.');
  const metadata = extra.text('Metadata');
  if (Buffer.byteLength(metadata) > METADATA_BYTES)
    return refused(100, `The metadata of the endpoint has more than ${METADATA_BYTES} bytes.`);
  const [name, description] = [extra.text('Name'), extra.text('Description')];
  if ([name, description].some((text) => Buffer.byteLength(text) > NOTE_BYTES))
    return refused(300, `The name or the description of the endpoint has more than ${NOTE_BYTES} bytes.`);
  const place = placeOf(proto, opts);
  if ('number' in place) return place;
  const proxyProtocol = PROXY_PROTOCOLS[opts.number('ProxyProto')];
  if (proxyProtocol === undefined) return refused(300, 'The versions of the PROXY protocol are 1 and 2.');
  const bindings = extra.texts('Bindings').map((each) => each.toLowerCase());
  const problem = bindingProblem(bindings, place.host);
  if (problem !== null) return refused(300, problem);
  const forwardsTo = request.text('ForwardsTo').slice(0, TEXT_CHARACTERS);
  return {
    id: id === '' ? null : id,
    token: extra.text('Token'),
    kind,
    proto,
    ...place,
    forwardsTo,
    // Towards a TLS upstream the agent chooses the protocol itself, and does not say which.
    http2: request.text('ForwardsProto') === 'http2' && !/^(?:https|tls):/i.test(forwardsTo),
    proxyProtocol,
    metadata,
    name,
    description,
    ipPolicy: extra.text('IPPolicyRef'),
    bindings,
    pooling: extra.flag('PoolingEnabled'),
    opts,
  };
}

function bindingProblem(bindings: readonly string[], host: string): string | null {
  if (bindings.includes('kubernetes')) return "The binding 'kubernetes' is not supported.";
  const isInternal = isInternalHost(host);
  if (bindings.includes('internal') && !isInternal)
    return `An internal endpoint needs a host that ends in .internal, which '${host}' does not.`;
  if (isInternal && bindings.includes('public')) return `The host '${host}' cannot be public.`;
  return null;
}

/** A request to start a tunnel for backends that select it by its labels. */
export interface LabelledRequest {
  readonly labels: Readonly<Record<string, string>>;
  readonly forwardsTo: string;
  readonly http2: boolean;
  readonly metadata: string;
}

const MAX_LABELS = 32;

export function readLabelled(request: Members): LabelledRequest | Refusal {
  const labels = request.map('Labels');
  const count = Object.keys(labels).length;
  if (count === 0 || count > MAX_LABELS) return refused(300, `A tunnel has 1 to ${MAX_LABELS} labels.`);
  if (
    Object.entries(labels)
      .flat()
      .some((each) => Buffer.byteLength(each) > NOTE_BYTES)
  )
    return refused(300, `The name or the value of a label has more than ${NOTE_BYTES} bytes.`);
  const metadata = request.text('Metadata');
  if (Buffer.byteLength(metadata) > METADATA_BYTES)
    return refused(100, `The metadata of the tunnel has more than ${METADATA_BYTES} bytes.`);
  const forwardsTo = request.text('ForwardsTo').slice(0, TEXT_CHARACTERS);
  const http2 = request.text('ForwardsProto') === 'http2' && !/^(?:https|tls):/i.test(forwardsTo);
  return { labels, forwardsTo, http2, metadata };
}

function refused(number: number, message: string): Refusal {
  return { number, message };
}

/** Whether the rules of a credential permit a bind; without rules everything is permitted. */
export function permitsAddress(acl: readonly string[], host: string, port: number | null): boolean {
  if (acl.length === 0 || acl.includes('*')) return true;
  const address = port === null || port === HTTPS_PORT ? host : `${host}:${port}`;
  return bindRules(acl).some(
    (rule) => rule === '*' || rule === address || (rule.startsWith('*.') && address.endsWith(rule.slice(1))),
  );
}

/** Whether the rules permit every one of the labels. */
export function permitsLabels(acl: readonly string[], labels: Readonly<Record<string, string>>): boolean {
  if (acl.length === 0 || acl.includes('*')) return true;
  const rules = bindRules(acl).flatMap((rule) => (rule.includes('=') ? [rule.split('=', 2)] : []));
  return Object.entries(labels).every(([name, value]) =>
    rules.some(([key, wanted]) => (key === '*' || key === name) && (wanted === '*' || wanted === value)),
  );
}

function bindRules(acl: readonly string[]): string[] {
  return acl.flatMap((rule) => (rule.startsWith('bind:') ? [rule.slice('bind:'.length)] : []));
}
