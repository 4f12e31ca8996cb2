import type { VerbRow } from './verb_row.ts';

/** Verbs that work on an instance or its store. */
export const INSTANCE_VERBS = {
  keys: {
    group: 'Manage an instance',
    does: 'create, list and revoke keys of the management API',
    examples: [['keys create --store edgeproof.db', 'prints a key once'], ['keys list --store edgeproof.db']],
    load: () => import('./keys.ts'),
  },
  'session-keys': {
    group: 'Manage an instance',
    does: 'replace the key of login sessions, or end all sessions',
    examples: [['session-keys rotate --store edgeproof.db']],
    load: () => import('./session_keys.ts'),
  },
  restrictions: {
    group: 'Manage an instance',
    does: 'list and lift IP restrictions that lock out their operator',
    examples: [['restrictions list --store edgeproof.db']],
    load: () => import('./restrictions.ts'),
  },
  export: {
    group: 'Manage an instance',
    does: 'write the configuration of a running instance as an edge file (in JSON)',
    examples: [['export --url http://127.0.0.1:4040 --out exported.json', 'the key is in EDGEPROOF_API_KEY']],
    load: () => import('./export.ts'),
  },
  apply: {
    group: 'Manage an instance',
    does: 'apply an edge file to a running instance',
    examples: [
      ['apply edge.yaml --url http://127.0.0.1:4040 --dry-run', 'shows the changes only'],
      ['apply edge.yaml --url http://127.0.0.1:4040'],
    ],
    load: () => import('./apply.ts'),
  },
  store: {
    group: 'Manage an instance',
    does: 'copy a store between a file and PostgreSQL',
    examples: [
      [
        'store copy sqlite:edgeproof.db postgres://edge@db.internal/edge',
        'one instance becomes several nodes',
      ],
      ['store copy postgres://edge@db.internal/edge sqlite:copy.db', 'and back'],
    ],
    load: () => import('./store.ts'),
  },
  deliver: {
    group: 'Manage an instance',
    does: 'deliver events from a queue to a destination; processes share the work',
    examples: [['deliver nats://localhost:4222/edge.events --to target.json']],
    load: () => import('./deliver.ts'),
  },
  backup: {
    group: 'Manage an instance',
    does: 'copy the store of an instance, which may be running, with the key of its secrets',
    examples: [['backup monday.db --store edgeproof.db']],
    load: () => import('./backup.ts'),
  },
  restore: {
    group: 'Manage an instance',
    does: 'restore a store from a backup',
    examples: [['restore monday.db --store restored.db']],
    load: () => import('./restore.ts'),
  },
} satisfies Readonly<Record<string, VerbRow>>;
