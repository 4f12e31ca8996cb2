import { ACTION_FACTS, MODULE_FACTS } from '../../filters/table.ts';
import type { FileKind } from '../../config_file/read.ts';

/** The edge file in messages. */
export const EDGE_FILE: FileKind = {
  called: 'an edge file',
  keys: '`edges` and `backends`',
  smallest: 'a minimal edge file has a map `edges` with a map `https`',
  prefix: 'edge',
};

/** Keys of the service's configuration that are not supported in this version, or that belong elsewhere. */
export const KEYS_ELSEWHERE: Readonly<Record<string, string>> = {
  policy: '`policy` only appears in responses; the module is `traffic_policy`',
  ip_policies: 'in a request the module has `ip_policy_ids`, a list of names',
  ...Object.fromEntries(
    Array.from(MODULE_FACTS.values()).flatMap(({ type, place, edgeKinds }) =>
      place === 'edge'
        ? [
            [
              type,
              `it is a module of ${edgeKinds.map((edgeKind) => edgeKind.toUpperCase()).join(' and ')} edges`,
            ],
          ]
        : [[type, 'it is a module of routes']],
    ),
  ),
  ...Object.fromEntries(
    Array.from(ACTION_FACTS.keys())
      .filter((type) => !MODULE_FACTS.has(type.replaceAll('-', '_')))
      .map((type) => [type.replaceAll('-', '_'), `${type} is an action: put it in a traffic_policy`]),
  ),
  routes: 'only HTTPS edges have routes',
  '/routes': 'routes belong to an edge: write them below edges, https and the name of the edge',
  '/hostports': 'hostports belong to an edge: write them below edges, https and the name of the edge',
  terminate_at: 'an HTTPS edge always terminates TLS itself',
};
