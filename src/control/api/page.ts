/** A self-contained page about the API, rendered from `/openapi.json`. */
export const DOCUMENT_PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Edge management API</title>
<style>
  :root { color-scheme: light dark; --line: #8884; --soft: #8881; }
  body { font: 15px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem; }
  h1 { margin: 0; font-size: 1.7rem; }
  h2 { margin: 2rem 0 .3rem; font-size: 1.15rem; text-transform: capitalize; }
  input { font: inherit; width: 100%; box-sizing: border-box; padding: .4rem .6rem; }
  details { border-bottom: 1px solid var(--line); }
  summary { cursor: pointer; padding: .25rem 0; }
  summary span { opacity: .7; }
  code, pre { font: 13px/1.5 ui-monospace, monospace; }
  b { display: inline-block; width: 4.5rem; font-size: 12px; }
  b.get { color: #2a7ab0; } b.post { color: #2b8a3e; } b.put, b.patch { color: #b46a00; } b.delete { color: #c0392b; }
  pre { background: var(--soft); padding: .6rem; overflow: auto; margin: .5rem 0; }
  table { border-collapse: collapse; width: 100%; margin: .3rem 0 1rem; }
  td, th { text-align: left; vertical-align: top; padding: .2rem .8rem .2rem 0; border-top: 1px solid var(--line); }
  th { font-weight: 600; border: 0; }
  td:first-child { white-space: nowrap; }
</style>
<h1>Edge management API</h1>
<p>Every request needs an API key and the API version. Full description: <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1)</p>
<input type="search" placeholder="filter: ip_policies, PATCH, saml …" aria-label="filter">
<main>This page requires JavaScript.</main>
<script type="module">
  const main = document.querySelector('main');
  const api = await (await fetch('/openapi.json')).json();
  const element = (name, text, ...inside) => {
    const made = document.createElement(name);
    made.textContent = text;
    made.append(...inside);
    return made;
  };
  const resolved = (schema) => schema?.$ref === undefined ? schema : api.components.schemas[schema.$ref.split('/').at(-1)];
  const named = (schema) => {
    if (schema === undefined) return '';
    if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1);
    if (schema.enum !== undefined) return schema.enum.join(' | ');
    if (schema.const !== undefined) return JSON.stringify(schema.const);
    if (schema.anyOf !== undefined) return schema.anyOf.map(named).join(' | ');
    if (schema.type === 'array') return 'list of ' + named(schema.items);
    if (schema.additionalProperties?.type !== undefined) return 'map of ' + named(schema.additionalProperties);
    return [schema.type ?? 'any'].flat().join(' | ');
  };
  const limits = ({ maxLength, minimum, maximum, default: standard }) => [
    maxLength && 'at most ' + maxLength + ' characters',
    minimum !== undefined && maximum !== undefined && minimum > Number.MIN_SAFE_INTEGER && minimum + ' to ' + maximum,
    standard !== undefined && 'default ' + JSON.stringify(standard),
  ].filter(Boolean).join('; ');
  const rows = (schema, isRequest, parent = '') => {
    const object = resolved(schema) ?? {};
    return Object.entries(object.properties ?? {}).flatMap(([name, property]) => {
      const row = element('tr', '', element('td', '', element('code', parent + name)), element('td', named(property)));
      const isNeeded = isRequest && parent === '' && object.required?.includes(name);
      const says = [isNeeded && 'Required.', property.description, limits(property)].filter(Boolean).join(' ');
      row.append(element('td', says));
      // Inline schemas are expanded; referenced ones are shown by name.
      return property.type === 'object' ? [row, ...rows(property, isRequest, parent + name + '.')] : [row];
    });
  };
  const table = (title, schema, isRequest) => {
    const found = rows(schema, isRequest);
    if (found.length === 0) return [];
    const head = element('tr', '', element('th', title), element('th', ''), element('th', ''));
    return [element('table', '', head, ...found)];
  };
  const version = api.paths['/api_keys'].get.parameters[0].name;
  const example = (method, path, body) => {
    const lines = ['curl ' + (method === 'get' ? '' : '-X ' + method.toUpperCase() + ' ') + location.origin + path,
      '-H "Authorization: Bearer $KEY" -H "' + version + ': 2"'];
    if (body !== undefined) lines.push('-H "Content-Type: application/json" -d ' + "'" + JSON.stringify(sample(body)) + "'");
    return lines.join(' \\\\\\n  ');
  };
  const sample = (schema) => {
    const object = resolved(schema) ?? {};
    const names = object.required ?? [];
    return Object.fromEntries(names.map((name) => [name, valueOf(resolved(object.properties[name]))]));
  };
  const valueOf = ({ type, enum: values, default: standard }) =>
    standard ?? values?.[0] ?? { array: [], object: {}, boolean: true, integer: 1, number: 1 }[type] ?? '…';
  const operation = (path, method, { summary, requestBody, responses }) => {
    const head = element('summary', '', Object.assign(element('b', method.toUpperCase()), { className: method }),
      element('code', path), element('span', '  ' + summary));
    const shown = element('details', '', head);
    shown.dataset.text = (method + ' ' + path + ' ' + summary).toLowerCase();
    // Rendered when it is opened, because there are many operations.
    shown.addEventListener('toggle', () => {
      if (shown.children.length > 1) return;
      const request = requestBody?.content['application/json'].schema;
      const [status, answer] = Object.entries(responses)[0];
      shown.append(element('pre', example(method, path, request)));
      shown.append(...table('request', request, true));
      const schema = answer.content?.['application/json'].schema;
      const answers = status + ' ' + (schema === undefined ? answer.description : named(schema));
      const fields = table('answer: ' + answers, schema, false);
      shown.append(...(fields.length === 0 ? [element('p', 'answer: ' + answers)] : fields));
    });
    return shown;
  };
  const groups = new Map();
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const [method, about] of Object.entries(methods)) {
      const [tag] = about.tags;
      if (!groups.has(tag)) groups.set(tag, element('section', '', element('h2', tag)));
      groups.get(tag).append(operation(path, method, about));
    }
  }
  main.replaceChildren(...groups.values());
  const search = document.querySelector('input');
  const narrow = () => {
    const words = search.value.toLowerCase().split(/\\s+/);
    for (const group of groups.values()) {
      const all = [...group.querySelectorAll('details')];
      for (const each of all) each.hidden = !words.every((word) => each.dataset.text.includes(word));
      group.hidden = all.every((each) => each.hidden);
    }
    const [only, ...others] = main.querySelectorAll('details:not([hidden])');
    if (only !== undefined && others.length === 0) only.open = true;
  };
  search.addEventListener('input', narrow);
  // The fragment of a link can set the filter: #ip_policies.
  if (location.hash !== '') { search.value = decodeURIComponent(location.hash.slice(1)); narrow(); }
</script>
</html>
`;
