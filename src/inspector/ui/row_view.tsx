import { durationText, clockText, sizeText } from '../../pages/units.ts';
import { visibleLine } from '../../pages/visible.ts';
import type { ExchangeRow, Row } from '../wire.ts';
import { type FacetName, facetValue } from './facets.ts';
import { selected, toggleFacet, view } from './state.ts';

// table: columns of the list
export const COLUMNS = [
  ['at', 'Time'],
  ['protocol', 'Protocol'],
  ['method', 'Method'],
  ['status', 'Status'],
  ['host', 'Host'],
  ['path', 'Path'],
  ['decision', 'Decision'],
  ['took', 'Duration'],
  ['size', 'Size'],
] as const;

/** Letters of a cell: more are not seen anyway, and a hostile target has many. */
const LETTERS = 300;

export function RowView({ row, index }: { readonly row: Row; readonly index: number }) {
  const isSelected = selected.value === row.seq;
  return (
    <div
      role="row"
      id={`row${row.seq}`}
      aria-rowindex={index}
      aria-selected={isSelected}
      class={`row ${row.verdict ?? 'open'}`}
      onClick={() => open(row.seq)}
    >
      <span role="gridcell" class="at">
        {row.pinned && <span title="pinned">◆</span>}
        {clockText(row.atMs)}
      </span>
      <Cell row={row} name="protocol" />
      {row.kind === 'exchange' ? <Exchange row={row} /> : <Connection row={row} />}
      <Decision row={row} />
      <span role="gridcell" class="took">
        {row.tookMs === null ? '…' : durationText(row.tookMs)}
      </span>
      <span
        role="gridcell"
        class="size"
        title={`${row.requestBytes} bytes in, ${row.responseBytes} bytes out`}
      >
        {sizeText(row.kind === 'exchange' ? row.responseBytes : row.requestBytes + row.responseBytes)}
      </span>
    </div>
  );
}

function open(seq: number): void {
  selected.value = seq;
  if (view.peek() === 'overview') view.value = 'traffic';
}

function Exchange({ row }: { readonly row: ExchangeRow }) {
  const { status } = row;
  return (
    <>
      <Cell row={row} name="method" />
      <span role="gridcell" class={`status code c${Math.floor((status ?? 0) / 100)}`}>
        {status === null ? row.state === 'open' ? '…' : '–' : <Value row={row} name="status" />}
      </span>
      <Cell row={row} name="host" />
      <span role="gridcell" class="path">
        {row.resentFrom !== null && <span title={`sent again from ${row.resentFrom}`}>↻ </span>}
        <bdi>{visibleLine(row.target, LETTERS)}</bdi>
      </span>
    </>
  );
}

function Connection({ row }: { readonly row: Extract<Row, { kind: 'connection' }> }) {
  return (
    <>
      <span role="gridcell" class="method">
        {row.protocol === 'tls' ? 'TLS' : 'TCP'}
      </span>
      <span role="gridcell" class={`status code ${row.verdict === 'stop' ? 'c4' : 'c2'}`}>
        {row.state === 'open' ? 'open' : row.verdict === 'stop' ? 'no' : 'ok'}
      </span>
      <Cell row={row} name="host" />
      <span role="gridcell" class="path">
        {visibleLine(row.edge ?? 'no edge', LETTERS)}{' '}
        {row.ended !== null && <span class="quiet">{row.ended}</span>}
      </span>
    </>
  );
}

function Decision({ row }: { readonly row: Row }) {
  const isPlain = row.verdict === 'pass' && row.by === 'upstream';
  return (
    <span role="gridcell" class="decision">
      {isPlain ? (
        <>
          → <Value row={row} name="backend" />
        </>
      ) : (
        <>
          <Value row={row} name="by" />{' '}
          <span class="quiet">{visibleLine(row.rule ?? row.code.replace(/^.*\./, ''), 60)}</span>
        </>
      )}
    </span>
  );
}

function Cell({ row, name }: { readonly row: Row; readonly name: FacetName }) {
  return (
    <span role="gridcell" class={name}>
      <Value row={row} name={name} />
    </span>
  );
}

/** A value that filters when it is clicked; by keyboard the same is in the details. */
function Value({ row, name }: { readonly row: Row; readonly name: FacetName }) {
  const value = facetValue(row, name);
  if (value === '') return null;
  return (
    <button
      type="button"
      class="value"
      tabIndex={-1}
      title="Filter by this value; with Alt: all others"
      onClick={(event) => {
        event.stopPropagation();
        toggleFacet(name, value, event.altKey);
      }}
    >
      {visibleLine(value, LETTERS)}
    </button>
  );
}
