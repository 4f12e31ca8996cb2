import type { CaseGroup } from '../case.ts';
import { BAD_UPSTREAMS } from './bad_upstreams.ts';
import { BODILESS } from './bodiless.ts';
import { CHUNKS } from './chunks.ts';
import { FRAMING } from './framing.ts';
import { HOP_BY_HOP } from './hop_by_hop.ts';
import { HOSTS } from './hosts.ts';
import { INTERIM } from './interim.ts';
import { LIMITS } from './limits.ts';
import { OLD_CLIENTS } from './old_clients.ts';
import { PIPELINING } from './pipelining.ts';
import { REQUEST_HEADS } from './request_heads.ts';
import { TARGETS } from './targets.ts';
import { TRAILERS } from './trailers.ts';
import { UPGRADES } from './upgrades.ts';
import { UPSTREAM_REPLIES } from './upstream_replies.ts';

/** Every group of cases. */
export const GROUPS: readonly CaseGroup[] = [
  REQUEST_HEADS,
  FRAMING,
  CHUNKS,
  TRAILERS,
  HOP_BY_HOP,
  TARGETS,
  HOSTS,
  LIMITS,
  INTERIM,
  UPGRADES,
  PIPELINING,
  BODILESS,
  UPSTREAM_REPLIES,
  BAD_UPSTREAMS,
  OLD_CLIENTS,
];
