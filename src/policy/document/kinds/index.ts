import type { Kind } from '../../actions/schema.ts';
import { cidr } from './cidr.ts';
import { credential } from './credential.ts';
import { data, variables } from './data.ts';
import { duration } from './duration.ts';
import { headerMap, headerName } from './headers.ts';
import type { KindCheck } from './kind.ts';
import { expression, ipPolicy, pattern, pem, url } from './texts.ts';

/** What each kind of field asks for. */
export const KINDS: Readonly<Record<Kind, KindCheck>> = {
  cidr,
  credential,
  data,
  duration,
  expression,
  header_map: headerMap,
  header_name: headerName,
  ip_policy: ipPolicy,
  pattern,
  pem,
  url,
  variables,
};
