import { describe, expect, it } from 'vitest';
import { hashKey } from '../../src/replay/keyed_hashes.ts';
import { recordedBody } from '../../src/replay/recording.ts';
import { redactBody } from '../../src/replay/redact_body.ts';
import { type Redaction, redaction, rulesOf } from '../../src/replay/redaction.ts';

const SECRET = 'do-not-tell-anyone';
const OF_CONFIG = 'key"of-the-configuration';
const REDACTION: Redaction = { ...redaction(['X-Pin']), secrets: [OF_CONFIG] };

function redacted(body: string | Buffer, limitBytes = 65_536, given = REDACTION) {
  const bytes = Buffer.from(body as string);
  const places = new Set<string>();
  const out = redactBody(recordedBody(bytes, bytes.length, limitBytes), rulesOf(given), 'body', places);
  const kept = out.text ?? Buffer.from(out.base64 ?? '', 'base64').toString('latin1');
  return { kept, isMarked: out.redacted === true, places: [...places] };
}

const bytes = (...parts: readonly (string | number)[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from([part]))));

describe('bodies of recordings', () => {
  const cases: readonly (readonly [name: string, body: string | Buffer, kept: string])[] = [
    ['a form', `a=b&password=${SECRET}`, 'a=b&password=[redacted]'],
    [
      'a form with names in brackets',
      `user[name]=a&user[password]=${SECRET}`,
      'user[name]=a&user[password]=[redacted]',
    ],
    [
      'encoded names',
      `user%5Bpassword%5D=${SECRET}&x-p%69n=1`,
      'user%5Bpassword%5D=[redacted]&x-p%69n=[redacted]',
    ],
    ['a form that begins with an empty field', `&remember&token=${SECRET}`, '&remember&token=[redacted]'],
    ['values with spaces and line breaks', `a=b c&password=${SECRET} x\ny\n`, 'a=b c&password=[redacted]'],
    ['semicolons', `a=b;token=${SECRET}`, 'a=b;token=[redacted]'],
    ['JSON', `{"a":1,"password":"x\\"${SECRET}","b":2}`, '{"a":1,"password":"[redacted]","b":2}'],
    ['names with escapes', `{"pass\\u0077ord":"${SECRET}"}`, '{"pass\\u0077ord":"[redacted]"}'],
    ['lists', `{"token":["a]","${SECRET}"],"b":[1]}`, '{"token":"[redacted]","b":[1]}'],
    ['objects', `{"secret":{"id":"}","value":["${SECRET}"]},"b":{}}`, '{"secret":"[redacted]","b":{}}'],
    [
      'other values',
      '[{"code":12,"x":1},{"code":null}]',
      '[{"code":"[redacted]","x":1},{"code":"[redacted]"}]',
    ],
    ['JSON after an odd quote', `5" {"token":"${SECRET}"}`, '5" {"token":"[redacted]"}'],
    ['bytes that are not UTF-8', bytes(0xff, `{"token":"${SECRET}"}`), '\xff{"token":"[redacted]"}'],
    [
      'multipart forms',
      `--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--b\r\nContent-Disposition: form-data; name="x-pin"\r\nContent-Type: text/plain\r\n\r\n${SECRET}\r\n${SECRET}\r\n--b--\r\n`,
      '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--b\r\nContent-Disposition: form-data; name="x-pin"\r\nContent-Type: text/plain\r\n\r\n[redacted]\r\n--b--\r\n',
    ],
    ['secrets of the configuration', `note: ${OF_CONFIG}`, 'note: [redacted]'],
    ['those in JSON', JSON.stringify({ note: OF_CONFIG }), '{"note":"[redacted]"}'],
    ['those among bytes', bytes(0xff, OF_CONFIG, 0xfe), '\xff[redacted]\xfe'],
  ];
  it.each(cases)('%s', (_name, body, kept) => {
    expect(redacted(body)).toMatchObject({ kept, isMarked: true });
  });

  it('cut within a value, a list or a character', () => {
    const cut = (body: string, before: string) =>
      redacted(body, Buffer.byteLength(body.split(before)[0]!) + 1);
    expect(cut(`{"token":"${SECRET}"}`, 'yone').kept).toBe('{"token":"[redacted]"');
    expect(cut(`{"token":["a","${SECRET}"]}`, 'yone').kept).toBe('{"token":"[redacted]"');
    expect(cut(`token=${SECRET}&a=b`, 'yone').kept).toBe('token=[redacted]');
    expect(cut(`{"token":"${SECRET}","a":"\u{1F600}"}`, '\u{1F600}').kept).toBe(
      '{"token":"[redacted]","a":"',
    );
  });

  it('are kept where nothing is secret', () => {
    for (const body of ['', 'a=b', '{"a":"b"}', 'text with token, code and password', '<p name="token">'])
      expect(redacted(body)).toEqual({ kept: body, isMarked: false, places: [] });
  });

  it('have one mark with a hash for each value', () => {
    const key = hashKey(Buffer.alloc(32));
    const { kept } = redacted(`token=${SECRET}&a=token=1`, 65_536, { ...REDACTION, key });
    expect(kept).toMatch(/^token=\[redacted:[0-9a-f]{8}\.[0-9a-f]{32}\]&a=token=1$/);
  });

  // Quadratic time would be minutes for each.
  it('take linear time, whatever they hold', { timeout: 60_000 }, () => {
    const many = (text: string): string => text.repeat(Math.ceil(400_000 / text.length));
    const hostile = [
      '"',
      '\\"',
      '"\\"',
      '"token":[',
      '"token":"\\',
      '{',
      '&',
      'token=&',
      '=',
      ' ',
      'name="',
      'content-disposition: ;name="token"',
      '\ncontent-disposition: ;name="token"',
      '"\\u0041',
    ];
    for (const text of hostile) {
      expect(redacted(many(text), 3_000_000).kept).not.toBe('');
      expect(redacted(`"${many(text)}`, 3_000_000).kept).not.toBe('');
    }
  });
});
