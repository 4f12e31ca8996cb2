import { setImmediate } from 'node:timers/promises';
import { NOT_EXPORTED } from '../../edge/document/value_places.ts';
import { trafficPolicy } from '../../policy/facts.ts';
import type { Body, ResourceObject } from '../resources/contract.ts';
import { staticBackendOf, withFileOnly } from '../resources/edge_values.ts';
import { type FileSettings, settingsIn } from '../resources/edge_document.ts';
import { policyOf } from '../resources/managed_certificates.ts';
import { EDGE_FIELDS, ROUTE_FIELDS, TCP_FIELDS, TLS_FIELDS } from '../resources/module_fields.ts';
import { withSecrets } from '../resources/secrets.ts';
import { resourceOfKind } from '../resources/table.ts';
import {
  EDGE_FAMILIES,
  type Mutable,
  keyFileOf,
  memberOf,
  moreOf,
  nameOf,
  renamed,
} from './edge_file_names.ts';
import { counted } from '../../diagnostics/message_text.ts';

export interface Exported {
  readonly document: Body;
  /** What the file cannot express, as sentences. */
  readonly left_out: readonly string[];
}

export interface ExportOptions {
  readonly service: string;
  readonly settings: FileSettings;
  /** Whether private keys are included; otherwise each is referenced as a separate file. */
  readonly withPrivateKeys: boolean;
  /** Whether client secrets and webhook secrets are included; otherwise there is a placeholder for each. */
  readonly withClientSecrets: boolean;
}

interface Writing {
  readonly options: ExportOptions;
  readonly names: ReadonlyMap<string, string>;
  /** Names of IP policies by id; texts of policies may contain the ids. */
  readonly policyNames: readonly (readonly [id: string, name: string])[];
  readonly dropped: ReadonlySet<string>;
  readonly leftOut: string[];
}

/** Objects written in one turn of the event loop: a few milliseconds. */
const SLICE = 1_000;

/** Exports objects, oldest first, as an edge file. */
export async function exportFile(
  objects: readonly ResourceObject[],
  options: ExportOptions,
): Promise<Exported> {
  const names = new Map(objects.map((object) => [object.id, nameOf(object)]));
  const policies = objects.filter(({ id, kind }) => kind === 'ip_policy' && names.get(id) !== id);
  const writing: Writing = {
    options,
    names,
    policyNames: policies.map(({ id }) => [id, names.get(id)!] as const),
    dropped: new Set([...objects.filter(isLeftOut).map(({ id }) => id), ...managedCertificates(objects)]),
    leftOut: [],
  };
  const written: Written = { policies: {}, backends: {}, certificates: {}, authorities: {}, edges: {} };
  for (const [family] of EDGE_FAMILIES) written.edges[family] = {};
  let redacted = 0;
  const redact = (value: unknown): unknown => {
    if (value === '') return value;
    redacted++;
    return NOT_EXPORTED;
  };
  for (const [index, object] of objects.entries()) {
    if (index % SLICE === SLICE - 1) await setImmediate();
    const isShown = options.withClientSecrets || object.kind === 'tls_certificate';
    const shown = isShown ? object : withoutClientSecrets(object, redact);
    if (!writing.dropped.has(object.id)) write(written, shown, writing);
    reportOmissions(object, writing);
  }
  if (redacted > 0) writing.leftOut.push(aboutRedacted(redacted));
  const document = {
    service_name: options.service,
    ...settingsIn(options.settings),
    ip_policies: written.policies,
    backends: written.backends,
    tls_certificates: written.certificates,
    certificate_authorities: written.authorities,
    edges: written.edges,
  };
  return { document, left_out: writing.leftOut };
}

function withoutClientSecrets(object: ResourceObject, redact: (value: unknown) => unknown): ResourceObject {
  return { ...object, body: withSecrets(resourceOfKind(object.kind), object.body, redact) };
}

function aboutRedacted(count: number): string {
  return `${counted(count, 'secret')}, replaced by '${NOT_EXPORTED}', which makes apply keep the stored one; --secrets exports the values`;
}

interface Written {
  readonly policies: Record<string, Mutable & { rules: unknown[] }>;
  readonly backends: Mutable;
  readonly certificates: Mutable;
  readonly authorities: Mutable;
  readonly edges: Record<string, Record<string, Mutable>>;
}

/** Edges without hostports cannot be expressed in a file. */
export function isLeftOut({ kind, body }: Pick<ResourceObject, 'kind' | 'body'>): boolean {
  const isEdge = EDGE_FAMILIES.some(([, each]) => each === kind);
  return isEdge && ((body['hostports'] ?? []) as readonly string[]).length === 0;
}

/** Certificates that follow from a policy: the instance renews them. */
function managedCertificates(objects: readonly ResourceObject[]): readonly string[] {
  return objects.flatMap(({ body }) => {
    const id = body['certificate_id'];
    return policyOf(body) !== undefined && typeof id === 'string' ? [id] : [];
  });
}

