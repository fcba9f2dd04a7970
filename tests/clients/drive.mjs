// Drives hydrant's MCP server with the official TypeScript SDKs.
//
//   node drive.mjs v1|v2-legacy|v2-auto AUDIT WORKSPACE stdio COMMAND ARGUMENT…
//   node drive.mjs v1|v2-legacy|v2-auto AUDIT - http URL TOKEN
//
// AUDIT is the record of the calls; WORKSPACE is the directory that the client declares as its root, with a file note.txt,
// or `-`. The packages are those of the folder that NODE_PACKAGES names. Called by drive.py.

import { existsSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const [version, audit, workspace, transport, ...target] = process.argv.slice(2);
const packages = pathToFileURL(`${process.env.NODE_PACKAGES}/node_modules/@modelcontextprotocol/`);
const load = (file) => import(new URL(file, packages));

const AGENT = 'os://agents/release-captain.md';
const LONG = { op: 'filter', path: 'reduce range(1000000000000) as $i (0; . + 1)', 'null-input': true, 'input-b64': '' };
const STOPPED = 20_000;

function check(holds, what) {
  if (!holds) throw new Error(what);
}

async function until(holds, what, patience) {
  const end = Date.now() + patience;
  while (!holds()) {
    check(Date.now() < end, what);
    await new Promise((done) => setTimeout(done, 20));
  }
}

const records = () => (existsSync(audit) ? readFileSync(audit, 'utf8').split('\n').length : 0);

// The two SDKs behind one face: a client that is not connected yet, its transport, and how it calls a tool.
async function sdk() {
  const name = { name: 'drive', version: '1' };
  const capabilities = workspace === '-' ? {} : { roots: {} };
  const roots = () => ({ roots: [{ uri: pathToFileURL(workspace).href }] });
  const options = { requestInit: { headers: { Authorization: `Bearer ${target[1]}` } } };
  const parameters = { command: target[0], args: target.slice(1), env: process.env, stderr: 'inherit' };
  if (version === 'v1') {
    const { Client } = await load('sdk/dist/esm/client/index.js');
    const { ListRootsRequestSchema } = await load('sdk/dist/esm/types.js');
    const { StdioClientTransport } = await load('sdk/dist/esm/client/stdio.js');
    const { StreamableHTTPClientTransport } = await load('sdk/dist/esm/client/streamableHttp.js');
    const client = new Client(name, { capabilities });
    if (workspace !== '-') client.setRequestHandler(ListRootsRequestSchema, roots);
    return {
      client,
      call: (name, args, options) => client.callTool({ name, arguments: args }, undefined, options),
      wire: transport === 'stdio' ? new StdioClientTransport(parameters) : new StreamableHTTPClientTransport(new URL(target[0]), options),
    };
  }
  const { Client, StreamableHTTPClientTransport } = await load('client/dist/index.mjs');
  const { StdioClientTransport } = await load('client/dist/stdio.mjs');
  const client = new Client(name, { capabilities, versionNegotiation: { mode: version.split('-')[1] } });
  if (workspace !== '-') client.setRequestHandler('roots/list', roots);
  return {
    client,
    call: (name, args, options) => client.callTool({ name, arguments: args }, options),
    wire: transport === 'stdio' ? new StdioClientTransport(parameters) : new StreamableHTTPClientTransport(new URL(target[0]), options),
  };
}

// Every member of a tool's arguments has one type that is named, as clients for other models want it.
function plain(schema, where) {
  check(typeof schema.type === 'string', `${where}: ${JSON.stringify(schema)}`);
  for (const [name, member] of Object.entries(schema.properties ?? {})) plain(member, `${where}.${name}`);
  if (schema.items) plain(schema.items, `${where}[]`);
}

const text = (result) => result.content[0].text;

const { client, call, wire } = await sdk();
await client.connect(wire);
try {
  const { tools } = await client.listTools();
  check(tools.length >= 15, `tools: ${tools.length}`);
  for (const tool of tools) {
    check(tool.description && tool.description !== tool.title, `${tool.name}: ${tool.description}`);
    plain(tool.inputSchema, tool.name);
  }
  const named = tools.find((tool) => tool.name === 'fs_read_text');
  check(named.inputSchema.properties.path && named.outputSchema.properties.text, JSON.stringify(named));

  // The SDK checks structured answers against the schema that was listed, and has no use for an error that does not fit it.
  const read = await call('fs_read_text', { path: '/os/skills/plain-prose.md', max_bytes: null });
  check(!read.isError && read.structuredContent.text.includes('Plain Prose'), JSON.stringify(read));
  const refused = await call('fs_read_text', { path: '/os/no-such-file.md' });
  check(refused.isError && text(refused).startsWith('not_found: '), JSON.stringify(refused));
  const denied = await call('http_fetch_text', { url: 'https://example.org/' });
  check(denied.isError && text(denied).startsWith('denied: '), JSON.stringify(denied));
  const wrong = await call('hydrate', { uri: AGENT, depth: 99 });
  check(wrong.isError && text(wrong).startsWith('invalid-request: '), JSON.stringify(wrong));
  const hydrated = await call('hydrate', { uri: AGENT, depth: null });
  check(hydrated.structuredContent.metadata.dependencies.skills.length >= 10, JSON.stringify(hydrated));
  const missing = await call('no_such_tool', {}).then(() => 'an answer', (error) => error.code);
  check(missing === -32602, `no_such_tool: ${missing}`);
  if (workspace !== '-') {
    const note = await call('fs_read_text', { path: 'note.txt' });
    check(note.structuredContent?.text === 'hello\n', `the root of the client: ${JSON.stringify(note)}`);
  }

  const { resources } = await client.listResources();
  check(resources.some((resource) => resource.uri === AGENT), 'resources');
  const { contents } = await client.readResource({ uri: AGENT });
  check(contents[0].text.includes('Announces a release'), 'read');
  const prompt = await client.getPrompt({ name: 'debugging', arguments: { task: 'the parser crashes on tabs' } });
  check(prompt.messages[0].content.text.includes('crashes on tabs'), 'prompt');

  await call('data_filter', { ...LONG, path: '1' });
  const before = records();
  const cancel = new AbortController();
  let progress = 0;
  const long = call('data_filter', LONG, { signal: cancel.signal, timeout: 120_000, onprogress: () => (progress += 1) });
  const ended = long.then((result) => `an answer: ${JSON.stringify(result)}`, () => 'cancelled');
  await until(() => progress >= 2, 'no progress', 120_000);
  check(records() === before, 'the long call ended by itself');
  cancel.abort();
  check((await ended) === 'cancelled', await ended);
  await until(() => records() > before, 'the cancelled component goes on', STOPPED);
  const again = await call('fs_read_text', { path: '/os/skills/plain-prose.md' });
  check(!again.isError, `after a cancelled call: ${JSON.stringify(again)}`);
} finally {
  await client.close();
}
