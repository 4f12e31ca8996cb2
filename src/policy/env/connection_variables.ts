import { type Variable, variable } from '../../cel/scope.ts';
import { BOOL, INT, STRING, TIMESTAMP, map, object } from '../../cel/types.ts';
import { type StringMap, stringMap } from '../../cel/values.ts';
import type { Activation } from './activation.ts';
import { IP } from './addresses.ts';
import { CERTIFICATE, timestampOfMs } from './certificates.ts';
import type { PodFacts } from './facts.ts';

type Metadata = NonNullable<PodFacts['metadata']>;

const METADATA = object('PodMetadata', {
  name: { type: STRING, optional: true, doc: 'Name.', read: (of: Metadata) => of.name },
  namespace: { type: STRING, optional: true, doc: 'Namespace.', read: (of: Metadata) => of.namespace },
  annotations: {
    type: map(STRING, STRING),
    optional: true,
    doc: 'Annotations.',
    read: (of: Metadata) => of.annotations && mapOfRecord(of.annotations),
  },
  error_code: {
    type: STRING,
    optional: true,
    doc: 'Error code of the failed pod lookup.',
    read: (of: Metadata) => of.error_code,
  },
  error_message: {
    type: STRING,
    optional: true,
    doc: 'Error message of the failed pod lookup.',
    read: (of: Metadata) => of.error_message,
  },
});

const POD = object('Pod', {
  id: { type: STRING, optional: true, doc: 'Identifier.', read: (pod: PodFacts) => pod.id },
  metadata: { type: METADATA, optional: true, doc: 'Metadata.', read: (pod: PodFacts) => pod.metadata },
});

function mapOfRecord(record: Readonly<Record<string, string>>): StringMap {
  const made = stringMap();
  for (const [key, value] of Object.entries(record)) made[key] = value;
  return made;
}

const place = (a: Activation) => a.clientIp.facts?.geo?.location;

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
  variable('conn.client_port', INT, 'Port of the client.', {
    read: (a: Activation) => a.connection.clientPort,
  }),
  variable('conn.server_ip', IP, 'Destination address of the connection.', {
    read: (a: Activation) => a.serverIp,
    readText: (a: Activation) => a.connection.serverIp,
  }),
  variable('conn.server_port', INT, 'Destination port of the connection.', {
    read: (a: Activation) => a.connection.serverPort,
  }),
  variable('conn.server_region', STRING, 'Region of the edge. From the facts.', {
    optional: true,
    read: (a: Activation) => a.surroundings.facts.connection.server_region,
  }),
  variable('conn.bytes_in', INT, 'Bytes received from the client so far.', {
    optional: true,
    read: (a: Activation) => a.connection.bytesIn,
  }),
  variable('conn.bytes_out', INT, 'Bytes sent to the client so far.', {
    optional: true,
    read: (a: Activation) => a.connection.bytesOut,
  }),
  variable('conn.ts.start', TIMESTAMP, 'Start of the connection.', {
    read: (a: Activation) => timestampOfMs(a.connection.startMs),
  }),
  variable('conn.ts.end', TIMESTAMP, 'End of the connection, if it has ended.', {
    optional: true,
    read: (a: Activation) =>
      a.connection.endMs === undefined ? undefined : timestampOfMs(a.connection.endMs),
  }),
  variable('conn.geo.city', STRING, 'City of the client. From the facts.', {
    optional: true,
    oftenAbsent: true,
    read: (a: Activation) => place(a)?.city,
  }),
  variable('conn.geo.country', STRING, 'Country of the client. From the facts.', {
    optional: true,
    oftenAbsent: true,
    read: (a: Activation) => place(a)?.country,
  }),
  variable('conn.geo.country_code', STRING, 'Country of the client as two letters. From the facts.', {
    optional: true,
    oftenAbsent: true,
    read: (a: Activation) => place(a)?.country_code,
  }),
  variable('conn.geo.latitude', STRING, 'Latitude of the client, as a string. From the facts.', {
    optional: true,
    oftenAbsent: true,
    read: (a: Activation) => place(a)?.latitude,
  }),
  variable('conn.geo.longitude', STRING, 'Longitude of the client, as a string. From the facts.', {
    optional: true,
    oftenAbsent: true,
    read: (a: Activation) => place(a)?.longitude,
  }),
  variable('conn.geo.radius', STRING, 'Accuracy radius in kilometres. From the facts.', {
    optional: true,
    oftenAbsent: true,
    read: (a: Activation) => place(a)?.radius,
  }),
  variable('conn.geo.subdivision', STRING, 'State or province of the client. From the facts.', {
    optional: true,
    oftenAbsent: true,
    read: (a: Activation) => place(a)?.subdivision,
  }),
  variable('conn.tls.cipher_suite', STRING, 'Cipher suite.', {
    optional: true,
    read: (a: Activation) => a.connection.tls?.cipherSuite,
  }),
  variable('conn.tls.version', STRING, 'TLS version.', {
    optional: true,
    read: (a: Activation) => a.connection.tls?.version,
  }),
  variable('conn.tls.sni', STRING, 'Server name requested by the client (SNI).', {
    optional: true,
    read: (a: Activation) => (a.connection.tls === null ? undefined : a.connection.serverName),
  }),
  variable('conn.tls.negotiated_alpn', STRING, 'Protocol negotiated in the handshake (ALPN).', {
    optional: true,
    read: (a: Activation) => a.connection.tls?.negotiatedAlpn,
  }),
  variable('conn.tls.ja4_fingerprint', STRING, 'JA4 fingerprint of the client.', {
    optional: true,
    read: (a: Activation) =>
      a.connection.tls?.ja4Fingerprint ?? a.surroundings.facts.connection.ja4_fingerprint,
  }),
  variable('conn.tls.session_resumed', BOOL, 'Always false.', {
    optional: true,
    read: (a: Activation) => (a.connection.tls === null ? undefined : false),
  }),
  variable('conn.tls.client', CERTIFICATE, 'Certificate of the client, in mutual TLS.', {
    optional: true,
    read: (a: Activation) => a.connection.tls?.clientCertificate ?? undefined,
  }),
  variable('conn.tls.server', CERTIFICATE, 'Certificate of the server.', {
    optional: true,
    read: (a: Activation) => a.connection.tls?.serverCertificate ?? undefined,
  }),
  variable('conn.k8s.pod', POD, 'Pod of the client. From the facts.', {
    optional: true,
    read: (a: Activation) => a.surroundings.facts.connection.pod,
  }),
];
