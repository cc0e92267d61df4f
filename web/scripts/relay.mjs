// Compiles what the page asks with Relay's own compiler: schema.graphql is one that Relay's clients take. Relay wants each
// name to begin with its module's, so all of it becomes one module, whose names are made to.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { concatAST, parse, print, visit } from 'graphql';
import compiler from 'relay-compiler';

const web = new URL('..', import.meta.url).pathname;
const operations = join(web, 'src/graphql');
const names = readdirSync(operations).filter((name) => name.endsWith('.graphql'));
const documents = concatAST(names.map((name) => parse(readFileSync(join(operations, name), 'utf8'))));
const called = (node, value) => ({ ...node, name: { ...node.name, value } });
const ending = { query: 'Query', mutation: 'Mutation', subscription: 'Subscription' };
const renamed = visit(documents, {
  OperationDefinition: (node) => called(node, `Page${node.name.value}${ending[node.operation]}`),
  FragmentDefinition: (node) => called(node, `Page_${node.name.value}`),
  FragmentSpread: (node) => called(node, `Page_${node.name.value}`),
});

const folder = mkdtempSync(join(tmpdir(), 'writewatch-relay.'));
try {
  mkdirSync(join(folder, 'src'));
  cpSync(join(web, '../schema.graphql'), join(folder, 'schema.graphql'));
  const tagged = renamed.definitions.map((definition) => `graphql\`${print(definition)}\`;\n`);
  writeFileSync(join(folder, 'src/Page.js'), tagged.join('\n'));
  // A spread inside a type condition is what Relay would rather see under an alias; that is a matter of its own clients.
  const featureFlags = { enforce_fragment_alias_where_ambiguous: { kind: 'disabled' } };
  const config = { src: './src', schema: './schema.graphql', language: 'javascript', featureFlags };
  writeFileSync(join(folder, 'relay.config.json'), JSON.stringify(config));
  const { status, stdout, stderr } = spawnSync(compiler, ['relay.config.json'], { cwd: folder, encoding: 'utf8' });
  const made = readdirSync(join(folder, 'src'), { recursive: true }).filter((name) => name.endsWith('.graphql.js'));
  if (status !== 0 || made.length !== renamed.definitions.length) {
    process.stderr.write(`relay-compiler made ${made.length} of ${renamed.definitions.length} artifacts:\n${stdout}${stderr}\n`);
    process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true });
}
