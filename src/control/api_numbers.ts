import type { ErrorNumber } from '../filters/fact_values.ts';
import type { Resource } from './resources/contract.ts';
import { RESOURCES } from './resources/table.ts';

/** Error numbers of the management API and of sessions of agents, for `explain-code`. */

/** What a refusal is about, where that is not the body of the request. */
type About = 'head' | 'query' | 'sender' | 'state';

type Row = readonly [number: number, title: string, means: string, about?: About];

/** Numbers that belong to requests, whatever their resource. */
// table: numbers and their sentences
const OF_REQUESTS: readonly Row[] = [
  [
    105,
    'Malformed authtoken',
    'An agent sent a text that is not an authtoken. Use one that a tunnel credential showed when it was made.',
  ],
  [
    107,
    'Unknown authtoken',
    'No tunnel credential has this authtoken, or its owner is not active. Make a credential, or activate the owner.',
  ],
  [
    116,
    'Agent address refused',
    'An IP restriction of the type `agent` does not allow the address. Allow it in the IP policy, or lift the restriction with `edgeproof restrictions`.',
  ],
  [
    200,
    'No API key',
    'The request has no Authorization header. Send `Authorization: Bearer KEY`; `edgeproof keys create` makes a key.',
    'sender',
  ],
  [201, 'Malformed Authorization header', 'Send `Authorization: Bearer KEY`.', 'sender'],
  [202, 'Malformed API key', 'Send the whole key, as `edgeproof keys create` printed it.', 'sender'],
  [
    203,
    'Unknown API key',
    'The key was revoked, or its owner is not active. `edgeproof keys list` shows the keys of a store.',
    'sender',
  ],
  [
    206,
    'Token of a tunnel credential',
    'The API takes keys; authtokens are for agents. Make a key with `edgeproof keys create`.',
    'sender',
  ],
  [207, 'Id of a credential', 'The id is sent instead of a key. Send the key itself.', 'sender'],
  [
    208,
    'Id of an API key',
    'The id is sent instead of the key. Send the key itself, which is shown only once.',
    'sender',
  ],
  [210, 'Wrong content type', 'Send `Content-Type: application/json`.', 'head'],
  [211, 'Body not expected', 'Requests of this method have no body. Leave it out.'],
  [213, 'Invalid body', 'The body is missing, empty, not JSON, or nested too deeply. Send a JSON object.'],
  [
    214,
    'Unknown field',
    'The object has no such field. Correct the spelling; the pointer in `details` names it.',
  ],
  [
    215,
    'Invalid value',
    'The field does not take this value. The message says what it takes, and the pointer in `details` names the field.',
  ],
  [
    216,
    'No content type',
    'The request has a body without a type. Send `Content-Type: application/json`.',
    'head',
  ],
  [217, 'Unknown version', 'The header with the version of the API has another value. Send 2.', 'head'],
  [
    218,
    'No version',
    'Send the header with the version of the API, which has the name of the service: `service-version: 2`.',
    'head',
  ],
  [
    220,
    'Address refused',
    'An IP restriction of the type `api` does not allow the address. Allow it in the IP policy, or lift the restriction with `edgeproof restrictions`.',
    'sender',
  ],
  [222, 'Object not found', 'No object has this id, or another request deleted it.'],
  [226, 'Too many requests', 'The instance runs with `--rate-limit`. Wait, or raise the limit.', 'sender'],
  [
    227,
    'Id of another kind',
    'The prefix of an id says what it is the id of. Send one with the prefix in the message.',
  ],
  [231, 'Unknown query parameter', 'Correct its spelling, or leave it out.', 'query'],
  [232, 'Repeated query parameter', 'Send it once.', 'query'],
  [233, 'Limit out of range', 'Ask for fewer objects, and follow `next_page_uri` for the rest.', 'query'],
  [243, 'Id of another kind', 'Send an id with one of the prefixes in the message.'],
  [244, 'Limit is not a number', 'Send a whole number.', 'query'],
  [
    250,
    'Invalid filter',
    'The expression of `filter` cannot be used. Correct it at the place that the message names.',
    'query',
  ],
  [
    307,
    'Address not reserved',
    'An agent binds a TCP address that is not reserved. Reserve it with POST /reserved_addrs, or use a name under localhost.',
  ],
  [
    319,
    'Domain not reserved',
    'An agent binds a domain that is not reserved. Reserve it with POST /reserved_domains, or use a name under localhost.',
  ],
  [413, 'Domain taken', 'Another reservation has this domain. Use it, or delete it first.'],
  [446, 'Hostport in use', 'An edge has this hostport. Detach it first.'],
  [609, 'SSH key taken', 'Another SSH public key has the same key.'],
  [635, 'Not permitted for bots', 'The key belongs to a bot user. Use the key of an admin.', 'sender'],
  [810, 'Agent unreachable', 'The agent did not answer the command. Check that it is online.', 'state'],
  [812, 'Body too large', 'The body has too many bytes or values. Split it into several requests.'],
  [1408, 'Range taken', 'The IP policy has a rule with this range. Update that rule instead.'],
  [1802, 'Restriction exists', 'There is a restriction of this type. Update it instead.'],
  [
    1900,
    'Unreadable certificate',
    'The PEM block does not contain a certificate. Send the certificate file unchanged.',
  ],
  [1910, 'PEM with headers', 'Remove the headers from the PEM block.'],
  [1911, 'PEM of another kind', 'The block is a key or a request. Send the certificate.'],
  [1912, 'Several certificates', 'Send one certificate in each object.'],
  [1920, 'Not PEM', 'Send a text that begins with `-----BEGIN CERTIFICATE-----`.'],
  [4018, 'No authtoken', 'An agent connected without one. Set the authtoken of a tunnel credential.'],
  [
    7112,
    'Port not permitted',
    'TLS and TCP edges may open the ports of `serve --edge-ports`. Use one of them.',
  ],
  [
    20_000,
    'Internal error',
    'This is a bug of edgeproof. Please report it with the id of the operation in `details`.',
    'state',
  ],
];

