import { checkPolicy } from '../../src/policy/document/check.ts';
import { renderDiagnostics } from '../../src/diagnostics/render.ts';
import { serviceNaming } from '../../src/engine/naming.ts';
import { readFileSync } from 'node:fs';
const text = readFileSync(0, 'utf8');
const r = checkPolicy({ name: 'policy.yaml', text }, { naming: serviceNaming('service') });
console.log(renderDiagnostics(r.diagnostics, { color: false }));
for (const d of r.diagnostics) if (d.fix) console.log(d.code, d.fix);
if (r.document) console.log(JSON.stringify(r.document.phases, null, 1).slice(0, 3000));
