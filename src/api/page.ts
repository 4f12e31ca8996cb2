/** A page about the API that needs nothing but itself: it reads `/openapi.json` and shows it. */
export const DOCUMENT_PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Edge management API</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
  details { border-bottom: 1px solid #ccc; padding: .3rem 0; }
  summary { cursor: pointer; }
  code { font: 14px ui-monospace, monospace; }
  b { display: inline-block; width: 5rem; }
  pre { background: #f4f4f4; color: #111; padding: .5rem; overflow: auto; }
</style>
<h1>Edge management API</h1>
<p>The whole description: <a href="/openapi.json">openapi.json</a></p>
<main>This page needs a script to show it.</main>
<script type="module">
  const main = document.querySelector('main');
  const api = await (await fetch('/openapi.json')).json();
  const element = (name, text, ...inside) => {
    const made = document.createElement(name);
    made.textContent = text;
    made.append(...inside);
    return made;
  };
  main.textContent = '';
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const [method, { summary, requestBody, responses }] of Object.entries(methods)) {
      const head = element('summary', '', element('b', method.toUpperCase()), element('code', path), ' ' + summary);
      const shown = { request: requestBody?.content['application/json'].schema, responses };
      main.append(element('details', '', head, element('pre', JSON.stringify(shown, null, 2))));
    }
  }
</script>
</html>
`;