/** Every number, each once; those of fields name the fields and their resource. */
export function apiNumbers(): readonly ErrorNumber[] {
  const found = new Map<number, ErrorNumber>();
  const add = ([number, title, means]: Row): void => {
    if (!found.has(number)) found.set(number, { number, title, means });
  };
  for (const row of OF_REQUESTS) add(row);
  for (const { title, codes, fields } of RESOURCES) {
    add([
      codes.notFound,
      `No such ${title}`,
      'No object has this id, or another request deleted it. List the objects to find the id.',
    ]);
    add([
      codes.inUse,
      `The ${title} is in use`,
      'Other objects refer to it: the message names them. Change or delete them first.',
    ]);
    if (codes.emptyUpdate !== undefined)
      add([
        codes.emptyUpdate,
        `Empty update of the ${title}`,
        'The body has no field. Send the fields that change.',
      ]);
    for (const [number, names] of fieldsByNumber(fields))
      add([
        number,
        `Invalid ${title}`,
        `${inWords(names)} missing, or does not take this value: the message says what it takes.`,
      ]);
  }
  return [...found.values()];
}

/** Whether a refusal with a number is about the body of the request. */
export function isAboutBody(number: number): boolean {
  return OF_REQUESTS.find(([each]) => each === number)?.[3] === undefined;
}

/** The fields whose values a number refuses. */
function fieldsByNumber(fields: Resource['fields']): ReadonlyMap<number, readonly string[]> {
  const found = new Map<number, string[]>();
  for (const [name, { write }] of Object.entries(fields)) {
    for (const number of new Set([write?.codes?.missing, write?.codes?.bad]))
      if (number !== undefined) found.set(number, [...(found.get(number) ?? []), name]);
  }
  return found;
}

function inWords(names: readonly string[]): string {
  const listed = names.map((name) => `\`${name}\``).join(', ');
  return names.length === 1 ? `The field ${listed} is` : `One of the fields ${listed} is`;
}
