import { type Variable, variable } from '../../cel/scope.ts';
import { BOOL, INT, STRING, TIMESTAMP, fieldsOf, map, object } from '../../cel/types.ts';
import { type StringMap, stringMap } from '../../cel/values.ts';
import { type Activation, variables } from './activation.ts';
import { IP } from './addresses.ts';
import { CERTIFICATE, timestampOfMs } from './certificates.ts';
import type { PodFacts } from './facts.ts';

type Metadata = NonNullable<PodFacts['metadata']>;

const ofField = fieldsOf<Metadata>();

const METADATA = object('PodMetadata', {
  name: ofField.optional(STRING, 'Name.', (of) => of.name),
  namespace: ofField.optional(STRING, 'Namespace.', (of) => of.namespace),
  annotations: ofField.optional(
    map(STRING, STRING),
    'Annotations.',
    (of) => of.annotations && mapOfRecord(of.annotations),
  ),
  error_code: ofField.optional(STRING, 'Error code of the failed pod lookup.', (of) => of.error_code),
  error_message: ofField.optional(
    STRING,
    'Error message of the failed pod lookup.',
    (of) => of.error_message,
  ),
});

const podField = fieldsOf<PodFacts>();

const POD = object('Pod', {
  id: podField.optional(STRING, 'Identifier.', (pod) => pod.id),
  metadata: podField.optional(METADATA, 'Metadata.', (pod) => pod.metadata),
});

function mapOfRecord(record: Readonly<Record<string, string>>): StringMap {
  const made = stringMap();
  for (const [key, value] of Object.entries(record)) made[key] = value;
  return made;
}

const place = (a: Activation) => a.clientIp.facts?.geo?.location;

const { oftenAbsent, optional, present } = variables;

/** The connection; known from its first byte on. */
export const CONNECTION_VARIABLES: readonly Variable<Activation>[] = [
  variable(
    'conn.client_ip',
    IP,
    'Address of the client: the peer of the connection, never a forwarded address.',
    {
      read: (a: Activation) => a.clientIp,
      readText: (a: Activation) => a.connection.client.text,
    },
  ),
  present('conn.client_port', INT, 'Port of the client.', (a) => a.connection.clientPort),
  variable('conn.server_ip', IP, 'Destination address of the connection.', {
    read: (a: Activation) => a.serverIp,
    readText: (a: Activation) => a.connection.serverIp,
  }),
  present('conn.server_port', INT, 'Destination port of the connection.', (a) => a.connection.serverPort),
  optional(
    'conn.server_region',
    STRING,
    'Region of the edge. From the facts.',
    (a) => a.surroundings.facts.connection.server_region,
  ),
  optional('conn.bytes_in', INT, 'Bytes received from the client so far.', (a) => a.connection.bytesIn),
  optional('conn.bytes_out', INT, 'Bytes sent to the client so far.', (a) => a.connection.bytesOut),
  present('conn.ts.start', TIMESTAMP, 'Start of the connection.', (a) => timestampOfMs(a.connection.startMs)),
  optional('conn.ts.end', TIMESTAMP, 'End of the connection, if it has ended.', (a) =>
    a.connection.endMs === undefined ? undefined : timestampOfMs(a.connection.endMs),
  ),
  oftenAbsent('conn.geo.city', STRING, 'City of the client. From the facts.', (a) => place(a)?.city),
  oftenAbsent('conn.geo.country', STRING, 'Country of the client. From the facts.', (a) => place(a)?.country),
  oftenAbsent(
    'conn.geo.country_code',
    STRING,
    'Country of the client as two letters. From the facts.',
    (a) => place(a)?.country_code,
  ),
  oftenAbsent(
    'conn.geo.latitude',
    STRING,
    'Latitude of the client, as a string. From the facts.',
    (a) => place(a)?.latitude,
  ),
  oftenAbsent(
    'conn.geo.longitude',
    STRING,
    'Longitude of the client, as a string. From the facts.',
    (a) => place(a)?.longitude,
  ),
  oftenAbsent(
    'conn.geo.radius',
    STRING,
    'Accuracy radius in kilometres. From the facts.',
    (a) => place(a)?.radius,
  ),
  oftenAbsent(
    'conn.geo.subdivision',
    STRING,
    'State or province of the client. From the facts.',
    (a) => place(a)?.subdivision,
  ),
  optional('conn.tls.cipher_suite', STRING, 'Cipher suite.', (a) => a.connection.tls?.cipherSuite),
  optional('conn.tls.version', STRING, 'TLS version.', (a) => a.connection.tls?.version),
  optional('conn.tls.sni', STRING, 'Server name requested by the client (SNI).', (a) =>
    a.connection.tls === null ? undefined : a.connection.serverName,
  ),
  optional(
    'conn.tls.negotiated_alpn',
    STRING,
    'Protocol negotiated in the handshake (ALPN).',
    (a) => a.connection.tls?.negotiatedAlpn,
  ),
  optional(
    'conn.tls.ja4_fingerprint',
    STRING,
    'JA4 fingerprint of the client.',
    (a) => a.connection.tls?.ja4Fingerprint ?? a.surroundings.facts.connection.ja4_fingerprint,
  ),
  optional('conn.tls.session_resumed', BOOL, 'Always false, even after a resumption.', (a) =>
    a.connection.tls === null ? undefined : false,
  ),
  optional(
    'conn.tls.client',
    CERTIFICATE,
    'Certificate of the client, in mutual TLS.',
    (a) => a.connection.tls?.clientCertificate ?? undefined,
  ),
  optional(
    'conn.tls.server',
    CERTIFICATE,
    'Certificate of the server.',
    (a) => a.connection.tls?.serverCertificate ?? undefined,
  ),
  optional(
    'conn.k8s.pod',
    POD,
    'Pod of the client. From the facts.',
    (a) => a.surroundings.facts.connection.pod,
  ),
];