/** Reports the parts of an object that the file cannot express. */
function reportOmissions({ id, kind, body }: ResourceObject, { names, leftOut, dropped }: Writing): void {
  const name = names.get(id)!;
  if (kind.endsWith('_edge') && dropped.has(id)) leftOut.push(`${name}: an edge without hostports`);
  else if (kind === 'domain' && body['certificate_id'] !== undefined)
    leftOut.push(`the domain ${String(body['domain'])}: which certificate is shown for it`);
  else if (kind === 'ip_restriction' && body['type'] === 'endpoints' && body['enforced'] === true)
    leftOut.push(`${id}: a restriction of all endpoints`);
  else if (kind === 'endpoint') leftOut.push(`the cloud endpoint ${String(body['url'])}`);
  else if (kind === 'secret') leftOut.push(`the vault secret ${String(body['name'])}`);
}

function write(written: Written, object: ResourceObject, writing: Writing): void {
  const { id, kind, parent, body } = object;
  const name = writing.names.get(id)!;
  const owner = writing.names.get(parent ?? '') ?? '';
  if (memberOf(kind) !== undefined) written.backends[name] = backendOf(object, writing);
  switch (kind) {
    case 'ip_policy':
      written.policies[name] = { ...notesOf(body), rules: [] };
      return;
    case 'ip_policy_rule':
      written.policies[owner]!.rules.push({ ...notesOf(body), cidr: body['cidr'], action: body['action'] });
      return;
    case 'certificate_authority':
      written.authorities[name] = { ...notesOf(body), ...textOf(body, 'ca_pem', 'ca_file') };
      return;
    case 'tls_certificate':
      written.certificates[name] = certificateOf(name, body, writing);
      return;
    case 'https_edge_route':
      if (!writing.dropped.has(parent!)) {
        const routes = written.edges['https']![owner]!['routes'] as unknown[];
        routes.push(carrierOf(body, ['match_type', 'match'], Object.keys(ROUTE_FIELDS), writing));
      }
      return;
    default:
  }
  for (const [family, edgeKind] of EDGE_FAMILIES) {
    if (kind === edgeKind) written.edges[family]![name] = edgeOf(family, body, writing);
  }
}

function notesOf(body: Body): Mutable {
  const notes = ['description', 'metadata'].filter((key) => body[key] !== undefined && body[key] !== '');
  return Object.fromEntries(notes.map((key) => [key, body[key]]));
}

/** A text itself, or the file that it came from. */
function textOf(body: Body, key: string, fileKey: string): Mutable {
  const file = moreOf(body)[fileKey];
  return file === undefined ? { [key]: body[key] } : { [fileKey]: file };
}

function certificateOf(name: string, body: Body, { options, leftOut }: Writing): Mutable {
  const { private_key_file: file } = moreOf(body);
  const rest = { ...notesOf(body), ...textOf(body, 'certificate_pem', 'certificate_file') };
  if (file !== undefined) return { ...rest, private_key_file: file };
  if (options.withPrivateKeys) return { ...rest, private_key_pem: body['private_key_pem'] };
  leftOut.push(`the private key of ${name}: store it in ${keyFileOf(name)}`);
  return { ...rest, private_key_file: keyFileOf(name) };
}

function backendOf({ kind, body }: ResourceObject, { names }: Writing): Mutable {
  const notes = notesOf(body);
  const member = memberOf(kind)!;
  switch (kind) {
    case 'static_backend':
      return { ...notes, [member]: { ...staticBackendOf(body), ...moreOf(body) } };
    case 'http_response_backend':
      return {
        ...notes,
        [member]: { status_code: body['status_code'], headers: body['headers'], body: body['body'] },
      };
    case 'tunnel_group_backend':
      return { ...notes, [member]: { labels: body['labels'] } };
    case 'weighted_backend': {
      const children = Object.entries(body['backends'] as Body);
      return {
        ...notes,
        [member]: Object.fromEntries(children.map(([id, weight]) => [names.get(id)!, weight])),
      };
    }
    default:
      return { ...notes, [member]: (body['backends'] as string[]).map((id) => names.get(id)!) };
  }
}

function edgeOf(family: 'https' | 'tls' | 'tcp', body: Body, writing: Writing): Mutable {
  const fields = { https: EDGE_FIELDS, tls: TLS_FIELDS, tcp: TCP_FIELDS }[family];
  const edge = carrierOf(body, ['hostports'], Object.keys(fields), writing);
  Object.assign(edge, withFileOnly(body, edge));
  return family === 'https' ? { ...edge, routes: [] } : edge;
}

/** An edge or route: some members unchanged, modules with names instead of ids. */
function carrierOf(
  body: Body,
  members: readonly string[],
  modules: readonly string[],
  { names, policyNames }: Writing,
): Mutable {
  const present = [...members, ...modules].filter((key) => body[key] !== undefined);
  const thing: Mutable = { ...notesOf(body), ...Object.fromEntries(present.map((key) => [key, body[key]])) };
  const { type } = trafficPolicy.module;
  const policy = thing[type] as { readonly value: string } | undefined;
  if (policy !== undefined) {
    const value = policyNames.reduce((text, [id, name]) => text.replaceAll(id, name), policy.value);
    thing[type] = { ...policy, value };
  }
  return renamed(thing, (_, id) => names.get(id)!);
}
