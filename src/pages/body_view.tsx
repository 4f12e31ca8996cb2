/** A body, read as what it is: JSON, form, multipart, image, text or bytes. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { RecordedBody } from '../replay/recording.ts';
import { type BodyForm, type BodyPart, formOf, hexDump } from './body_forms.ts';
import { FieldsView, linesOfFields } from './fields_view.tsx';
import { countText, sizeText } from './units.ts';
import { visible, visibleLine } from './visible.ts';

const LETTERS = 20_000;

interface Props {
  readonly body: RecordedBody;
  /** Fields of its message, for the media type. */
  readonly headers: readonly string[];
}

export function BodyView({ body, headers }: Props) {
  const form = useMemo(() => formOf(body, headers), [body, headers]);
  return (
    <div class="body">
      <p class="facts">
        {body.bytes === null ? 'Body of unknown size' : `Body: ${sizeText(body.bytes)}`}
        {body.truncated === true && <strong class="flag">only its beginning was kept</strong>}
        {body.redacted === true && <strong class="flag">secrets redacted</strong>}
      </p>
      <Form form={form} />
    </div>
  );
}

function Form({ form }: { readonly form: BodyForm }) {
  switch (form.form) {
    case 'empty':
      return null;
    case 'unkept':
      return <p class="quiet">Nothing of it was kept.</p>;
    case 'json':
    case 'text':
      return <LongText text={form.text} />;
    case 'fields':
      return <FieldsView caption="Form fields" lines={linesOfFields(form.fields.flat())} />;
    case 'parts':
      return (
        <>
          {form.parts.map((part, index) => (
            <Part key={index} part={part} />
          ))}
        </>
      );
    case 'image':
      return <Image type={form.type} bytes={form.bytes} />;
    case 'binary':
      return <LongText text={hexDump(form.bytes)} />;
  }
}

function Part({ part: { name, fileName, headers, form } }: { readonly part: BodyPart }) {
  return (
    <section class="part">
      <h4>
        {visibleLine(name, 200)}
        {fileName !== null && <span class="quiet"> file {visibleLine(fileName, 200)}</span>}
      </h4>
      <FieldsView caption="Header of the part" lines={linesOfFields(headers)} />
      <Form form={form} />
    </section>
  );
}

/** A text that is shown up to a bound until it is asked for whole. */
export function LongText({ text }: { readonly text: string }) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole || text.length <= LETTERS ? text : text.slice(0, LETTERS);
  return (
    <>
      <pre tabIndex={0}>{visible(shown)}</pre>
      {shown.length < text.length && (
        <button type="button" onClick={() => setWhole(true)}>
          Show all {countText(text.length)} characters
        </button>
      )}
    </>
  );
}

function Image({ type, bytes }: { readonly type: string; readonly bytes: Uint8Array<ArrayBuffer> }) {
  const [url, setUrl] = useState<string | null>(null);
  const [size, setSize] = useState('');
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([bytes], { type }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [type, bytes]);
  if (url === null) return null;
  return (
    <figure>
      <img
        src={url}
        alt={`The body as ${type}`}
        onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
          setSize(`${naturalWidth} × ${naturalHeight}`)
        }
        onError={() => setSize('not a complete image')}
      />
      <figcaption class="quiet">
        {type} {size}
      </figcaption>
    </figure>
  );
}
