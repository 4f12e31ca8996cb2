import { MODULE_FACTS } from '../../filters/table.ts';
import type { FileKind } from '../../config_file/read.ts';

/** How edge files are spoken of. */
export const EDGE_FILE: FileKind = {
  called: 'an edge file',
  keys: '`edges` and `backends`',
  smallest: 'the smallest edge file has a map `edges` with a map `https`',
  prefix: 'edge',
};

/** Keys of the real configuration that this version does not take yet, or that belong elsewhere. */
export const KEYS_ELSEWHERE: Readonly<Record<string, string>> = {
  policy: '`policy` appears in responses only; the module is called `traffic_policy`',
  ip_policies: 'in a request the module has `ip_policy_ids`, a list of names',
  ...Object.fromEntries(
    Array.from(MODULE_FACTS.values()).flatMap(({ type, place, carriers }) =>
      place === 'edge'
        ? [
            [
              type,
              `it is a module of ${carriers.map((carrier) => carrier.toUpperCase()).join(' and ')} edges`,
            ],
          ]
        : [],
    ),
  ),
  terminate_at: 'an HTTPS edge always ends TLS itself',
};
