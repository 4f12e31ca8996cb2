/** Revisions of the configuration, newest first, each with its changes. */
import { useState } from 'preact/hooks';
import { ChangesView } from '../../pages/changes_view.tsx';
import { clockText } from '../../pages/units.ts';
import type { Revision, RevisionDiff } from '../wire.ts';
import { get } from './server.ts';
import { attempt } from './state.ts';

interface Props {
  readonly list: readonly Revision[];
  readonly active: number;
}

export function RevisionsView({ list, active }: Props) {
  const [open, setOpen] = useState<RevisionDiff | null>(null);
  const toggle = async (number: number): Promise<void> => {
    if (open?.revision === number) setOpen(null);
    else setOpen(await attempt(() => get<RevisionDiff>(`revisions/${number}`)));
  };
  return (
    <section class="card">
      <h2>Revisions</h2>
      <ol class="revisions">
        {list.toReversed().map(({ revision, atMs, changedFiles }) => (
          <li key={revision}>
            <button
              type="button"
              class="place"
              aria-expanded={open?.revision === revision}
              onClick={() => void toggle(revision)}
            >
              Revision {revision}
            </button>{' '}
            {revision === active && <strong class="flag good">active</strong>}{' '}
            <span class="quiet">
              {clockText(atMs)} {changedFiles.join(', ')}
            </span>
            {open?.revision === revision && <Changes of={open} />}
          </li>
        ))}
      </ol>
    </section>
  );
}

function Changes({ of: { files } }: { readonly of: RevisionDiff }) {
  if (files.length === 0) return <p class="quiet">Nothing is known to have changed: it is the first one.</p>;
  return (
    <>
      {files.map(({ name, lines }) => (
        <section key={name}>
          <h3>{name}</h3>
          <ChangesView lines={lines} />
        </section>
      ))}
    </>
  );
}
