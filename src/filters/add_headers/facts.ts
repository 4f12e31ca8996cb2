import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { quoted } from '../../diagnostics/message_text.ts';
import { STRING, map } from '../../cel/types.ts';
import { resultOf } from '../result_types.ts';
import { type Filter, changedHeaders } from '../facts.ts';
import type { AddHeadersConfig } from './action_schema.ts';

export const messages = { added: 'header fields were added' };

export const addHeaders = {
  serviceNumbers: [
    {
      number: 2213,
      title: 'Template of a header',
      means: 'Older services use it for an invalid template in add-headers; now it is 2224.',
    },
  ],
  action: {
    type: 'add-headers',
    phases: ['on_http_request', 'on_http_response'],
    ends: { when: 'never', how: [] },
    result: resultOf('add_headers', 'Header fields that were added.', {
      headers_added: [map(STRING, STRING), 'Added fields by name.'],
    }),
    leavesRequest: false,
    changes: ({ headers }) => changedHeaders(Object.keys(headers)),
    adds: ({ headers }) => ({ request: headers, response: headers }),
    speaksOnly: true,
    alsoCalled: ['set-headers'],
    reads: [],
    costNs: 80,
    // The page before free endpoints is the service's: its policies cannot turn it off.
    check: ({ headers = {} }, report, { service }) => {
      for (const name of Object.keys(headers)) {
        if (name.toLowerCase() !== `${service}-skip-browser-warning`) continue;
        const message = `${quoted(name)} cannot be added by a policy`;
        report(2210, pointerTo('/headers', name), message, { at: 'key', hint: 'clients send it' });
      }
    },
    reasons: messages,
    examples: {
      good: [{ headers: { 'x-edge': 'shop' } }],
      bad: [{ config: { headers: {} }, finding: 2223 }],
    },
  },
} satisfies Filter<never, AddHeadersConfig>;
